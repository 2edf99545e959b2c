# SPDX-License-Identifier: BSD-3-Clause
"""Applications as data: what their main loops call, and how long they compute in between. One row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isochrone.files import BCAST, Loop

ITERATIONS = 6
"""Of a main loop, in one timed run."""
SHARES = (0.25, 0.5, 0.75, 0.9)
"""Of the time of an iteration that calls take, where it is not known how long an application computes."""
UPDATE_S = 1e-9
"""An addition, a comparison and a store, in a loop over a row."""


@dataclass(frozen=True)
class Application:
    """What is known of an application.

    Attributes:
        name: in names of loops.
        title: on the page.
        source: who has described it.
        told: what its main loop does, in a sentence, and what of that is assumed here.
        collective: that it calls.
        sizes_bytes: of its calls, one after the other.
        calls: of each iteration.
        root_moves: whether each iteration has another root, spread over the ranks.
        computing_s: how long an iteration computes, in one or several variants, by the number of ranks, the
            size, and what a call takes with the library's own.
    """

    name: str
    title: str
    source: str
    told: str
    collective: str
    sizes_bytes: tuple[int, ...]
    calls: int
    root_moves: bool
    computing_s: Callable[[int, int, float], Sequence[float]]

    def loops(self, ranks: int, size_bytes: int, call_s: float) -> list[Loop]:
        """Its main loop in each variant."""
        step = max(1, ranks // ITERATIONS) % ranks if self.root_moves else 0
        return [
            Loop(f"{self.name}_{number}", ITERATIONS, self.calls, compute_s, step)
            for number, compute_s in enumerate(self.computing_s(ranks, size_bytes, call_s), 1)
        ]


def application_of(loop: Loop) -> Application:
    """Whose loop it is."""
    return next(each for each in APPLICATIONS if each.name == loop.name.rpartition("_")[0])


def _by_share(calls: int) -> Callable[[int, int, float], Sequence[float]]:
    def computing_s(_ranks: int, _size_bytes: int, call_s: float) -> Sequence[float]:
        return [float(f"{calls * call_s * (1 - share) / share:.9g}") for share in SHARES]

    return computing_s


def _rows(ranks: int, size_bytes: int, _call_s: float) -> Sequence[float]:
    """The rows of a square matrix of 4-byte numbers are divided among the ranks; an iteration goes through
    all of them.
    """
    side = size_bytes // 4
    return (side * -(-side // ranks) * UPDATE_S,)


APPLICATIONS = (
    Application(
        "windjammer",
        "WindJammer-like",
        "H. Subramoni et al. (CLUSTER 2011), section III-D and figure 9",
        "The main loop has two large broadcasts. How large they are, from which ranks, and how long it "
        "computes is not told: here 1 MiB unless other sizes are asked for; from another rank in each "
        "iteration, as whose rows are joined differs (a root that stays would run ahead of the others); "
        "and so long that the broadcasts would take a given share of an iteration.",
        BCAST,
        (1048576,),
        2,
        True,
        _by_share(2),
    ),
    Application(
        "asp",
        "All-pairs shortest paths",
        "A. Plaat, H. Bal and R. Hofman (HPCA 1999), three of MagPIe's authors",
        "In iteration k of n the owner of row k of an n by n matrix broadcasts it, and each rank updates "
        "its own rows. Here the matrix has 4-byte numbers, rows are dealt out to the ranks in turn, an "
        f"update takes {UPDATE_S * 1e9:g} ns, and {ITERATIONS} iterations spread over all are run.",
        BCAST,
        (4096, 16384, 65536),
        1,
        True,
        _rows,
    ),
)
