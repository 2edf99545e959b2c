# SPDX-License-Identifier: BSD-3-Clause
"""What can be broken in a simulated cluster, to see whether it is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from isochrone.sim.networks.base import Link, Path


@dataclass(frozen=True)
class SlowLink:
    """A cable between nodes that is worse than the others of its kind.

    Attributes:
        nodes: one: all that it sends to other nodes and receives from them; two: what goes between them.
        latency: factor on the latency from rank to rank.
        bandwidth: factor on the bandwidth.
        one_way: whether only what the first of the nodes sends is worse.
    """

    nodes: tuple[int, ...]
    latency: float = 1.0
    bandwidth: float = 1.0
    one_way: bool = False

    def on_path(self, source: int, destination: int, path: Path) -> Path:
        """The path as it is with this fault."""
        if not set(self.nodes) <= {source, destination} or (self.one_way and source != self.nodes[0]):
            return path
        return replace(
            path,
            latency_s=path.latency_s * self.latency,
            bandwidth_bytes_per_s=path.bandwidth_bytes_per_s * self.bandwidth,
        )


@dataclass(frozen=True)
class SlowNode:
    """A throttled node: messages within it take longer, and so does what it does for those of other nodes.

    Attributes:
        node: its number.
        slowdown: factor on all of its times, at least 1.
    """

    node: int
    slowdown: float

    def within(self, link: Link) -> Link:
        """A link inside the node as it is with this fault."""
        return replace(
            link,
            latency_s=link.latency_s * self.slowdown,
            bandwidth_bytes_per_s=link.bandwidth_bytes_per_s / self.slowdown,
        )

    def on_path(self, source: int, destination: int, path: Path, overhead_s: float) -> Path:
        """The path as it is with this fault; ``overhead_s`` is that of a rank for a message."""
        if self.node not in (source, destination):
            return path
        return replace(path, latency_s=path.latency_s + (self.slowdown - 1) * overhead_s)


Fault = SlowLink | SlowNode


def path_with(faults: Iterable[Fault], source: int, destination: int, path: Path, overhead_s: float) -> Path:
    """The path between two nodes as it is with all faults."""
    for fault in faults:
        if isinstance(fault, SlowLink):
            path = fault.on_path(source, destination, path)
        else:
            path = fault.on_path(source, destination, path, overhead_s)
    return path
