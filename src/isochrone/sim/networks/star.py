# SPDX-License-Identifier: BSD-3-Clause
"""A star: all nodes at one switch."""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.sim.networks.base import NEAREST, Link, Path, Steps


@dataclass(frozen=True)
class Star:
    """All nodes at one switch."""

    network: Link

    def links(self) -> dict[Steps, Link]:
        """The links with a latency from rank to rank, by their place in the description."""
        return {NEAREST: self.network}

    def node_count_error(self, nodes: int) -> str | None:
        """None: any number of nodes fits."""
        return None

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """No levels above the node."""
        return {}

    def path(self, source: int, destination: int) -> Path:
        """The same for every pair."""
        return Path(self.network.latency_s, self.network.bandwidth_bytes_per_s)
