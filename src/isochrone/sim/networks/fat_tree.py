# SPDX-License-Identifier: BSD-3-Clause
"""Fat trees: levels of switches, with several ways up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

from isochrone.sim.networks.base import NEAREST, Link, Path, Steps


@dataclass(frozen=True)
class FatTree:
    """An extended generalised fat tree XGFT(h; down; up) with destination-routed up-paths (D-mod-k).

    A switch of level i (leaves: 0) has ``down[i]`` children, and each of those has ``up[i]`` parents.
    Öhring, Ibel, Das, Kumar, "On generalized fat trees", 1995; Zahavi, "D-Mod-K routing", 2010.

    Attributes:
        network: pairs below the same leaf switch.
        down: children of a switch, leaf switches first.
        up: parents of a node (1), of a leaf switch, and so on.
        uplinks: pairs that meet one, two, … levels above the leaf switches.
    """

    network: Link
    down: tuple[int, ...]
    up: tuple[int, ...]
    uplinks: tuple[Link, ...]

    def links(self) -> dict[Steps, Link]:
        """The links with a latency from rank to rank, by their place in the description."""
        higher: dict[Steps, Link] = {("network", "uplinks", i): link for i, link in enumerate(self.uplinks)}
        return {NEAREST: self.network, **higher}

    def node_count_error(self, nodes: int) -> str | None:
        """Why ``nodes`` do not fit below the tree, or None. Places may stay empty."""
        places = math.prod(self.down)
        return (
            None
            if nodes <= places
            else f"the fat tree has {places} places, but the cluster has {nodes} nodes"
        )

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """``switch``: the leaf switch of each node; ``rack``: what lies below the next level, if the tree is
        higher.
        """
        spans = list(accumulate(self.down, lambda a, b: a * b))
        names = ["switch", "rack", "site"][: len(spans) - 1]
        levels = {
            name: [node // span for node in range(nodes)] for name, span in zip(names, spans, strict=False)
        }
        return dict(reversed(levels.items()))

    def path(self, source: int, destination: int) -> Path:
        """Up to the lowest common switch, at each level by the parent that the destination's number chooses,
        and down.
        """
        spans = [1, *accumulate(self.down, lambda a, b: a * b)]
        meeting = next(h for h in range(1, len(spans)) if source // spans[h] == destination // spans[h])
        if meeting == 1:
            return Path(self.network.latency_s, self.network.bandwidth_bytes_per_s)
        parents: list[int] = [0]
        out: list[tuple[str, float]] = []
        into: list[tuple[str, float]] = []
        for level in range(1, meeting):
            parents.append(destination // spans[level - 1] % self.up[level])
            way = ".".join(map(str, parents))
            capacity = self.uplinks[level - 1].capacity_bytes_per_s
            out.append((f"level{level}.{source // spans[level]}.{way}.out", capacity))
            into.append((f"level{level}.{destination // spans[level]}.{way}.in", capacity))
        link = self.uplinks[meeting - 2]
        return Path(link.latency_s, link.bandwidth_bytes_per_s, (*out, *reversed(into)))
