# SPDX-License-Identifier: BSD-3-Clause
"""The network of a lab as data: a tree of links, what a message between two hosts takes at least, and the
levels that a survey should find.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

_FIRST_ADDRESS = IPv4Address("10.77.0.1")


@dataclass(frozen=True)
class Link:
    """A full-duplex cable; each direction has all of it.

    Attributes:
        rate_bytes_per_s: of Ethernet frames; infinite: not limited.
        delay_s: one way.
        queue_bytes: that wait at most before it; what comes then is dropped.
    """

    rate_bytes_per_s: float
    delay_s: float
    queue_bytes: int


@dataclass(frozen=True)
class Node:
    """A host or a switch, with the link to its parent.

    Attributes:
        name: of a host ``h0``, ``h1``, …; of a switch ``site0``, ``rack0``, …
        kind: ``host``, ``rack``, ``site``, or ``core`` for the root.
        parent: its index; None for the root.
        link: to the parent; None for the root.
    """

    name: str
    kind: str
    parent: int | None
    link: Link | None


@dataclass(frozen=True)
class Network:
    """A lab's network: nodes in an order in which parents come before their children."""

    name: str
    description: str
    nodes: tuple[Node, ...]

    @functools.cached_property
    def hosts(self) -> tuple[int, ...]:
        """The indices of the hosts; host ``hK`` is number K."""
        return tuple(index for index, node in enumerate(self.nodes) if node.kind == "host")

    @property
    def host_names(self) -> list[str]:
        """``h0``, ``h1``, …"""
        return [self.nodes[index].name for index in self.hosts]

    def address(self, host: int) -> str:
        """The IPv4 address of a host."""
        return str(_FIRST_ADDRESS + host)

    def ancestors(self, node: int) -> list[int]:
        """The node itself and all above it but the root: those whose links a message to the root crosses."""
        found = []
        parent = self.nodes[node].parent
        while parent is not None:
            found.append(node)
            node = parent
            parent = self.nodes[node].parent
        return found

    def links_between(self, host_a: int, host_b: int) -> list[Link]:
        """The links that a message from one host to another crosses; none within a host."""
        above_a, above_b = (self.ancestors(self.hosts[host]) for host in (host_a, host_b))
        crossed = set(above_a) ^ set(above_b)
        return [link for node in crossed if (link := self.nodes[node].link) is not None]

    def delay_s(self, host_a: int, host_b: int) -> float:
        """What any message takes at least, one way."""
        return math.fsum(link.delay_s for link in self.links_between(host_a, host_b))

    def truth(self, host_of_rank: Sequence[int]) -> dict[str, list[int]]:
        """The levels that a survey should find, outermost first: the group of each rank, numbered in rank
        order.

        Levels that all ranks share separate nothing and are left out, and so is a level equal to the one
        inside it.
        """
        levels: dict[str, list[int]] = {}
        for kind in ("site", "rack", "host"):
            if kind != "host" and not any(node.kind == kind for node in self.nodes):
                continue
            groups = [self._group(kind, host) for host in host_of_rank]
            numbers: dict[int, int] = {}
            labels = [numbers.setdefault(group, len(numbers)) for group in groups]
            if kind == "host":
                levels = {name: outer for name, outer in levels.items() if outer != labels}
                levels["node"] = labels
            elif len(numbers) > 1:
                levels[kind] = labels
        return levels

    def _group(self, kind: str, host: int) -> int:
        above = self.ancestors(self.hosts[host])
        return next((node for node in above if self.nodes[node].kind == kind), above[-1])

    def to_json(self) -> dict[str, Any]:
        """What `isochrone-lab` reads."""
        nodes: list[dict[str, Any]] = []
        hosts = {index: number for number, index in enumerate(self.hosts)}
        for index, node in enumerate(self.nodes):
            entry: dict[str, Any] = {"name": node.name, "kind": node.kind, "parent": node.parent}
            if node.link is not None:
                rate = node.link.rate_bytes_per_s
                entry |= {
                    "bytes_per_s": rate if math.isfinite(rate) else 0,
                    "delay_s": node.link.delay_s,
                    "queue_bytes": node.link.queue_bytes,
                }
            if index in hosts:
                entry["address"] = self.address(hosts[index])
            nodes.append(entry)
        return {"name": self.name, "description": self.description, "nodes": nodes}

    @staticmethod
    def from_json(content: dict[str, Any]) -> Network:
        """What ``to_json`` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        nodes = []
        for entry in content["nodes"]:
            link = None
            if entry["parent"] is not None:
                rate = float(entry["bytes_per_s"]) or math.inf
                link = Link(rate, float(entry["delay_s"]), int(entry["queue_bytes"]))
            nodes.append(Node(str(entry["name"]), str(entry["kind"]), entry["parent"], link))
        return Network(str(content["name"]), str(content["description"]), tuple(nodes))

    def bound_s(self, root: int, hosts: Sequence[int], size_bytes: int) -> float:
        """What a broadcast takes at least, whatever the algorithm: each byte must come to the farthest host
        over every link on the way, so the delays on that way and the message once over its slowest link.

        Args:
            root: host of the root.
            hosts: all that have ranks.
            size_bytes: of the message, without headers.
        """
        bound = 0.0
        for host in hosts:
            links = self.links_between(root, host)
            if links:
                slowest = min(link.rate_bytes_per_s for link in links)
                bound = max(bound, self.delay_s(root, host) + size_bytes / slowest)
        return bound
