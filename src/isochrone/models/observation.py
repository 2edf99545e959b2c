# SPDX-License-Identifier: BSD-3-Clause
"""What models are fitted to: times of messages and of collectives, whoever measured them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from isochrone import _core
from isochrone.files import NATIVE, Links

MESSAGE = "message"
"""The operation of a single message between two ranks."""

"""The algorithm that an MPI library chooses by itself."""

CostKind = Literal["send_overhead", "receive_overhead", "gap"]


@dataclass(frozen=True)
class Observation:
    """One time that was measured.

    Attributes:
        operation: ``message``, or the name of a collective.
        size_bytes: of the message, or of a block, as the benchmark counts it; 0 for a barrier.
        ranks: that took part.
        time_s: of a message from end to end, half of its round trip; of a collective until the slowest rank
            is done, where that is known. Above 0.
        algorithm: a recipe, or what the user calls it.
        mapping: how ranks were placed; empty: not told.
        region: the innermost level that holds all the ranks; of a message, the one that its two meet at;
            empty: not told.
        root: where the operation has one.
        layout: where the ranks were; None: not known.
        source: where it is from: a file and a line, or a pair of ranks.
    """

    operation: str
    size_bytes: int
    ranks: int
    time_s: float
    algorithm: str = NATIVE
    mapping: str = ""
    region: str = ""
    root: int = 0
    layout: _core.Layout | None = field(default=None, compare=False)
    source: str = ""


@dataclass(frozen=True)
class Cost:
    """A part of what a message costs.

    Attributes:
        kind: the sender's or the receiver's processor, or the gap until the next message may follow.
        region: the level that the two ranks meet at; empty: not told.
    """

    kind: CostKind
    size_bytes: int
    time_s: float
    region: str = ""


@dataclass(frozen=True)
class Found:
    """What files say.

    Attributes:
        left_out: a sentence for each kind of thing that was not taken, and why.
        links: of the levels of a survey's topology.
    """

    observations: tuple[Observation, ...] = ()
    costs: tuple[Cost, ...] = ()
    left_out: tuple[str, ...] = ()
    links: Mapping[str, Links] = field(default_factory=dict)


def together(parts: Iterable[Found]) -> Found:
    """All of several files, in their order."""
    parts = list(parts)
    return Found(
        tuple(each for part in parts for each in part.observations),
        tuple(each for part in parts for each in part.costs),
        tuple(dict.fromkeys(each for part in parts for each in part.left_out)),
        {name: links for part in parts for name, links in part.links.items()},
    )


def with_regions(observations: Sequence[Observation], borders: Sequence[int]) -> tuple[Observation, ...]:
    """The same, with the region of collectives that have none told by the number of ranks: those up to each
    border share one.
    """
    ends = sorted(set(borders))

    def region(ranks: int) -> str:
        return next((f"up to {end} ranks" for end in ends if ranks <= end), f"beyond {ends[-1]} ranks")

    return tuple(
        each if each.operation == MESSAGE or each.region else replace(each, region=region(each.ranks))
        for each in observations
    )
