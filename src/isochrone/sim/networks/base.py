# SPDX-License-Identifier: BSD-3-Clause
"""What all networks between the nodes of a simulated cluster have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

Steps = tuple[str | int, ...]
"""A place in a description: keys and indices."""

NEAREST: Steps = ("links", "network")


@dataclass(frozen=True)
class Link:
    """What one pair of ranks sees when nothing else is under way, and what all pairs together get.

    Attributes:
        latency_s: one-way time of an empty message from rank to rank, the ranks' overheads included.
        bandwidth_bytes_per_s: of one pair.
        capacity_bytes_per_s: of the shared link, each direction; ``inf``: as much as all pairs want.
    """

    latency_s: float
    bandwidth_bytes_per_s: float
    capacity_bytes_per_s: float


@dataclass(frozen=True)
class Path:
    """The way from one node to another between their network cards.

    Attributes:
        latency_s: one-way time of an empty message from rank to rank.
        bandwidth_bytes_per_s: of one pair.
        shared: name and capacity of each directed link between switches.
    """

    latency_s: float
    bandwidth_bytes_per_s: float
    shared: tuple[tuple[str, float], ...] = ()


class Network(Protocol):
    """How nodes are joined.

    Attributes:
        network: what pairs at the least distance see; its capacity is that of a network card.
    """

    @property
    def network(self) -> Link: ...

    def links(self) -> dict[Steps, Link]:
        """The links with a latency from rank to rank, by their place in the description."""

    def node_count_error(self, nodes: int) -> str | None:
        """Why that many nodes do not fit, or None."""

    def groups(self, nodes: int) -> dict[str, list[int]]:
        """Levels above the node, outermost first, each with the group label of every node."""

    def path(self, source: int, destination: int) -> Path:
        """What a pair of different nodes sees, and the directed links between switches that it crosses."""
