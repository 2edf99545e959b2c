# SPDX-License-Identifier: BSD-3-Clause
"""Types of fields that several files have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from isochrone.errors import IsochroneError

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
"""Of bytes, ranks or repetitions: what a float64 holds exactly."""
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
MOST_MESSAGE_BYTES = 1 << 40
Bytes = Annotated[int, Meta(ge=0, le=MOST_MESSAGE_BYTES)]
"""Of one message."""
Repetitions = Annotated[int, Meta(ge=0, le=10**9)]
MOST_RANKS = 1 << 20
"""Of one program, and places of one machine."""
MOST_MEMBERS = 1 << 24
"""Of all groups of a file together: a few runs may stand for any number of ranks."""
RankCount = Annotated[int, Meta(ge=1, le=MOST_RANKS)]
Run = tuple[
    Annotated[int, Meta(ge=0, le=MOST_RANKS)],
    Annotated[int, Meta(ge=0, le=MOST_RANKS)],
    Annotated[int, Meta(ge=-MOST_RANKS, le=MOST_RANKS)],
]
"""First, count and step of some ranks."""
Groups = tuple[Annotated[tuple[Run, ...], Meta(min_length=1)], ...]
"""Ranks of communicators, in their order."""
Collective = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[a-z][a-z0-9_]*$")]
"""Its name, or that of a pattern of messages."""
Recipe = Annotated[str, Meta(min_length=1, max_length=512, pattern="^[!-~]+$")]
NUMBERS = "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"
Ranks = Annotated[str, Meta(max_length=1 << 20, pattern=NUMBERS)]
"""A list such as ``0-3,8``."""
LevelName = Annotated[
    str,
    Meta(pattern="^(site|rack|switch(-[2-9])?|machine|node|socket|numa|l3|l2|core|group-[1-9][0-9]{0,5})$"),
]
Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Provenance = Annotated[
    dict[str, Any],
    Meta(description="How the file came to be: command, time, host, version, commit, job."),
]


def check_groups(groups: Groups, ranks: int, where: str, todo: str) -> None:
    """Raises IsochroneError for ranks that there are not, and for too many; a rank may be in a group twice. A
    few bytes may stand for any number of ranks, so none is listed here.
    """
    members = 0
    for number, runs in enumerate(groups):
        if wrong := _wrong_in_group(runs, ranks):
            raise IsochroneError(wrong, f"{where}: groups[{number}]", todo)
        members += sum(count for _, count, _ in runs)
    if members > MOST_MEMBERS:
        raise IsochroneError(f"the groups have more than {MOST_MEMBERS:,} ranks together", where, todo)


def _wrong_in_group(runs: Sequence[Run], ranks: int) -> str | None:
    for first, count, step in runs:
        last = first + (count - 1) * step
        if count < 1 or step == 0 or not (0 <= first < ranks and 0 <= last < ranks):
            return f"names a rank that is none of the {ranks}"
    return "more ranks than there are" if sum(count for _, count, _ in runs) > ranks else None
