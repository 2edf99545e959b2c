# SPDX-License-Identifier: BSD-3-Clause
"""What a study takes, told before it begins.

A simulation takes real time (see ``steps.simulated_time``). On real ranks a budget of time is divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isochrone import _core
from isochrone.files import Case
from isochrone.launch.target import Target
from isochrone.steps.rounds import SIMULATED_CALLS
from isochrone.steps.simulated_time import launch_s, message_s
from isochrone.studies.recipes import default_segment
from isochrone.studies.study import Wanted, is_own
from isochrone.tune.forms import algorithms_in, quadratic
from isochrone.units import format_duration

BUDGET_S = 480.0
"""Of all calls of a study on real ranks."""
START_S = 3.0
"""Of a program on real ranks, and of what comes before its first timed call."""


@dataclass(frozen=True)
class Cost:
    """What a study takes, more or less.

    Attributes:
        seconds: in all.
        launches: programs that are started.
        calls: that are timed.
        parts: [wanted], seconds of each.
        at_most: whether it may well take less: calls on real ranks need no whole budget where they are
            fast.
    """

    seconds: float
    launches: int
    calls: int
    parts: tuple[float, ...]
    at_most: bool

    @property
    def words(self) -> str:
        """For a person who waits."""
        time = f"{'at most' if self.at_most else 'about'} {format_duration(self.seconds)}"
        return f"{time}: {self.calls:,} timed calls in {self.launches:,} launches"


def cost_of(target: Target, wanted: Sequence[Wanted], repetitions: int) -> Cost:
    """What cases take in all."""
    calls = [sum(len(case.recipes) * case.calls for case in each.cases) * repetitions for each in wanted]
    if not target.simulated:
        shares = [len(each.cases) for each in wanted]
        parts = [START_S + BUDGET_S * share / max(1, sum(shares)) for share in shares]
        return Cost(sum(parts), len(wanted), sum(calls), tuple(parts), True)
    launches = [-(-count // SIMULATED_CALLS) for count in calls]
    parts = []
    for started, each in zip(launches, wanted, strict=True):
        ranks = each.arrangement.ranks
        messages_s = repetitions * sum(_messages_s(case, ranks) for case in each.cases)
        parts.append(started * launch_s(ranks) + messages_s)
    return Cost(sum(parts), sum(launches), sum(calls), tuple(parts), False)


def _messages_s(case: Case, ranks: int) -> float:
    """Of the messages of a case, one call of each recipe."""
    total = 0.0
    for recipe in case.recipes:
        messages, size_bytes = _messages(case, recipe, ranks)
        total += case.calls * messages * message_s(ranks, size_bytes)
    return total


def _messages(case: Case, recipe: str, ranks: int) -> tuple[int, int]:
    """About as many messages as a call takes, and how large they are."""
    if is_own(recipe):
        return 2 * ranks, case.size_bytes
    (few,) = quadratic(case.collective, True)
    if not _core.recipe_parts(recipe)["levels"] and algorithms_in(recipe) & few:
        return ranks * ranks, case.size_bytes
    segment = default_segment(case.collective, recipe)
    segments = max(1, -(-case.size_bytes // segment)) if segment else 1
    return ranks * segments, case.size_bytes // segments
