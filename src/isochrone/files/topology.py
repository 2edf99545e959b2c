# SPDX-License-Identifier: BSD-3-Clause
"""``topology.json``: the tree of places, its named levels, and the links of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.files.place import Place, distinct_places, read_places
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object
from isochrone.units import format_bytes

Floats = NDArray[np.float64]
Points = tuple[tuple[int, float], ...]
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Links:
    """PLogP parameters of the pairs that meet at one level.

    Attributes:
        latency_s: half of RTT(0), the median over the pairs.
        send_overhead_s, receive_overhead_s, gap_s: points (bytes, seconds) by rising bytes; the gap is what
            a message takes beyond the latency, and of the latency the receiver is busy for its overhead.
        capacity_bytes_per_s: of one group's way out of this level; None where it is not measured.
        pairs: that were measured; None where that is not known.
        spread: how far their latencies scatter, as a ratio of them: half the width of the middle 68 %.
    """

    latency_s: float
    send_overhead_s: Points
    receive_overhead_s: Points
    gap_s: Points
    capacity_bytes_per_s: float | None = None
    pairs: int | None = None
    spread: float | None = None

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


@dataclass(frozen=True)
class Level:
    """A partition of the places into groups.

    Attributes:
        name: one of the names in DESIGN.md, or ``group-N``.
        groups: numbers of the places of each group.
        confidence: 0 to 1; None where it is not known.
        links: of the pairs that meet here; None where none does.
    """

    name: str
    groups: Groups
    confidence: float | None
    links: Links | None


@dataclass(frozen=True)
class KnownGroups:
    """Groups that are known from elsewhere than the measurements: a later detection in the same folder knows
    them too.

    Attributes:
        name: of the level that they would be.
        source: ``truth`` or ``fabric``.
        labels: number of the group of each surveyed rank.
    """

    name: str
    source: str
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Reason:
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

    level: str | None
    groups: int
    least: int
    most: int
    ranks: int
    nearer: int
    margin: float
    needed: float
    confidence: float
    why_not: str = ""
    size_bytes: int | None = None

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


@dataclass(frozen=True)
class Topology:
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

    places: tuple[Place, ...]
    ranks: tuple[int, ...]
    levels: tuple[Level, ...]
    accuracy: dict[str, float] = field(default_factory=dict)
    agreement: Json = field(default_factory=dict)
    source: Json = field(default_factory=dict)
    provenance: Json = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    known: tuple[KnownGroups, ...] = ()
    reasons: tuple[Reason, ...] = ()

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
        group_of = {place: g for g, group in enumerate(level.groups) for place in group}
        return tuple(group_of[place] for place in self.ranks)

    def members(self, level: Level) -> list[list[int]]:
        """The ranks of each group of a level, by their numbers in the job that was probed."""
        found: list[list[int]] = [[] for _ in level.groups]
        for rank, group in zip(self.job_ranks, self.labels(level), strict=True):
            found[group].append(rank)
        return found


def read_topology(path: Path | str) -> Topology:
    """Reads ``topology.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    impossible.
    """
    path = Path(path)
    document = read_object(path, make_again("topology"))
    topology = topology_from_document(document, str(path))
    if document["fingerprint"] != topology.fingerprint:
        raise IsochroneError(
            "the fingerprint does not fit the places and levels: the file was changed",
            str(path),
            make_again("topology"),
        )
    return topology


def write_topology(path: Path | str, topology: Topology) -> None:
    """Writes ``topology.json``. Raises IsochroneError for a topology that could not be read again."""
    document = topology_document(topology)
    topology_from_document(document, str(path))
    write_object(Path(path), document)


def topology_document(topology: Topology) -> Json:
    """The topology as JSON."""
    return {
        "isochrone": "topology",
        "schema_version": SCHEMA_VERSION,
        "fingerprint": topology.fingerprint,
        "places": [place.document() for place in topology.places],
        "ranks": list(topology.ranks),
        **({"numbers": list(topology.numbers)} if topology.numbers else {}),
        **({"known": [_known_document(groups) for groups in topology.known]} if topology.known else {}),
        "levels": [_level_document(level) for level in topology.levels],
        **({"reasons": [asdict(reason) for reason in topology.reasons]} if topology.reasons else {}),
        "accuracy": topology.accuracy,
        "agreement": topology.agreement,
        "source": topology.source,
        "provenance": topology.provenance,
    }


def topology_from_document(document: Json, where: str) -> Topology:
    """The topology of a JSON document, checked but for the fingerprint."""
    check(document, "topology", where)
    places = read_places(document["places"], where)
    if len(distinct_places(places)[0]) != len(places):
        raise IsochroneError("a place occurs twice", where, make_again("topology"))
    ranks = tuple(int(rank) for rank in document["ranks"])
    if max(ranks) >= len(places):
        raise IsochroneError(
            f"place {max(ranks)} of a rank is none of the {len(places)}", where, make_again("topology")
        )
    levels = tuple(_read_level(level, f"{where}: levels[{i}]") for i, level in enumerate(document["levels"]))
    _check_tree(levels, len(places), where)
    numbers = tuple(document.get("numbers", ()))
    if numbers and (len(numbers) != len(ranks) or list(numbers) != sorted(set(numbers))):
        raise IsochroneError("the numbers are not one for each rank, rising", where, make_again("topology"))
    known = tuple(
        KnownGroups(groups["name"], groups["source"], tuple(groups["labels"]))
        for groups in document.get("known", ())
    )
    for groups in known:
        if len(groups.labels) != len(ranks):
            raise IsochroneError(
                f"the known groups of {groups.name} are not of the {len(ranks)} ranks",
                where,
                make_again("topology"),
            )
    return Topology(
        places=places,
        ranks=ranks,
        levels=levels,
        accuracy=document["accuracy"],
        agreement=document["agreement"],
        source=document["source"],
        provenance=document["provenance"],
        numbers=numbers,
        known=known,
        reasons=tuple(Reason(**reason) for reason in document.get("reasons", ())),
    )


def _known_document(groups: KnownGroups) -> Json:
    return {"name": groups.name, "source": groups.source, "labels": list(groups.labels)}


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


def _level_document(level: Level) -> Json:
    links = level.links
    return {
        "name": level.name,
        "groups": [list(group) for group in level.groups],
        "confidence": level.confidence,
        "links": None
        if links is None
        else {
            "latency_s": links.latency_s,
            "send_overhead_s": [list(point) for point in links.send_overhead_s],
            "receive_overhead_s": [list(point) for point in links.receive_overhead_s],
            "gap_s": [list(point) for point in links.gap_s],
            "capacity_bytes_per_s": links.capacity_bytes_per_s,
            "pairs": links.pairs,
            "spread": links.spread,
        },
    }


def _read_level(document: Json, where: str) -> Level:
    links = document["links"]
    return Level(
        name=document["name"],
        groups=tuple(tuple(int(place) for place in group) for group in document["groups"]),
        confidence=document["confidence"],
        links=None if links is None else _read_links(links, where),
    )


def _read_links(document: Json, where: str) -> Links:
    curves: dict[str, Points] = {}
    for name in ("send_overhead_s", "receive_overhead_s", "gap_s"):
        curves[name] = tuple((int(size), float(value)) for size, value in document[name])
        if any(low >= high for (low, _), (high, _) in pairwise(curves[name])):
            raise IsochroneError(f"{name}: points must rise in bytes", where, make_again("topology"))
    return Links(
        latency_s=float(document["latency_s"]),
        send_overhead_s=curves["send_overhead_s"],
        receive_overhead_s=curves["receive_overhead_s"],
        gap_s=curves["gap_s"],
        capacity_bytes_per_s=document["capacity_bytes_per_s"],
        pairs=document.get("pairs"),
        spread=document.get("spread"),
    )
