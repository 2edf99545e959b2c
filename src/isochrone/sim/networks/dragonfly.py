# SPDX-License-Identifier: BSD-3-Clause
"""Dragonflies: groups of routers, each group joined to each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isochrone.sim.networks.base import NEAREST, Link, Path, Steps


@dataclass(frozen=True)
class Dragonfly:
    """Groups of routers, all joined within a group, one link between every two groups; minimal routing.

    Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", 2008.

    Attributes:
        network: pairs at one router.
        local: pairs at two routers of one group.
        global_: pairs of two groups whose routers hold the link between the groups; each hop to such a router
            adds what ``local`` costs over ``network``.
    """

    network: Link
    groups_count: int
    routers_per_group: int
    nodes_per_router: int
    local: Link
    global_: Link

    def links(self) -> dict[Steps, Link]:
        """The links with a latency from rank to rank, by their place in the description."""
        return {
            NEAREST: self.network,
            ("network", "local"): self.local,
            ("network", "global"): self.global_,
        }

    def node_count_error(self, nodes: int) -> str | None:
        """Why ``nodes`` do not fit, or None. Places may stay empty."""
        places = self.groups_count * self.routers_per_group * self.nodes_per_router
        return (
            None
            if nodes <= places
            else f"the dragonfly has {places} places, but the cluster has {nodes} nodes"
        )

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """``rack``: the dragonfly's group of each node; ``switch``: its router."""
        routers = [node // self.nodes_per_router for node in range(nodes)]
        return {"rack": [router // self.routers_per_group for router in routers], "switch": routers}

    def path(self, source: int, destination: int) -> Path:
        """At most local, global, local."""
        a, b = source // self.nodes_per_router, destination // self.nodes_per_router
        group_a, group_b = a // self.routers_per_group, b // self.routers_per_group
        if a == b:
            return Path(self.network.latency_s, self.network.bandwidth_bytes_per_s)
        if group_a == group_b:
            return Path(self.local.latency_s, self.local.bandwidth_bytes_per_s, (self._local(a, b),))
        leave, enter = self._gateway(group_a, group_b), self._gateway(group_b, group_a)
        shared = [(f"group{group_a}.{group_b}", self.global_.capacity_bytes_per_s)]
        if a != leave:
            shared.insert(0, self._local(a, leave))
        if b != enter:
            shared.append(self._local(enter, b))
        hop_s = self.local.latency_s - self.network.latency_s
        latency_s = self.global_.latency_s + (len(shared) - 1) * hop_s
        bandwidth = min(
            self.global_.bandwidth_bytes_per_s,
            self.local.bandwidth_bytes_per_s if len(shared) > 1 else math.inf,
        )
        return Path(latency_s, bandwidth, tuple(shared))

    def _gateway(self, group: int, other: int) -> int:
        """The router of ``group`` that holds its link to ``other``: the links go round the routers."""
        return group * self.routers_per_group + (other - (other > group)) % self.routers_per_group

    def _local(self, a: int, b: int) -> tuple[str, float]:
        return f"router{a}.{b}", self.local.capacity_bytes_per_s
