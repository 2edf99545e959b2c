# SPDX-License-Identifier: BSD-3-Clause
"""``profile.json``: how long the ranks of a program were in collectives, as a preload has seen it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta, structs

from isochrone.errors import IsochroneError
from isochrone.files.fields import MOST_MESSAGE_BYTES, Count, Groups, Provenance, RankCount, check_groups
from isochrone.files.form import Decoder, Form, Head
from isochrone.files.place import MpiLibrary, Place, check_places
from isochrone.files.schema import make_again
from isochrone.files.text import Json, write_object

_Long = Annotated[float, Meta(ge=0, le=1e15)]


class Timed(Form, frozen=True):
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

    collective: Annotated[str, Meta(min_length=1, max_length=64)]
    group: Count
    root: Annotated[Count, Meta(description="0 where there is none.")]
    calls: Count
    bytes: Annotated[
        Count,
        Meta(
            description="Of all calls together, of a message or of a block; 0 where ranks know no size alike."
        ),
    ]
    seconds: Annotated[_Long, Meta(description="Of all ranks together.")]
    slowest_s: Annotated[_Long, Meta(description="Of the rank with most.")]
    sampled: Annotated[Count, Meta(description="Calls of which it is known when each rank came and left.")]
    sampled_s: Annotated[_Long, Meta(description="In these, of all ranks together.")]
    waiting_s: Annotated[_Long, Meta(description="Of that, before the last rank had come.")]
    operation_s: Annotated[
        _Long, Meta(description="From when the last rank came until the last left: the mean.")
    ]
    operation_median_s: _Long


class Untimed(Form, frozen=True):
    """Calls that are only counted, on the rank with most."""

    nonblocking: Count
    persistent: Count
    neighbours: Count
    between_groups: Count


class ProfileFile(Head, frozen=True, kw_only=True, tag="profile"):
    """The whole file."""

    ranks: RankCount
    mpi: MpiLibrary
    places: Annotated[tuple[Place, ...], Meta(min_length=1, description="Of each rank.")]
    sync_error_s: Annotated[_Long, Meta(description="How far clocks of two ranks may be apart.")]
    rank_s: Annotated[
        tuple[_Long, ...],
        Meta(min_length=1, description="Of each rank, from the start of MPI to its end."),
    ]
    collectives_s: Annotated[
        tuple[_Long, ...], Meta(min_length=1, description="Of that, in blocking collectives.")
    ]
    waiting_s: Annotated[
        tuple[_Long, ...],
        Meta(min_length=1, description="Of that, before the last rank had come, as in the sampled calls."),
    ]
    groups: Annotated[
        Groups,
        Meta(description="Ranks in the order of each communicator, as runs [first, count, step]."),
    ]
    rows: tuple[Timed, ...]
    untimed: Untimed
    provenance: Provenance


FILE = Decoder("profile", ProfileFile)


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
    return _profile(FILE.file(path), str(path))


def write_profile(path: Path | str, profile: Profile) -> None:
    """Writes ``profile.json``. Raises IsochroneError for a profile that could not be read again."""
    path = Path(path)
    document = profile_document(profile)
    _profile(FILE.form(document, str(path)), str(path))
    write_object(path, document)


def profile_document(profile: Profile) -> Json:
    """The profile as JSON."""
    return ProfileFile(
        ranks=profile.ranks,
        mpi=profile.mpi,
        places=profile.places,
        sync_error_s=profile.sync_error_s,
        rank_s=profile.rank_s,
        collectives_s=profile.collectives_s,
        waiting_s=profile.waiting_s,
        groups=tuple(tuple((rank, 1, 1) for rank in group) for group in profile.groups),
        rows=profile.rows,
        untimed=Untimed(**profile.untimed),
        provenance=profile.provenance,
    ).document()


def _profile(file: ProfileFile, where: str) -> Profile:
    ranks = file.ranks
    for name in ("places", "rank_s", "collectives_s", "waiting_s"):
        if len(getattr(file, name)) != ranks:
            raise _damaged(f"{name} has {len(getattr(file, name))} entries for {ranks} ranks", where)
    check_places(file.places, where)
    check_groups(file.groups, ranks, where, make_again("profile"))
    groups = tuple(
        tuple(first + at * step for first, count, step in runs for at in range(count)) for runs in file.groups
    )
    for number, group in enumerate(groups):
        if len(set(group)) != len(group):
            raise _damaged(f"groups[{number}] has a rank twice", where)
    for number, row in enumerate(file.rows):
        if row.group >= len(groups) or row.root >= len(groups[row.group]):
            raise _damaged(f"rows[{number}] is of a group or root that there is not", where)
        if len(groups[row.group]) < 2:
            raise _damaged(f"rows[{number}] is of a group of one rank, which has nobody to call with", where)
        if row.calls < max(1, row.sampled):
            raise _damaged(f"rows[{number}] has no calls, or more that are sampled", where)
        if row.bytes > row.calls * MOST_MESSAGE_BYTES:
            raise _damaged(f"rows[{number}] has more than {MOST_MESSAGE_BYTES:,} bytes a call", where)
    return Profile(
        mpi=file.mpi,
        places=file.places,
        sync_error_s=file.sync_error_s,
        rank_s=file.rank_s,
        collectives_s=file.collectives_s,
        waiting_s=file.waiting_s,
        groups=groups,
        rows=file.rows,
        untimed=structs.asdict(file.untimed),
        provenance=file.provenance,
    )


def _damaged(what: str, where: str) -> IsochroneError:
    return IsochroneError(what, where, make_again("profile"))
