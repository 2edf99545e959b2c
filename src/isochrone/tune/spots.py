# SPDX-License-Identifier: BSD-3-Clause
"""What rules may be for: a collective, the shape of a communicator, and a size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isochrone.files import BenchCase, Case
from isochrone.tune.collectives import has_agreed_size
from isochrone.tune.roots import ShapeRoots

Row = tuple[str, str]
"""A collective and a shape: their rules have sizes that do not overlap."""


@dataclass(frozen=True)
class Spot:
    """What one rule may be for: a size, or whatever sizes there are of a collective whose ranks know none
    alike. It is measured at some.

    Attributes:
        members: the ranks of the communicator, a list such as ``0-3,8``; empty: all.
    """

    collective: str
    shape: ShapeRoots
    measured_bytes: tuple[int, ...]
    members: str = ""

    @property
    def row(self) -> Row:
        """Whose rules the rule is among."""
        return self.collective, self.shape.shape

    @property
    def size_bytes(self) -> int:
        """That the rule is found by."""
        return self.measured_bytes[0] if has_agreed_size(self.collective) else 0

    @property
    def typical_bytes(self) -> int:
        """One of the sizes that it is measured at, in the middle."""
        return self.measured_bytes[len(self.measured_bytes) // 2]

    @property
    def tuned(self) -> list[BenchCase]:
        """What is measured to choose a recipe."""
        return self._cases(self.shape.tuned)

    @property
    def verified(self) -> list[BenchCase]:
        """What a plan is measured at: also from a root that nothing was chosen on."""
        return self._cases(tuple(dict.fromkeys((*self.shape.tuned[:1], self.shape.verified))))

    def _cases(self, roots: Sequence[int]) -> list[BenchCase]:
        return [
            BenchCase(size, root, self.collective, self.members)
            for size in self.measured_bytes
            for root in roots
        ]


def work_on(case: BenchCase, recipes: Sequence[str], expected_s: Mapping[str, float | None]) -> Case:
    """Recipes to be timed against each other there; of some it is known what a call takes."""
    known_s = {recipe: time_s for recipe in recipes if (time_s := expected_s.get(recipe)) is not None}
    return Case(case.size_bytes, case.root, tuple(recipes), case.collective, case.members, expected_s=known_s)
