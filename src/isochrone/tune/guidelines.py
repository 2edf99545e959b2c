# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines: no collective should take longer than others that do the same together, nor than
itself with more data (Träff, Gropp and Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21(5),
2010; Hunold and Carpen-Amarie, Tuning MPI Collectives by Verifying Performance Guidelines, HPC Asia 2018).

All of one guideline are compared at one total of bytes: messages have it, blocks have their share of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from isochrone.files import Bench, BenchKey, Case
from isochrone.statistics import FloatArray, Interval, median_ci
from isochrone.tune.collectives import ELEMENT_BYTES, has_blocks

MIMICS = (
    ("bcast", ("scatter", "allgather")),
    ("reduce", ("allreduce",)),
    ("reduce", ("reduce_scatter_block", "gather")),
    ("allreduce", ("reduce", "bcast")),
    ("allreduce", ("reduce_scatter_block", "allgather")),
    ("gather", ("allgather",)),
    ("scatter", ("bcast",)),
    ("allgather", ("gather", "bcast")),
    ("allgather", ("alltoall",)),
    ("reduce_scatter_block", ("reduce", "scatter")),
    ("reduce_scatter_block", ("allreduce",)),
)
"""A collective, and those that do what it does, one after the other."""
TOTALS_BYTES = (1024, 8192, 65536, 524288, 4194304)
MARGIN = 1.05
"""How much longer is worth a word."""


@dataclass(frozen=True)
class Checked:
    """A guideline at one total of bytes.

    Attributes:
        collective: what should not take longer ...
        than: ... than these together; with itself alone it is the time of the next larger total.
        recipe: what ran for all of them.
        ratio: time of the collective over theirs.
        violated: whether it is proven to be longer by `MARGIN`.
        is_provable: whether there are enough repetitions for a proof.
    """

    collective: str
    than: tuple[str, ...]
    total_bytes: int
    recipe: str
    ratio: Interval
    violated: bool
    is_provable: bool

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "collective": self.collective,
            "than": list(self.than),
            "total_bytes": self.total_bytes,
            "recipe": self.recipe,
            "ratio": self.ratio.estimate,
            "ratio_ci": [self.ratio.low, self.ratio.high],
            "violated": self.violated,
            "is_provable": self.is_provable,
        }


def totals_for(ranks: int, totals_bytes: Sequence[int] = TOTALS_BYTES) -> tuple[int, ...]:
    """Totals that are whole elements on every rank."""
    whole = ELEMENT_BYTES * ranks
    return tuple(sorted({-(-total // whole) * whole for total in totals_bytes}))


def guideline_cases(ranks: int, totals_bytes: Sequence[int], recipes: Sequence[str]) -> list[Case]:
    """What has to be timed."""
    return [
        Case(_size(name, total, ranks), 0, tuple(recipes), name)
        for name in _names()
        for total in totals_bytes
    ]


def check_guidelines(
    bench: Bench, totals_bytes: Sequence[int], recipes: Sequence[str], exact: bool
) -> list[Checked]:
    """All guidelines at all totals, for each recipe, in the order of the table.

    Intervals are those of the medians, at 95 % for all guidelines together. Where times have no noise
    (``exact``) one is enough.
    """

    def times(name: str, total: int, recipe: str) -> FloatArray:
        return bench.slowest_s[BenchKey(_size(name, total, bench.ranks), 0, recipe, name)]

    wanted = [(name, than, total, total) for name, than in MIMICS for total in totals_bytes]
    wanted += [(name, (name,), small, large) for name in _names() for small, large in pairwise(totals_bytes)]
    terms = sum(1 + len(than) for _, than, _, _ in wanted) * len(recipes)
    found = []
    for recipe in recipes:
        for name, than, total, other_total in wanted:
            ratio = _ratio(
                times(name, total, recipe),
                [times(other, other_total, recipe) for other in than],
                1 - 0.05 / terms,
            )
            is_sure = exact or ratio.confidence >= 0.95
            is_over = is_sure and ratio.low > MARGIN
            found.append(Checked(name, than, total, recipe, ratio, is_over, is_sure))
    return found


def _ratio(one: FloatArray, others: Sequence[FloatArray], confidence: float) -> Interval:
    """Of a median to a sum of medians; they were timed one after the other, and share no repetitions."""
    left = median_ci(one, confidence)
    right = [median_ci(other, confidence) for other in others]
    return Interval(
        left.estimate / sum(each.estimate for each in right),
        left.low / sum(each.high for each in right),
        left.high / sum(each.low for each in right),
        0.95 if min(each.confidence for each in (left, *right)) >= confidence else 0.0,
    )


def _names() -> list[str]:
    return list(dict.fromkeys(each for name, than in MIMICS for each in (name, *than)))


def _size(name: str, total_bytes: int, ranks: int) -> int:
    return total_bytes // ranks if has_blocks(name) else total_bytes
