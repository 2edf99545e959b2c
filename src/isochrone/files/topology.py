# SPDX-License-Identifier: BSD-3-Clause
"""``topology.json``: the tree of places, its named levels, and the links of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.files.fields import Count, Fingerprint, LevelName, Positive, Provenance, Seconds
from isochrone.files.form import Decoder, Form, written
from isochrone.files.place import Place, check_places, distinct_places
from isochrone.files.schema import SCHEMA_VERSION, make_again
from isochrone.files.text import Json
from isochrone.units import format_bytes

Floats = NDArray[np.float64]
Points = Annotated[
    tuple[tuple[Count, Seconds], ...], Meta(description="Points [bytes, seconds], by rising bytes.")
]
Groups = tuple[tuple[int, ...], ...]

_Share = Annotated[float, Meta(ge=0, le=1)]
_Ratio = Annotated[float, Meta(ge=0)]
_Positive = Annotated[int, Meta(ge=1, le=1 << 24)]
_Number = Annotated[int, Meta(ge=0, le=1 << 24)]


class Links(Form, frozen=True):
    """PLogP parameters of the pairs that meet at one level.

    Attributes:
        latency_s: half of RTT(0), the median over the pairs.
        send_overhead_s, receive_overhead_s, gap_s: points (bytes, seconds) by rising bytes; the gap is what
            a message takes beyond the latency, and of the latency the receiver is busy for its overhead.
        capacity_bytes_per_s: of one group's way out of this level; None where it is not measured.
        pairs: that were measured; None where that is not known.
        spread: how far their latencies scatter, as a ratio of them: half the width of the middle 68 %.
    """

    latency_s: Seconds
    send_overhead_s: Points
    receive_overhead_s: Points
    gap_s: Annotated[Points, Meta(min_length=1)]
    capacity_bytes_per_s: Annotated[
        Annotated[float, Meta(ge=1e-3, le=1e18)] | None,
        Meta(description="Of one group's way out of this level; null: not measured."),
    ] = written(None)
    pairs: Annotated[
        Positive | None,
        Meta(description="Number of pairs that were measured; null: not known."),
    ] = written(None)
    spread: Annotated[
        Annotated[float, Meta(ge=0, le=1000)] | None,
        Meta(description="Half the width of the middle 68 % of these pairs' latencies, as a ratio of them."),
    ] = written(None)

    @property
    def for_core(self) -> tuple[float, Points, Points, Points, float | None]:
        """As ``_core.layout`` takes them."""
        return (
            self.latency_s,
            self.send_overhead_s,
            self.receive_overhead_s,
            self.gap_s,
            self.capacity_bytes_per_s,
        )

    @property
    def last_slope_s_per_byte(self) -> float:
        """Of the gap beyond the largest size that was measured; 0 where there is one size only."""
        if len(self.gap_s) < 2:
            return 0.0
        (size, gap), (last_size, last_gap) = self.gap_s[-2:]
        return max(0.0, (last_gap - gap) / (last_size - size))

    def gap_at_s(self, sizes_bytes: Floats) -> Floats:
        """The gap of messages of any sizes: on the lines through the points, and beyond the last on the last
        line.
        """
        sizes, gaps = np.array(self.gap_s, dtype=np.float64).reshape(-1, 2).T
        beyond = np.maximum(0.0, sizes_bytes - sizes[-1])
        found: Floats = np.interp(sizes_bytes, sizes, gaps) + self.last_slope_s_per_byte * beyond
        return found


class Level(Form, frozen=True):
    """A partition of the places into groups.

    Attributes:
        name: one of the names in DESIGN.md, or ``group-N``.
        groups: numbers of the places of each group.
        confidence: 0 to 1; None where it is not known.
        links: of the pairs that meet here; None where none does.
    """

    name: LevelName
    groups: Annotated[tuple[Annotated[tuple[Count, ...], Meta(min_length=1)], ...], Meta(min_length=1)]
    confidence: _Share | None
    links: Annotated[
        Links | None, Meta(description="Of pairs that meet at this level; null where none does.")
    ]

    def group_of(self) -> dict[int, int]:
        """Number of the group of each place."""
        return {place: number for number, places in enumerate(self.groups) for place in places}

    def figures(self) -> Json:
        """What commands say of it as JSON."""
        links = ("latency_s", "capacity_bytes_per_s", "pairs", "spread")
        return {
            "name": self.name,
            "clusters": len(self.groups),
            "confidence": self.confidence,
            **{name: getattr(self.links, name) if self.links else None for name in links},
        }


class KnownGroups(Form, frozen=True):
    """Groups that are known from elsewhere than the measurements: a later detection in the same folder knows
    them too.

    Attributes:
        name: of the level that they would be.
        source: ``truth`` or ``fabric``.
        labels: number of the group of each surveyed rank.
    """

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    source: Annotated[str, Meta(pattern="^(truth|fabric)$")]
    labels: tuple[_Number, ...]


class Reason(Form, frozen=True):
    """What a partition that was looked at rests on, whether it is a level or none.

    Attributes:
        level: its name; None where it is none.
        groups: how many it has.
        least, most: how many ranks the smallest and the largest of them have.
        ranks, nearer: how many ranks are in groups that it sets apart, and how many of these are nearer to
            their own group than to the next, by what is needed.
        margin, needed: ratios of distances: by how much nearly every rank is nearer, and by how much it would
            have to be.
        confidence: the probability that they are nearer.
        why_not: in words, where there was nothing to compare; else empty.
        size_bytes: of the messages that it rests on, if they are not the smallest.
    """

    level: Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="Null where it is none.")]
    groups: _Positive
    least: _Positive
    most: _Positive
    ranks: _Number
    nearer: _Number
    margin: _Ratio
    needed: _Ratio
    confidence: _Share
    why_not: Annotated[str, Meta(max_length=256)] = written("")
    size_bytes: Annotated[
        Positive | None,
        Meta(description="Of the messages that it rests on; null: the smallest."),
    ] = written(None)

    @property
    def what(self) -> str:
        """The partition in words."""
        sizes = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.groups} groups of {sizes}"

    @property
    def why(self) -> str:
        """What it rests on, or why it is no level."""
        if self.why_not:
            return self.why_not
        enough = "" if self.level is not None else "not enough: "
        of_size = "" if self.size_bytes is None else f"by messages of {format_bytes(self.size_bytes)}, "
        return (
            f"{enough}{of_size}{self.nearer} of {self.ranks} are nearer to their own group, nine in ten by "
            f"{self.margin:.2f}× or more; {self.needed:.2f}× is needed"
        )


class Topology(Form, frozen=True, dict=True):
    """The tree of places.

    Attributes:
        places: distinct; their index is the place's number.
        ranks: place of each surveyed rank.
        levels: outermost first; the first is one group of all places, each of the others refines the one
            before.
        accuracy: for each known partition the ratio of ranks that are in the right group.
        agreement: what host names, hardware and the fabric say about the levels.
        source: what the topology was found from.
        numbers: of the surveyed ranks in the job that was probed, where some were in no pair; else empty.
        known: groups that neither the measurements nor the places tell.
        reasons: what the levels rest on, and why other partitions are none, outermost first; empty where
            nothing of this was compared.
    """

    places: Annotated[
        tuple[Place, ...], Meta(min_length=1, description="Distinct; their index is the place's number.")
    ]
    ranks: Annotated[tuple[Count, ...], Meta(min_length=1, description="Place of each surveyed rank.")]
    levels: Annotated[
        tuple[Level, ...],
        Meta(
            min_length=1,
            max_length=64,
            description="Outermost first; the first is one group of all places.",
        ),
    ]
    accuracy: Annotated[
        dict[str, _Share], Meta(description="Per known partition: ratio of ranks in the right group.")
    ] = written(dict)
    agreement: Annotated[
        dict[str, Any], Meta(description="What host names, hardware and the fabric say about the levels.")
    ] = written(dict)
    source: Annotated[dict[str, Any], Meta(description="What the topology was found from.")] = written(dict)
    provenance: Provenance = written(dict)
    numbers: Annotated[
        tuple[Count, ...],
        Meta(
            min_length=1,
            description="Of the surveyed ranks in the job that was probed, where some of it were in no pair.",
        ),
    ] = ()
    known: Annotated[
        tuple[KnownGroups, ...],
        Meta(max_length=64, description="Groups that neither the measurements nor the places tell."),
    ] = ()
    reasons: Annotated[
        tuple[Reason, ...],
        Meta(
            max_length=64,
            description="What the levels rest on, and why other partitions are none, outermost first.",
        ),
    ] = ()

    @property
    def job_ranks(self) -> tuple[int, ...]:
        """The number of each surveyed rank in the job that was probed."""
        return self.numbers or tuple(range(len(self.ranks)))

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the tree: SHA-256 of the canonical JSON of places, and of groups of the levels.

        Link parameters are left out: the same machine measured anew is the same topology. So are names: a
        plan says by itself which level it calls what.
        """
        tree = {
            "levels": [level.groups for level in self.levels],
            "places": [place.document() for place in self.places],
        }
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def check_measured(self, ranks: int, where: str) -> None:
        """Raises IsochroneError unless it is of as many ranks as were measured."""
        if len(self.ranks) != ranks:
            raise IsochroneError(
                f"{len(self.ranks)} ranks, but {ranks} were measured",
                where,
                "detect it again from these measurements",
            )

    def check_whole(self, where: str | None = None) -> None:
        """Raises IsochroneError if ranks of the job that was probed are left out; `where` is the file."""
        if self.numbers:
            raise IsochroneError(
                "some ranks of the job were in no pair, and are not in the topology",
                where,
                "probe in another mode than fast, and not only some pairs",
            )

    def labels(self, level: Level) -> tuple[int, ...]:
        """Number of the group of each rank at a level."""
        group_of = level.group_of()
        return tuple(group_of[place] for place in self.ranks)

    def members(self, level: Level) -> list[list[int]]:
        """The ranks of each group of a level, by their numbers in the job that was probed."""
        found: list[list[int]] = [[] for _ in level.groups]
        for rank, group in zip(self.job_ranks, self.labels(level), strict=True):
            found[group].append(rank)
        return found


