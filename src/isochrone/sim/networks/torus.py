# SPDX-License-Identifier: BSD-3-Clause
"""Tori: a router for each node, joined to its neighbours in every dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isochrone.sim.networks.base import NEAREST, Link, Path, Steps


@dataclass(frozen=True)
class Torus:
    """A torus of any dimensions, one node at each router; shortest paths in the order of the dimensions.

    Attributes:
        network: pairs of neighbours.
        hop: what each further hop adds to the latency, and the bandwidth and capacity of the cables.
    """

    network: Link
    dimensions: tuple[int, ...]
    hop: Link

    def links(self) -> dict[Steps, Link]:
        """The link with a latency from rank to rank, by its place in the description: ``hop`` adds to it."""
        return {NEAREST: self.network}

    def node_count_error(self, nodes: int) -> str | None:
        """Why ``nodes`` do not fill the torus, or None."""
        places = math.prod(self.dimensions)
        return None if nodes == places else f"the torus has {places} nodes, but the cluster has {nodes}"

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """No levels above the node."""
        return {}

    def path(self, source: int, destination: int) -> Path:
        """Along the first dimension that differs, then the next; where both ways round are equal, upwards."""
        here = self._coordinates(source)
        shared: list[tuple[str, float]] = []
        for axis, goal in enumerate(self._coordinates(destination)):
            size = self.dimensions[axis]
            step = 1 if (goal - here[axis]) % size * 2 <= size else -1
            while here[axis] != goal:
                sign = "+" if step > 0 else "-"
                cable = f"{'.'.join(map(str, here))}{sign}{axis}"
                shared.append((cable, self.hop.capacity_bytes_per_s))
                here[axis] = (here[axis] + step) % size
        latency_s = self.network.latency_s + (len(shared) - 1) * self.hop.latency_s
        bandwidth = min(self.network.bandwidth_bytes_per_s, self.hop.bandwidth_bytes_per_s)
        return Path(latency_s, bandwidth, tuple(shared))

    def _coordinates(self, node: int) -> list[int]:
        """The last dimension counts fastest."""
        digits: list[int] = []
        for size in reversed(self.dimensions):
            node, digit = divmod(node, size)
            digits.append(digit)
        return digits[::-1]
