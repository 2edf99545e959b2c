# SPDX-License-Identifier: BSD-3-Clause
"""How much is measured to make a plan, and how a budget of time is divided."""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.tune.race import FAR_BEHIND

BUDGET_S = 120.0
"""Of a tuning on a real machine, for all its collectives, unless another is given."""
MEASURING = 0.85
"""Of a budget; the rest is for pricing candidates."""
LEAST_LEFT = 0.5
"""Of a budget, however long programs take to start: what is started for nothing is of no use."""


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        candidates: recipes a size that the model passes on.
        neighbours: of the best of these, how many with another algorithm are raced too, beside all with
            other segments; with none only what is best for the next sizes is.
        looks: repetitions of each look of a race.
        roots: of each shape that are tuned on. Libraries do well from some roots and worse from others.
        launches: in which a plan is verified. What differs between launches and not within one is part of
            what users see (S. Hunold and A. Carpen-Amarie, "Reproducible MPI benchmarking is still not as
            easy as you think", IEEE TPDS 27(12), 2016).
        verify, least_verify: repetitions in each of them, and where there is little time.
        family: communicators of other shapes that are tuned as well, at most.
    """

    candidates: int
    neighbours: int
    looks: tuple[int, ...]
    roots: int
    launches: int
    verify: int
    least_verify: int
    family: int


NOISY = Effort(
    candidates=8, neighbours=4, looks=(1, 5), roots=2, launches=3, verify=9, least_verify=5, family=16
)
EXACT = Effort(
    candidates=5, neighbours=0, looks=(1,), roots=1, launches=1, verify=1, least_verify=1, family=0
)
"""Where times have no noise one repetition tells all."""
SIMULATED_NOISE = Effort(
    candidates=5, neighbours=0, looks=(2, 4), roots=1, launches=1, verify=12, least_verify=12, family=0
)
"""A simulated call costs real time for each of its messages, a thousand times what it takes. The noise is
independent, of launches too: that all of twelve are faster by chance happens once in 4,096 times. And the
model is not off: it has the very parameters of the simulation.
"""


def effort_for(simulated: bool, exact: bool) -> Effort:
    """What suits a place to run."""
    if exact:
        return EXACT
    return SIMULATED_NOISE if simulated else NOISY


LEAST_RACING = 3
"""Recipes that race beside the library's own at each size, however little time there is."""
WINDOW = 1.3
"""What a call takes of the time, in times of its own: the first window in ``mpi/bench/aligned.cpp``."""
AGREEMENTS = 4
"""Of all ranks, about each block of calls, were it of one case alone; short ones share blocks."""
FAR_SLOWER = 3.0
"""How much slower than the best a recipe's very first call, in which things are set up, has to be for it not
to be timed at all, if it would take more than its share of the time."""
SHARES = {"race": 0.3, "near": 0.12, "between": 0.1, "family": 0.16, "verify": 0.32}
"""Of what is measured, by the calls that each part makes where the network is slow."""


def left_to_measure(budget_s: float, starts_s: float) -> float:
    """A budget in seconds without what its launches take to start."""
    return max(budget_s - starts_s, LEAST_LEFT * budget_s)


def part_of(budget_s: float | None, name: str, rounds: int = 1) -> float | None:
    """The time in seconds for one of so many rounds of a part of `SHARES`; None: whatever it takes."""
    return None if budget_s is None else budget_s * MEASURING * SHARES[name] / rounds


def share_left(name: str) -> float:
    """How much of what is left a part is when it begins."""
    names = list(SHARES)
    return SHARES[name] / sum(SHARES[later] for later in names[names.index(name) :])


@dataclass(frozen=True)
class Least:
    """What one case takes, from its first race to its proof, however little time there is.

    Attributes:
        calls, own_calls: by recipes and by the library's own, with those that set things up and are compared.
        slow_own_calls: by the library's own where one look shows that it is far behind.
        agreements: of all ranks when to start, and how long it took.
    """

    calls: int
    own_calls: int
    slow_own_calls: int
    agreements: int

    def time_s(self, call_s: float, own_s: float, agreement_s: float) -> float:
        """In seconds, where a call by a recipe, one by the library's own and an agreement take so long."""
        # So that what is slower never takes less.
        beside_s = self.own_calls * min(own_s, FAR_BEHIND * call_s)
        calls_s = self.calls * call_s + max(self.slow_own_calls * own_s, beside_s)
        return WINDOW * calls_s + self.agreements * agreement_s


def least_of(effort: Effort) -> Least:
    """Of a race, of another of what is near its best, and of each launch that verifies; between sizes nothing
    may be to race.
    """
    looks = len(effort.looks)
    # The library's own may be the one beside which others race; far behind, it is in no look but the first.
    race = sum(2 * recipes for recipes in [LEAST_RACING, *[1] * (looks - 1)])
    own_race, slow_own_race = 2 * 3 * looks, 3
    verify = 1 + effort.least_verify
    return Least(
        2 * race + effort.launches * verify,
        own_race + effort.launches * (1 + verify),
        slow_own_race + effort.launches * (1 + verify),
        AGREEMENTS * (2 * looks + effort.launches),
    )


LEAST_PARTS = ("race", "near", "verify")
"""Of `SHARES`: those that are never left out."""
