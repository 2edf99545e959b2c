# SPDX-License-Identifier: BSD-3-Clause
"""The tree that a fabric's routes make of its hosts: who is at one leaf switch, and who meets above.

Hosts whose routes pass at most so many switches are joined, by single linkage, for each number of switches
that occurs: at 1 these are the hosts of one leaf switch, in a fat tree at 3 those of one pod, and so on. Of
the two ways between hosts the longer one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.fabric.folder import is_dump, read_fabric
from isochrone.fabric.routes import Routes
from isochrone.fabric.switches import Switches, read_switches

UNREACHABLE = 65535
# Of anything that may not stand in a switch's name for Slurm.
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")


def read_tree(path: Path) -> Switches:
    """The switches of hosts: of a ``topology.conf``, or of a fabric's dumps.

    Raises:
        IsochroneError: the file is neither, or its fabric has no hosts.
    """
    return tree(Routes(read_fabric(path))) if is_dump(path) else read_switches(path)


def tree(routes: Routes) -> Switches:
    """The tree of a fabric's hosts.

    Raises:
        IsochroneError: it has none.
    """
    source = routes.fabric.source
    vertices = np.array(list(routes.wiring.hosts.values()), np.int64)
    names = list(routes.wiring.hosts)
    if not names:
        raise IsochroneError("has no hosts", source, "dump the fabric on a machine of it")
    # Loaded here, because surveys without a fabric start the sooner.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    first, leaf_of = _leaves(routes, vertices)
    # Hosts of one leaf are as far from all others, by all but the choice of the way.
    hops = routes.hops(vertices[first].tolist()).astype(np.int32)
    hops = np.maximum(hops, hops.T)
    rates = routes.rates_gbps(vertices.tolist())
    switch = _distinct(_leaf_name(routes, int(vertices[at])) for at in first)
    leaf = {name: switch[at] for name, at in zip(names, leaf_of, strict=True)}
    above: dict[str, str] = {}
    speeds: dict[str, float] = {}
    _add_speeds(speeds, switch, np.arange(len(first)), leaf_of, rates)
    group = np.arange(len(first))
    for tier, distance in enumerate(sorted(set(hops[hops < UNREACHABLE].tolist()) - {0}), start=1):
        _, wider = connected_components(csr_array(hops <= distance), directed=False)
        if wider.max() == group.max():
            continue
        higher = [f"tier-{tier}-{number}" for number in range(wider.max() + 1)]
        pairs = dict(zip(group.tolist(), wider.tolist(), strict=True))
        above |= {switch[inner]: higher[outer] for inner, outer in pairs.items()}
        group, switch = wider, higher
        _add_speeds(speeds, switch, group, leaf_of, rates)
    return Switches(source, leaf, above, speeds)


def _leaves(routes: Routes, vertices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One host of each leaf, and the number of the leaf of each host. Hosts without a switch are apart."""
    above = routes.wiring.arrays[6][vertices - len(routes.switches)].astype(np.int64)
    apart = (above < 0) | (above >= len(routes.switches))
    above[apart] = len(routes.switches) + vertices[apart]
    _, first, leaf_of = np.unique(above, return_index=True, return_inverse=True)
    return first, leaf_of


def _leaf_name(routes: Routes, vertex: int) -> str:
    at = int(routes.wiring.arrays[6][vertex - len(routes.switches)])
    name = _STRANGE.sub("-", routes.switches[at].name) if 0 <= at < len(routes.switches) else ""
    return name.strip("-._")[:128] or "switch"


def _distinct(names: Iterable[str]) -> list[str]:
    """Names that occur twice get a number, as descriptions of switches are often all the same."""
    found: list[str] = []
    seen: set[str] = set()
    for name in names:
        made, number = name, 1
        while made in seen:
            number += 1
            made = f"{name}-{number}"
        seen.add(made)
        found.append(made)
    return found


def _add_speeds(
    speeds: dict[str, float],
    switch: list[str],
    group: NDArray[np.int64],
    leaf_of: NDArray[np.int64],
    rates: NDArray[np.float32],
) -> None:
    """Of each switch the slowest cable between its hosts."""
    of_host = group[leaf_of]
    for number, name in enumerate(switch):
        members = np.flatnonzero(of_host == number)
        between = rates[np.ix_(members, members)]
        between = between[np.isfinite(between) & (between > 0)]
        if between.size:
            speeds[name] = float(between.min())
