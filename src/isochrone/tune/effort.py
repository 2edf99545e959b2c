# SPDX-License-Identifier: BSD-3-Clause
"""How much is measured to make a plan."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        candidates: recipes a size that the model passes on.
        neighbours: of the best of these, how many with another algorithm are screened too, beside all with
            other segments; with none there is no such round.
        finalists: recipes a size that are left after screening.
        roots: of each shape that are tuned on. Libraries do well from some roots and worse from others.
        screen, confirm, verify: repetitions of the rounds; with none of the first, all candidates are
            confirmed.
    """

    candidates: int
    neighbours: int
    finalists: int
    roots: int
    screen: int
    confirm: int
    verify: int


NOISY = Effort(candidates=8, neighbours=4, finalists=2, roots=2, screen=3, confirm=25, verify=25)
EXACT = Effort(candidates=5, neighbours=0, finalists=0, roots=1, screen=0, confirm=1, verify=1)
"""Where times have no noise one repetition tells all."""
SIMULATED_NOISE = Effort(candidates=5, neighbours=0, finalists=2, roots=1, screen=2, confirm=8, verify=8)
"""A simulated call costs real time for each of its messages, a thousand times what it takes. The noise is
independent: that all of eight are faster by chance, twice, happens once in 65,000 times. And the model is not
off: it has the very parameters of the simulation.
"""


def effort_for(simulated: bool, exact: bool) -> Effort:
    """What suits a place to run."""
    if exact:
        return EXACT
    return SIMULATED_NOISE if simulated else NOISY


@dataclass(frozen=True)
class Shares:
    """How much of a tuning each round is, by the calls that it makes."""

    screen: int
    around: int
    confirm: int
    borders: int
    verify: int

    def of(self, name: str) -> float:
        """Of what is left when this round begins."""
        calls: dict[str, int] = asdict(self)
        names = list(calls)
        return calls[name] / max(1, sum(calls[later] for later in names[names.index(name) :]))


def shares_of(effort: Effort, baselines: int) -> Shares:
    """By calls for one size and root; segments of other sizes are about six."""
    screen = effort.candidates * effort.screen
    around = (1 + 6 + effort.neighbours) * effort.screen if effort.neighbours else screen
    finalists = effort.finalists if effort.screen else effort.candidates
    confirm = (1 + finalists) * effort.confirm * effort.roots
    verify = (2 + baselines) * effort.verify
    return Shares(screen * effort.roots, around * effort.roots, confirm, max(1, confirm // 5), verify)
