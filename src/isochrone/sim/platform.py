# SPDX-License-Identifier: BSD-3-Clause
"""What the simulator is told: the platform's description, the host of each rank, and its settings.

``native/sim`` builds exactly what the platform's description says. A latency in it is that of the system less
what the simulator adds to every eager message: both overheads, and the bytes of an envelope. So ranks measure
the system's latency.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from isochrone.sim.faults import SlowNode, path_with
from isochrone.sim.networks.base import Link
from isochrone.sim.system import System, cores_of_ranks, host_name, node_name

# SMPI sends that many bytes beside those of the user, so that an empty message is not quite empty.
_ENVELOPE_BYTES = 16
# Far above what any link carries, where a link is not limited: SimGrid knows no infinity.
_UNLIMITED_BYTES_PER_S = 1e18


@functools.lru_cache(maxsize=4)
def platform_text(system: System) -> str:
    """The JSON text of `platform_description`. One benchmark is many launches, and a cluster of a thousand
    nodes has a million paths.
    """
    return json.dumps(platform_description(system))


def platform_description(system: System) -> dict[str, Any]:
    """The JSON document that ``native/sim`` reads (its form is in ``description.hpp``)."""
    pairs: dict[tuple[float, float], int] = {}
    shared: dict[str, int] = {}
    capacities: list[float] = []
    routes: list[list[Any]] = []
    for source in range(system.nodes):
        for destination in range(system.nodes):
            if source == destination:
                continue
            path = path_with(
                system.faults,
                source,
                destination,
                system.network.path(source, destination),
                _overhead_s(system) / 2,
            )
            pair = pairs.setdefault((path.latency_s, path.bandwidth_bytes_per_s), len(pairs))
            for name, capacity in path.shared:
                if name not in shared:
                    shared[name] = len(shared)
                    capacities.append(min(capacity, _UNLIMITED_BYTES_PER_S))
            routes.append([source, destination, pair, [shared[name] for name, _ in path.shared]])
    return {
        "nodes": [node_name(system, node) for node in range(system.nodes)],
        "core_capacity_bytes_per_s": system.core_capacity_bytes_per_s,
        "nic_capacity_bytes_per_s": min(system.network.network.capacity_bytes_per_s, _UNLIMITED_BYTES_PER_S),
        "core_groups": _core_groups(system, [group.link for group in system.core_groups]),
        "slow_nodes": [
            [fault.node, _core_groups(system, [fault.within(group.link) for group in system.core_groups])]
            for fault in system.faults
            if isinstance(fault, SlowNode)
        ],
        "pairs": [_pair(system, latency_s, bandwidth) for latency_s, bandwidth in pairs],
        "shared_link_capacity_bytes_per_s": capacities,
        "routes": routes,
        "noise": {"sigma": system.noise, "seed": system.seed, "overhead_s": _overhead_s(system)},
    }


def _core_groups(system: System, links: Sequence[Link]) -> list[dict[str, Any]]:
    """The levels inside a node whose links are these, innermost first."""
    return [
        {
            "cores": group.cores,
            **_pair(system, link.latency_s, link.bandwidth_bytes_per_s),
            "capacity_bytes_per_s": _capacity(link),
        }
        for group, link in zip(system.core_groups, links, strict=True)
    ]


def hostfile(system: System, at: Sequence[int] | None = None) -> str:
    """One line for each rank: its core. With `at` rank r is where rank at[r] would be."""
    cores = cores_of_ranks(system)
    places = cores if at is None else [cores[place] for place in at]
    return "".join(f"{host_name(system, core)}\n" for core in places)


def settings(system: System, selector: str) -> list[str]:
    """SimGrid's settings, as command-line options.

    Times are those of the system and nothing else: no correction factors, no traffic of acknowledgements, no
    TCP window, no time for computation or for asking (``MPI_Test`` and ``MPI_Wtime`` still let a little time
    pass, as a loop around them would never end otherwise). Messages up to the eager limit leave at once and
    are buffered at the receiver; larger ones wait for it. Overheads are a constant for each eager message;
    with SimGrid, a larger one has none but in ``MPI_Isend``.

    Args:
        system: the simulated cluster.
        selector: of SimGrid's collectives: ``ompi``, ``mpich``, ``default``.
    """
    innermost = system.core_groups[0].link
    loopback = _pair(system, innermost.latency_s, innermost.bandwidth_bytes_per_s)
    eager = system.eager_limit_bytes + 1  # SimGrid's thresholds are the first size that is too large
    send, receive = f"0:{system.send_overhead_s!r}:0", f"0:{system.receive_overhead_s!r}:0"
    values = {
        "smpi/coll-selector": selector,
        "smpi/simulate-computation": "no",
        "smpi/host-speed": "1Gf",  # not used, but warned about if missing
        "smpi/bw-factor": "0:1",
        "smpi/os": send,
        "smpi/ois": send,
        "smpi/or": receive,
        "smpi/async-small-thresh": str(eager),
        "smpi/send-is-detached-thresh": str(eager),
        "smpi/test": "2e-8",
        "smpi/iprobe": "2e-8",
        "smpi/wtime": "1e-10",
        "smpi/grow-injected-times": "no",
        # Buffers that stand for each other are mapped block by block; a process may have 65,530 mappings.
        "smpi/shared-malloc-blocksize": str(1 << 26),
        "network/crosstraffic": "no",
        "network/TCP-gamma": "1e30",
        "network/loopback-lat": repr(loopback["latency_s"]),
        "network/loopback-bw": repr(innermost.bandwidth_bytes_per_s),
        "surf/precision": "1e-12",
    }
    if system.noise == 0:
        values["smpi/lat-factor"] = (
            "0:1"  # with noise, the platform sets the factors, and SimGrid wants no others
        )
    return [f"--cfg={key}:{value}" for key, value in values.items()] + ["--log=root.thres:error"]


def wire_latency_s(system: System, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    """What is left of a latency for the link itself; below 0 if the system's overheads leave nothing."""
    return latency_s - _overhead_s(system) - _ENVELOPE_BYTES / bandwidth_bytes_per_s


def _pair(system: System, latency_s: float, bandwidth_bytes_per_s: float) -> dict[str, float]:
    wire_s = wire_latency_s(system, latency_s, bandwidth_bytes_per_s)
    return {"latency_s": max(wire_s, 0.0), "bandwidth_bytes_per_s": bandwidth_bytes_per_s}


def _overhead_s(system: System) -> float:
    return system.send_overhead_s + system.receive_overhead_s


def _capacity(link: Link) -> float | None:
    return None if link.capacity_bytes_per_s >= _UNLIMITED_BYTES_PER_S else link.capacity_bytes_per_s
