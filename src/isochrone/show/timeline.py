# SPDX-License-Identifier: BSD-3-Clause
"""What every rank does in a call, and when, as the core's simulation foresees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.show.call import Call

MOST_STEPS = 200_000
"""Of a call that is shown: some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of one rank, in one segment; the fields are those of `_core.Step`.

    Attributes:
        kind: ``send``, ``recv``, ``reduce``, ``copy``, or ``collective``, the library's own in a group.
        level: where the two ends of a message meet, or of a collective; None for local work.
        sent_by: of a receive, the index of the step that sent it.
        begin_s, free_s: the rank's processor is busy with it.
        leave_s: of a send, when its first byte leaves.
        end_s: it is done.
        after: steps of the same rank that were to be done before, by index.
        behind: the step that was to have started before.
    """

    rank: int
    kind: str
    peer: int
    level: int | None
    op: int
    segment: int
    size_bytes: int
    sent_by: int | None
    begin_s: float
    free_s: float
    leave_s: float
    end_s: float
    after: list[int]
    behind: int | None


@dataclass(frozen=True)
class Timeline:
    """The steps of all ranks of a call; none comes before one that it waits for."""

    call: Call
    steps: tuple[Step, ...]

    @cached_property
    def end_s(self) -> float:
        """When the last step is done: the predicted time of the call."""
        return max((step.end_s for step in self.steps), default=0.0)

    @property
    def local_work(self) -> Iterator[Step]:
        """Reductions and copies of anything: those of a barrier are of nothing."""
        return (step for step in self.steps if step.kind in ("reduce", "copy") and step.size_bytes)

    @cached_property
    def is_segmented(self) -> bool:
        """Whether a message flows in segments."""
        return any(step.segment for step in self.steps)

    def messages(self) -> Iterator[tuple[Step, Step]]:
        """Each message's send and receive, in the order in which they are received."""
        for step in self.steps:
            if step.sent_by is not None:
                yield self.steps[step.sent_by], step


def timeline_of(call: Call) -> Timeline:
    """Simulates a call under PLogP (Kielmann, Bal and Verstoep, IPDPS 2000), as predictions do.

    Raises:
        UsageError: the recipe is not for this collective or these ranks, or they do more than `MOST_STEPS`.
    """
    try:
        steps = _core.timeline(
            call.collective, call.layout, call.recipe, call.root or 0, call.size_bytes, MOST_STEPS
        )
    except ValueError as error:
        raise UsageError(str(error), "RECIPE") from None
    return Timeline(call, tuple(Step(**step) for step in steps))