class TopologyFile(Topology, frozen=True, kw_only=True, tag_field="isochrone", tag="topology"):
    """The whole file."""

    schema_version: Literal[1] = written(SCHEMA_VERSION)
    said: Annotated[
        Fingerprint, Meta(description="SHA-256 of the groups of the levels, and of the places.")
    ] = msgspec.field(name="fingerprint")

    def document(self) -> Json:
        """As JSON: first what tells the file."""
        document = Topology.document(self)
        return {name: document[name] for name in ("isochrone", "schema_version", "fingerprint")} | document


def read_topology(path: Path | str) -> Topology:
    """Reads ``topology.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    impossible.
    """
    file = FILE.file(Path(path))
    topology = Topology(*(getattr(file, name) for name in Topology.__struct_fields__))
    if file.said != topology.fingerprint:
        raise IsochroneError(
            "the fingerprint does not fit the places and levels: the file was changed",
            str(path),
            make_again("topology"),
        )
    return topology


def write_topology(path: Path | str, topology: Topology) -> None:
    """Writes ``topology.json``. Raises IsochroneError for a topology that could not be read again."""
    FILE.write(Path(path), _file_of(topology))


def topology_document(topology: Topology) -> Json:
    """The topology as JSON."""
    return _file_of(topology).document()


def _file_of(topology: Topology) -> TopologyFile:
    fields = {name: getattr(topology, name) for name in Topology.__struct_fields__}
    return TopologyFile(**fields, said=topology.fingerprint)


