# SPDX-License-Identifier: BSD-3-Clause
"""A simulated cluster as data, the placement of ranks on its cores, and the levels that a survey should find
in it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, get_args

from isochrone.labels import numbered
from isochrone.sim.faults import Fault
from isochrone.sim.networks.base import Link, Network

Placement = Literal["block", "cyclic", "random"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


@dataclass(frozen=True)
class CoreGroups:
    """A level inside the node: its cores in groups of equal size, numbered one after the other.

    Attributes:
        name: ``l3``, ``numa``, ``socket`` or ``node``.
        cores: in each group.
        link: what pairs see that meet at this level; its capacity is that of the way from one group of the
            level below into this level.
    """

    name: str
    cores: int
    link: Link


@dataclass(frozen=True)
class System:
    """A simulated cluster and how ranks are placed on it: one rank on each core.

    Attributes:
        name: also the prefix of the host names.
        nodes: number of nodes.
        core_groups: the levels inside a node, innermost first; the last one is ``node``.
        network: what is between the nodes.
        placement: ``block`` fills node after node, ``cyclic`` deals the ranks out to the nodes in turn,
            ``random`` shuffles all cores.
        seed: of the random placement and of the noise.
        noise: every message takes its time times a lognormal factor of median 1 and this sigma; 0: none.
        send_overhead_s: time that a rank spends for each message that it sends, a part of every latency.
        receive_overhead_s: the same for each message received.
        eager_limit_bytes: larger messages wait for the receiver.
        core_capacity_bytes_per_s: what one core can send, and receive, in all.
        faults: what is slower than all this says.
    """

    name: str
    description: str
    nodes: int
    core_groups: tuple[CoreGroups, ...]
    network: Network
    placement: Placement
    seed: int
    noise: float
    send_overhead_s: float
    receive_overhead_s: float
    eager_limit_bytes: int
    core_capacity_bytes_per_s: float
    faults: tuple[Fault, ...] = ()

    @property
    def cores_per_node(self) -> int:
        """Cores of each node."""
        return self.core_groups[-1].cores

    @property
    def ranks(self) -> int:
        """Cores of all nodes."""
        return self.nodes * self.cores_per_node


def host_name(system: System, core: int) -> str:
    """The simulator's host of a core: ``NODE.cK``, from which a rank learns its place."""
    node, index = divmod(core, system.cores_per_node)
    return f"{node_name(system, node)}.c{index}"


def node_name(system: System, node: int) -> str:
    """The host name of a node."""
    return f"{system.name}-{node}"


def cores_of_ranks(system: System) -> list[int]:
    """The core of each rank; cores are numbered through all nodes."""
    cores = list(range(system.ranks))
    if system.placement == "cyclic":
        return sorted(cores, key=lambda core: (core % system.cores_per_node, core))
    if system.placement == "random":
        random.Random(system.seed).shuffle(cores)  # noqa: S311 - for repetition, not for secrets
    return cores


def truth(system: System) -> dict[str, list[int]]:
    """The levels that are there, outermost first, each with the group label of every rank.

    Labels count up in the order of the ranks. Levels that all ranks share, or where each rank would be a
    group of its own, separate nothing and are left out, except ``node``.
    """
    cores = cores_of_ranks(system)
    nodes = [core // system.cores_per_node for core in cores]
    levels = {
        name: [labels[node] for node in nodes] for name, labels in system.network.groups(system.nodes).items()
    }
    levels |= {group.name: [core // group.cores for core in cores] for group in reversed(system.core_groups)}
    found = {name: numbered(labels) for name, labels in levels.items()}
    return {
        name: labels for name, labels in found.items() if name == "node" or 0 < max(labels) < system.ranks - 1
    }
