# SPDX-License-Identifier: BSD-3-Clause
"""The tree that a fabric's routes make of its hosts: who is at one leaf switch, and who meets above.

Hosts whose routes pass at most so many switches are joined, by single linkage, for each number of switches
that occurs: at 1 these are the hosts of one leaf switch, in a fat tree at 3 those of one pod, and so on. Of
the two ways between hosts the longer one counts, and of the hosts of two leaves those that are nearest: a
host whose routes do not arrive, such as one without a LID yet, is still at its leaf.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.fabric.folder import is_dump, read_fabric
from isochrone.fabric.routes import UNREACHABLE, Routes
from isochrone.fabric.switches import Switches, read_switches

LOG = logging.getLogger("isochrone.fabric")

# Of anything that may not stand in a switch's name for Slurm.
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")


def read_tree(path: Path) -> Switches:
    """The switches of hosts: of a ``topology.conf``, or of a fabric's dumps.

    Raises:
        IsochroneError: the file is neither, or its fabric has no hosts.
    """
    return tree(Routes(read_fabric(path))) if is_dump(path) else read_switches(path)


def tree(routes: Routes) -> Switches:
    """The tree of a fabric's hosts. Where routes do not join all of them, it is several, and the log says so.

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
    hops = _between(routes.hops(vertices.tolist()), leaf_of)
    # Two hosts on one cable pass no switch, and are joined all the same.
    np.fill_diagonal(hops, UNREACHABLE)
    rates = routes.rates_gbps(vertices.tolist())
    distinct = _Distinct()
    switch = [distinct(_leaf_name(routes, int(vertices[at]))) for at in first]
    leaf = {name: switch[at] for name, at in zip(names, leaf_of, strict=True)}
    above: dict[str, str] = {}
    speeds: dict[str, float] = {}
    _add_speeds(speeds, switch, np.arange(len(first)), leaf_of, rates)
    group = np.arange(len(first))
    for tier, distance in enumerate(sorted(set(hops[hops < UNREACHABLE].tolist())), start=1):
        _, wider = connected_components(csr_array(hops <= distance), directed=False)
        if wider.max() == group.max():
            continue
        higher = [distinct(f"tier-{tier}-{number}") for number in range(wider.max() + 1)]
        pairs = dict(zip(group.tolist(), wider.tolist(), strict=True))
        above |= {switch[inner]: higher[outer] for inner, outer in pairs.items()}
        group, switch = wider, higher
        _add_speeds(speeds, switch, group, leaf_of, rates)
    _say_apart(source, names, group[leaf_of])
    return Switches(source, leaf, above, speeds)


def _leaves(routes: Routes, vertices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One host of each leaf, and the number of the leaf of each host. Hosts without a switch are apart."""
    above = routes.wiring.arrays[6][vertices - len(routes.switches)].astype(np.int64)
    apart = (above < 0) | (above >= len(routes.switches))
    above[apart] = len(routes.switches) + vertices[apart]
    _, first, leaf_of = np.unique(above, return_index=True, return_inverse=True)
    return first, leaf_of


def _between(hops: NDArray[np.uint16], leaf_of: NDArray[np.int64]) -> NDArray[np.uint16]:
    """[leaf, leaf], the fewest switches between a host of the one and a host of the other, both ways."""
    order = np.argsort(leaf_of, kind="stable")
    begins = np.flatnonzero(np.diff(leaf_of[order], prepend=-1))
    rows = np.minimum.reduceat(np.maximum(hops, hops.T)[order], begins, axis=0)
    return np.minimum.reduceat(rows[:, order], begins, axis=1)


def _say_apart(source: str, hosts: list[str], part_of: NDArray[np.int64]) -> None:
    sizes = np.bincount(part_of)
    if len(sizes) > 1:
        apart = np.flatnonzero(part_of != sizes.argmax())
        LOG.warning(
            "%s: routes join the hosts to %d parts, not to one; %d are not in the largest, such as %s",
            source,
            len(sizes),
            len(apart),
            hosts[apart[0]],
        )


def _leaf_name(routes: Routes, vertex: int) -> str:
    at = int(routes.wiring.arrays[6][vertex - len(routes.switches)])
    name = _STRANGE.sub("-", routes.switches[at].name) if 0 <= at < len(routes.switches) else ""
    return name.strip("-._")[:128] or "switch"


class _Distinct:
    """Makes names of switches that are all different, whatever tier they are of. Those that occur twice get a
    number, as descriptions of switches are often all the same.
    """

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        made = name
        while made in self._times:
            self._times[name] += 1
            made = f"{name}-{self._times[name]}"
        self._times[made] = 1
        return made


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