def _check(topology: Topology, where: str) -> None:
    todo = make_again("topology")
    places, ranks, numbers = topology.places, topology.ranks, topology.numbers
    check_places(places, where)
    if len(distinct_places(places)[0]) != len(places):
        raise IsochroneError("a place occurs twice", where, todo)
    if max(ranks) >= len(places):
        raise IsochroneError(f"place {max(ranks)} of a rank is none of the {len(places)}", where, todo)
    for index, level in enumerate(topology.levels):
        if level.links is not None:
            _check_links(level.links, f"{where}: levels[{index}]")
    _check_tree(topology.levels, len(places), where)
    if numbers and (len(numbers) != len(ranks) or list(numbers) != sorted(set(numbers))):
        raise IsochroneError("the numbers are not one for each rank, rising", where, todo)
    for groups in topology.known:
        if len(groups.labels) != len(ranks):
            what = f"the known groups of {groups.name} are not of the {len(ranks)} ranks"
            raise IsochroneError(what, where, todo)


FILE = Decoder("topology", TopologyFile, check=_check)


def _check_tree(levels: Sequence[Level], places: int, where: str) -> None:
    todo = make_again("topology")
    if len({level.name for level in levels}) != len(levels):
        raise IsochroneError("two levels have one name", where, todo)
    for level in levels:
        if sorted(place for group in level.groups for place in group) != list(range(places)):
            raise IsochroneError(f"level {level.name} is no partition of the {places} places", where, todo)
    if len(levels[0].groups) != 1:
        raise IsochroneError(f"the outermost level, {levels[0].name}, is not one group", where, todo)
    for outer, inner in pairwise(levels):
        outer_of = {place: g for g, group in enumerate(outer.groups) for place in group}
        if any(len({outer_of[place] for place in group}) != 1 for group in inner.groups):
            raise IsochroneError(f"level {inner.name} does not refine level {outer.name}", where, todo)


def _check_links(links: Links, where: str) -> None:
    for name in ("send_overhead_s", "receive_overhead_s", "gap_s"):
        if any(low >= high for (low, _), (high, _) in pairwise(getattr(links, name))):
            raise IsochroneError(f"{name}: points must rise in bytes", where, make_again("topology"))
