# SPDX-License-Identifier: BSD-3-Clause
"""``profile.json``: how long the ranks of a program were in collectives, as a preload has seen it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.place import MpiLibrary, Place, read_places
from isochrone.files.schema import check, make_again
from isochrone.files.text import Json, read_object, write_object

UNTIMED = ("nonblocking", "persistent", "neighbours", "between_groups")
_MOST_MEMBERS = 1 << 26
"""Of all groups together: a few runs of a file may stand for any number of ranks."""


@dataclass(frozen=True)
class Timed:
    """Calls of one collective on one group, from one root, of sizes between two powers of two.

    Attributes:
        group: its index among the groups of the profile.
        root: by its rank in the group; 0 where there is none.
        bytes: of all calls together, of a message or a block; 0 where ranks know no size alike.
        seconds: in the calls, of all ranks together; ``slowest_s`` of the rank with most.
        sampled: calls of which it is known when each rank came and left; ``sampled_s`` is the time in these,
            of all ranks together, and ``waiting_s`` what of that was before the last rank had come.
        operation_s, operation_median_s: from when the last rank came until the last left.
    """

    collective: str
    group: int
    root: int
    calls: int
    bytes: int
    seconds: float
    slowest_s: float
    sampled: int
    sampled_s: float
    waiting_s: float
    operation_s: float
    operation_median_s: float


@dataclass(frozen=True)
class Profile:
    """A run of a program.

    Attributes:
        places: of the ranks.
        sync_error_s: how far the clocks of two ranks may be apart.
        rank_s: of each rank, from the start of MPI to its end; ``collectives_s`` what of that was in blocking
            collectives, and ``waiting_s`` what of that was before the last rank had come.
        groups: ranks of communicators, in their order.
        rows: the calls.
        untimed: calls that are counted only, by their kind.
    """

    mpi: MpiLibrary
    places: tuple[Place, ...]
    sync_error_s: float
    rank_s: tuple[float, ...]
    collectives_s: tuple[float, ...]
    waiting_s: tuple[float, ...]
    groups: tuple[tuple[int, ...], ...]
    rows: tuple[Timed, ...]
    untimed: dict[str, int] = field(default_factory=dict)
    provenance: Json = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.places)


def read_profile(path: Path | str) -> Profile:
    """Reads ``profile.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    path = Path(path)
    return _from_document(read_object(path, make_again("profile")), str(path))


def write_profile(path: Path | str, profile: Profile) -> None:
    """Writes ``profile.json``. Raises IsochroneError for a profile that could not be read again."""
    document = profile_document(profile)
    _from_document(document, str(path))
    write_object(Path(path), document)


def profile_document(profile: Profile) -> Json:
    """The profile as JSON."""
    return {
        "isochrone": "profile",
        "schema_version": 1,
        "ranks": profile.ranks,
        "mpi": profile.mpi.document(),
        "places": [place.document() for place in profile.places],
        "sync_error_s": profile.sync_error_s,
        "rank_s": list(profile.rank_s),
        "collectives_s": list(profile.collectives_s),
        "waiting_s": list(profile.waiting_s),
        "groups": [[[rank, 1, 1] for rank in group] for group in profile.groups],
        "rows": [dict(vars(row)) for row in profile.rows],
        "untimed": dict(profile.untimed),
        "provenance": profile.provenance,
    }


def _from_document(document: Json, where: str) -> Profile:
    check(document, "profile", where)
    ranks = int(document["ranks"])
    for name in ("places", "rank_s", "collectives_s", "waiting_s"):
        if len(document[name]) != ranks:
            raise _damaged(f"{name} has {len(document[name])} entries for {ranks} ranks", where)
    members = sum(count for group in document["groups"] for _, count, _ in group)
    if members > _MOST_MEMBERS or any(count < 1 for group in document["groups"] for _, count, _ in group):
        raise _damaged("the groups have too many ranks, or none", where)
    groups = tuple(
        tuple(first + at * step for first, count, step in runs for at in range(count))
        for runs in document["groups"]
    )
    for number, group in enumerate(groups):
        if len(set(group)) != len(group) or not all(0 <= rank < ranks for rank in group):
            raise _damaged(f"groups[{number}] has a rank twice, or one that is none of {ranks}", where)
    rows = tuple(Timed(**row) for row in document["rows"])
    for number, row in enumerate(rows):
        if row.group >= len(groups) or row.root >= len(groups[row.group]):
            raise _damaged(f"rows[{number}] is of a group or root that there is not", where)
        if row.calls < max(1, row.sampled):
            raise _damaged(f"rows[{number}] has no calls, or more that are sampled", where)
    return Profile(
        mpi=MpiLibrary(**document["mpi"]),
        places=read_places(document["places"], where),
        sync_error_s=document["sync_error_s"],
        rank_s=tuple(document["rank_s"]),
        collectives_s=tuple(document["collectives_s"]),
        waiting_s=tuple(document["waiting_s"]),
        groups=groups,
        rows=rows,
        untimed=document["untimed"],
        provenance=document["provenance"],
    )


def _damaged(what: str, where: str) -> IsochroneError:
    return IsochroneError(what, where, make_again("profile"))
