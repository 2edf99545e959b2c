# SPDX-License-Identifier: BSD-3-Clause
"""What a study takes, told before it begins.

A simulation takes real time for each rank that starts and for each message; how much was measured on one core
of a machine of 2020, so that this is a guess for others. On real ranks a budget of time is divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isochrone import _core
from isochrone.files import Case
from isochrone.launch.target import Target
from isochrone.steps.rounds import SIMULATED_CALLS
from isochrone.studies.study import NATIVE, Wanted
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.forms import quadratic

BUDGET_S = 480.0
"""Of all calls of a study on real ranks."""
START_S = 3.0
"""Of a program on real ranks, and of what comes before its first timed call."""
SIMULATION_S, SIMULATED_RANK_S, SIMULATED_MESSAGE_S = 1.0, 0.012, 25e-6
"""Real time of a simulation: to start, for each rank, and for each message."""


@dataclass(frozen=True)
class Cost:
    """What a study takes, more or less.

    Attributes:
        seconds: in all.
        launches: programs that are started.
        calls: that are timed.
        parts: [wanted], seconds of each.
    """

    seconds: float
    launches: int
    calls: int
    parts: tuple[float, ...]

    @property
    def words(self) -> str:
        """For a person who waits."""
        minutes = self.seconds / 60
        time = "less than a minute" if minutes < 1 else f"about {minutes:.0f} min"
        return f"{time}: {self.calls:,} timed calls in {self.launches:,} launches"


def cost_of(target: Target, wanted: Sequence[Wanted], repetitions: int) -> Cost:
    """What cases take in all."""
    calls = [sum(len(case.recipes) for case in each.cases) * repetitions for each in wanted]
    if not target.simulated:
        shares = [len(each.cases) for each in wanted]
        parts = [START_S + BUDGET_S * share / max(1, sum(shares)) for share in shares]
        return Cost(sum(parts), len(wanted), sum(calls), tuple(parts))
    launches = [-(-count // SIMULATED_CALLS) for count in calls]
    parts = [
        started * (SIMULATION_S + SIMULATED_RANK_S * each.arrangement.ranks)
        + SIMULATED_MESSAGE_S
        * repetitions
        * sum(_messages(case, each.arrangement.ranks) for case in each.cases)
        for started, each in zip(launches, wanted, strict=True)
    ]
    return Cost(sum(parts), sum(launches), sum(calls), tuple(parts))


def _messages(case: Case, ranks: int) -> float:
    """About as many messages as the calls of a case take, one of each recipe."""
    return sum(_of_recipe(case, recipe, ranks) for recipe in case.recipes)


def _of_recipe(case: Case, recipe: str, ranks: int) -> float:
    if recipe == NATIVE or recipe.startswith("native:"):
        return float(2 * ranks)
    parts = _core.recipe_parts(recipe)
    names = [name.partition("/")[0] for ways in parts["algorithms"] for name in ways]
    if not parts["levels"] and any(name in few for few in quadratic(case.collective, True) for name in names):
        return float(ranks * ranks)
    segment = parts["segment_bytes"] or max((_segment(case.collective, name) for name in names), default=0)
    return float(ranks * max(1, -(-case.size_bytes // segment) if segment else 1))


def _segment(collective: str, name: str) -> int:
    row = table_row(collective)
    tables = (*row["up"], *row["across"], *row["down"])
    return max((each["default_segment"] for each in tables if each["name"] == name), default=0)
