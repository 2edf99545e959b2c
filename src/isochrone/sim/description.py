# SPDX-License-Identifier: BSD-3-Clause
"""Reads the description of a simulated cluster.

A description is a YAML file; ``systems/fram.yaml`` is one with every common key explained. Times are texts
like ``0.5us`` or seconds, rates ``10GB/s``, ``100Gbit/s`` or bytes per second, sizes ``16KiB`` or bytes::

    name: small                # also the prefix of the host names
    nodes: 4
    sockets: 2                 # per node
    cores: 8                   # per socket
    numa: 1                    # NUMA domains per socket (default 1)
    l3_cores: 4                # cores that share an L3 cache (default: all of a NUMA domain)
    placement: block           # or cyclic, or random (default block)
    seed: 1                    # of random placement and noise (default 1)
    noise: 0.1                 # sigma of the lognormal factor on the time of each message (default 0)
    send_overhead: 50ns        # a part of every latency (default: a tenth of the least latency)
    receive_overhead: 50ns
    eager_limit: 16KiB         # larger messages wait for the receiver (default 16 KiB)
    links:                     # what a pair of ranks sees at the innermost level that it shares
      l3:      {latency: 0.3us, bandwidth: 14GB/s}                     # where l3_cores divides a domain
      numa:    {latency: 0.4us, bandwidth: 12GB/s}                     # where numa > 1
      socket:  {latency: 0.5us, bandwidth: 10GB/s, capacity: 25GB/s}   # where sockets > 1
      node:    {latency: 0.8us, bandwidth: 8GB/s, capacity: 32GB/s}
      network: {latency: 1.5us, bandwidth: 11GB/s, capacity: 12GB/s}   # where nodes > 1
    network: {kind: star}      # the default

``latency`` is half the round trip of an empty message between two ranks, ``bandwidth`` that of one pair by
itself. ``capacity`` is what all pairs together get, each direction: of the innermost level what a core, of
``network`` what a network card, of the others what a group of the level below (a socket, for ``node``) sends
out. It is by default the bandwidth between nodes, four times the bandwidth between sockets, and not limited
inside a socket; a core carries the largest bandwidth of all levels. Links of levels that the cluster does not
have are allowed, and not used. Networks between the nodes::

    # one uplink for each island
    {kind: islands, islands: [3, 4], uplink: LINK}
    # children of a switch and parents of what is below it, leaf switches first; a link for each higher level
    {kind: fat-tree, down: [4, 2], up: [1, 2], uplinks: [LINK]}
    {kind: dragonfly, groups: 3, routers_per_group: 2, nodes_per_router: 2, local: LINK, global: LINK}
    # the latency of a hop is what each further hop adds
    {kind: torus, dimensions: [4, 2], hop: LINK}

``faults`` plants what ``isochrone doctor`` should find. Nodes count from 0::

    faults:
      - {cable: 3, latency: 1.5}                # of node 3, to and from all others: half as long again
      - {between: [2, 5], bandwidth: 0.5}       # the way between two nodes: half as fast
      - {between: [2, 5], bandwidth: 0.5, one_way: true}    # only from the first to the second
      - {node: 4, slowdown: 2}                  # throttled: its own times are twice as long
"""

from __future__ import annotations

import dataclasses
from importlib import resources
from typing import Any, get_args

from isochrone.descriptions.shipped import load_description, shipped_names
from isochrone.errors import UsageError
from isochrone.sim.reader import read_system
from isochrone.sim.system import PLACEMENTS, Placement, System

_SYSTEMS = resources.files("isochrone.sim") / "systems"


def shipped_systems() -> list[str]:
    """Names of the systems that come with Isochrone."""
    return shipped_names(_SYSTEMS)


def load_system(
    name_or_path: str, placement: str | None = None, seed: int | None = None, noise: float | None = None
) -> System:
    """The system of that name, or that the file describes.

    Args:
        name_or_path: one of ``shipped_systems()``, or a path: with a ``/`` or a suffix.
        placement: ``block``, ``cyclic`` or ``random``, instead of the file's.
        seed: of random placement and noise, instead of the file's.
        noise: sigma, instead of the file's.

    Raises:
        IsochroneError: the file is wrong.
        UsageError: there is no such system, or an argument is wrong.
    """
    overrides: dict[str, Any] = {}
    if placement is not None:
        if placement not in get_args(Placement):
            raise UsageError(
                f"{placement!r} is no placement", "--placement", f"use one of {', '.join(PLACEMENTS)}"
            )
        overrides["placement"] = placement
    if seed is not None:
        if not 0 <= seed < 2**32:
            raise UsageError(f"{seed} is no seed", "--seed", "use a whole number from 0 to 4294967295")
        overrides["seed"] = seed
    if noise is not None:
        if not 0 <= noise <= 2:
            raise UsageError(
                f"{noise} is no noise", "--noise", "use a number from 0 to 2, such as 0.1 for 10 %"
            )
        overrides["noise"] = float(noise)
    system = load_description(_SYSTEMS, name_or_path, read_system, "simulated system", "--sim")
    return dataclasses.replace(system, **overrides)
