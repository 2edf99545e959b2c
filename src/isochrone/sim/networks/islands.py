# SPDX-License-Identifier: BSD-3-Clause
"""Islands: groups of nodes at a switch each, joined by uplinks."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from isochrone.sim.networks.base import NEAREST, Link, Path, Steps


@dataclass(frozen=True)
class Islands:
    """Islands of any size, each with one uplink to a switch in the middle."""

    network: Link
    islands: tuple[int, ...]
    uplink: Link

    def links(self) -> dict[Steps, Link]:
        """The links with a latency from rank to rank, by their place in the description."""
        return {NEAREST: self.network, ("network", "uplink"): self.uplink}

    def node_count_error(self, nodes: int) -> str | None:
        """Why ``nodes`` is not the sum of the islands, or None."""
        if sum(self.islands) == nodes:
            return None
        return f"the islands hold {sum(self.islands)} nodes, but the cluster has {nodes}"

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """``switch``: the island of each node."""
        return {"switch": [self._island(node) for node in range(nodes)]}

    def path(self, source: int, destination: int) -> Path:
        """Through both uplinks, unless the nodes share an island."""
        a, b = self._island(source), self._island(destination)
        if a == b:
            return Path(self.network.latency_s, self.network.bandwidth_bytes_per_s)
        capacity = self.uplink.capacity_bytes_per_s
        shared = ((f"island{a}.out", capacity), (f"island{b}.in", capacity))
        return Path(self.uplink.latency_s, self.uplink.bandwidth_bytes_per_s, shared)

    def _island(self, node: int) -> int:
        return bisect_right(list(accumulate(self.islands)), node)
