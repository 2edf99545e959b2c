# SPDX-License-Identifier: BSD-3-Clause
"""What the model proposes to race, at each spot of a tuning."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

from isochrone import _core
from isochrone.files import NATIVE
from isochrone.progress import part
from isochrone.tune.candidates import candidates, laid_over_hosts, pipelines
from isochrone.tune.forms import MOST_SEGMENTS, Form
from isochrone.tune.prices import predicted_s
from isochrone.tune.spots import Spot

LAID = 2
"""Trees that are tried in each order over the hosts of a fabric, for each size."""
SIMULATED_MESSAGES = 16384
"""Of one broadcast: more of them take longer to simulate than they tell."""


class Proposals:
    """Recipes for the spots of one tuning.

    Attributes:
        most_segments: of any of them.
    """

    def __init__(
        self, layouts: Mapping[str, _core.Layout], most: int, simulated: bool, on_fabric: bool
    ) -> None:
        """`layouts`: of each communicator, by its members; more may come. `most`: for each size, unless told.
        `on_fabric`: trees may be laid over the hosts by a fabric's routes.
        """
        self._layouts = layouts
        self._most = most
        self._simulated = simulated
        self._on_fabric = on_fabric
        self.most_segments = simulated_segments(layouts[""].size) if simulated else MOST_SEGMENTS

    def at(self, spots: Sequence[Spot], most: int | None = None) -> dict[Spot, list[str]]:
        """The model's candidates for each spot, fewer where one look at all of them would take too long."""
        with part("tuning: pricing candidates", 0.05) as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
            # The simulator leaves Python's lock to others while it works.
            wanted = most or self._most
            all_of_them = pool.map(lambda spot: self._candidates(spot, wanted), spots)
            found: dict[Spot, list[str]] = {}
            for spot, few in zip(spots, all_of_them, strict=True):
                found[spot] = few
                advance(len(found), len(spots))
        return found

    def _candidates(self, spot: Spot, most: int) -> list[str]:
        """The best of each size first, then the second best of each, and so on."""
        # Where trees are laid over hosts, the best of them are wanted too, however dear the model finds them.
        has_fabric = self._on_fabric
        priced = most * 4 if has_fabric else most
        layout = self._layouts[spot.members]
        of_sizes = [
            candidates(spot.collective, layout, spot.shape.tuned, size, priced, self.most_segments)
            for size in spot.measured_bytes
        ]
        in_turn = [recipe for same in zip_longest(*of_sizes) for recipe in same if recipe is not None]
        found = list(dict.fromkeys(in_turn))
        if not self._simulated:
            wanted = pipelines(spot.collective, layout, max(spot.measured_bytes), self.most_segments)
            found = list(dict.fromkeys([*found[:1], *wanted, *found[1:]]))
        if not has_fabric:
            return found[:most]
        # The model knows no distances inside a level: so each order is tried.
        orders = [few for recipe in found if (few := laid_over_hosts(recipe, spot.collective))]
        return list(dict.fromkeys([*found[:most], *(recipe for few in orders[:LAID] for recipe in few)]))

    def predicted_s(self, spot: Spot, recipe: str) -> float:
        """Of one call, at the largest size; 0 where the model knows no time."""
        layout, root = self._layouts[spot.members], spot.shape.tuned[0]
        price = predicted_s(spot.collective, layout, recipe, root, max(spot.measured_bytes))
        return price or 0.0

    def that_fit(self, size: int, recipes: Iterable[str]) -> list[str]:
        """Recipes whose segments are not too many for a size."""
        return [
            recipe
            for recipe in recipes
            if recipe == NATIVE or size <= (Form.of(recipe).segment_bytes or size) * self.most_segments
        ]


def simulated_segments(ranks: int) -> int:
    """How many segments a message among so many simulated ranks has at most."""
    return min(MOST_SEGMENTS, max(16, SIMULATED_MESSAGES // ranks))
