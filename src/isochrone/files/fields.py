# SPDX-License-Identifier: BSD-3-Clause
"""Types of fields that several files have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
"""Of bytes, ranks or repetitions: what a float64 holds exactly."""
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
Bytes = Annotated[int, Meta(ge=0, le=1 << 40)]
"""Of one message."""
Repetitions = Annotated[int, Meta(ge=0, le=10**9)]
RankCount = Annotated[int, Meta(ge=1, le=1 << 20)]
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


def wrong_in_group(runs: Sequence[tuple[int, int, int]], ranks: int) -> str | None:
    """What is wrong with the ranks of a communicator, as runs [first, count, step]; None: nothing but, maybe,
    a rank that is there twice. A few bytes may stand for any number of ranks, so none is listed here.
    """
    for first, count, step in runs:
        last = first + (count - 1) * step
        if count < 1 or step == 0 or not (0 <= first < ranks and 0 <= last < ranks):
            return f"names a rank that is none of the {ranks}"
    return "more ranks than there are" if sum(count for _, count, _ in runs) > ranks else None
