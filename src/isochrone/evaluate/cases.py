# SPDX-License-Identifier: BSD-3-Clause
"""The simulated clusters to evaluate on: those shipped, and Fram as Reinfjell 2023 used it (table 3.1)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from isochrone.evaluate.noise import CLEAN, NOISY, Noise
from isochrone.sim.description import load_system
from isochrone.sim.networks.islands import Islands
from isochrone.sim.system import PLACEMENTS, Placement, System


@dataclass(frozen=True)
class Case:
    """A cluster, and what disturbs the measurements of it.

    Attributes:
        system: with its placement.
        noise: of the messages.
        repetitions: numbers of round trips of each pair, ascending; fewer are the first ones of the most.
    """

    system: System
    noise: Noise
    repetitions: tuple[int, ...]

    @property
    def name(self) -> str:
        """For a folder with what was measured without noise: of the cluster and its placement."""
        return f"{self.system.name}-{self.system.placement}"

    @property
    def words(self) -> tuple[str, str, str]:
        """Cluster, placement and noise, for people."""
        return self.system.name, self.system.placement, str(self.noise)


_SHIPPED = ("hpclab", "demo", "arm1", "idun", "betzy")
# Nodes of each island. In the thesis the 32 nodes were found to be in islands of 4, 5, 12, 9 and 1, and the
# first node was in none.
_FRAM = {
    "fram-1x32": (1,),
    "fram-2x32": (2,),
    "fram-4x32": (2, 2),
    "fram-8x32": (5, 3),
    "fram-8x1": (5, 3),
    "fram-16x1": (10, 6),
    "fram-32x1": (1, 4, 5, 12, 9, 1),
}
_QUICK = ("hpclab", "demo", "arm1", "fram-1x32", "fram-2x32", "fram-16x1", "fram-32x1")
_QUICK_REPETITIONS = (8, 32)
_REPETITIONS = (8, 32, 128)


def cases(full: bool) -> list[Case]:
    """All systems, placements, noises and numbers of repetitions, or those that take seconds."""
    names = [*_SHIPPED, *_FRAM] if full else list(_QUICK)
    placements: tuple[Placement, ...] = PLACEMENTS if full else ("block", "random")
    return [
        Case(
            dataclasses.replace(system(name), placement=placement),
            noise,
            (1,) if noise == CLEAN else _REPETITIONS if full else _QUICK_REPETITIONS,
        )
        for name in names
        for placement in placements
        for noise in (CLEAN, NOISY)
    ]


def system(name: str) -> System:
    """One of the clusters, by its name."""
    if name not in _FRAM:
        return load_system(name)
    fram = load_system("fram")
    islands = _FRAM[name]
    single = name.endswith("x1")
    groups = fram.core_groups[-1:] if single else fram.core_groups
    if single:
        groups = tuple(dataclasses.replace(group, cores=1) for group in groups)
    network = fram.network
    if not isinstance(network, Islands):
        raise TypeError("Fram has islands")
    return dataclasses.replace(
        fram,
        name=name,
        description=f"Fram, {sum(islands)} nodes with {1 if single else 32} ranks each",
        nodes=sum(islands),
        core_groups=groups,
        network=dataclasses.replace(network, islands=islands),
    )
