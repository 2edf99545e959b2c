# SPDX-License-Identifier: BSD-3-Clause
"""Placement of ranks, the levels that are there, and the networks between nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.sim.description import load_system
from isochrone.sim.networks.base import Link, Network
from isochrone.sim.networks.dragonfly import Dragonfly
from isochrone.sim.networks.fat_tree import FatTree
from isochrone.sim.networks.islands import Islands
from isochrone.sim.networks.star import Star
from isochrone.sim.networks.torus import Torus
from isochrone.sim.platform import hostfile
from isochrone.sim.system import System, cores_of_ranks, truth
from isochrone.sim.target import SimTarget

LINKS = "links: {node: {latency: 0.5us, bandwidth: 5GB/s}, network: {latency: 1us, bandwidth: 5GB/s}}"
NEAR, FAR, FARTHER = Link(1e-6, 5e9, 5e9), Link(2e-6, 4e9, 9e9), Link(3e-6, 3e9, 9e9)


@pytest.fixture
def small(write_system: Callable[[str], Path]) -> Callable[[str], System]:
    """Three nodes of two cores in a placement."""
    path = write_system(f"name: small\nnodes: 3\nsockets: 1\ncores: 2\n{LINKS}")
    return lambda placement: load_system(str(path), placement=placement)


def test_block_fills_node_after_node(small: Callable[[str], System]) -> None:
    assert truth(small("block")) == {"node": [0, 0, 1, 1, 2, 2]}
    assert hostfile(small("block")).split()[:3] == ["small-0.c0", "small-0.c1", "small-1.c0"]


def test_cyclic_deals_ranks_out_to_nodes(small: Callable[[str], System]) -> None:
    assert truth(small("cyclic")) == {"node": [0, 1, 2, 0, 1, 2]}
    assert hostfile(small("cyclic")).split()[2:] == ["small-2.c0", "small-0.c1", "small-1.c1", "small-2.c1"]


def test_random_uses_every_core_once_and_repeats_by_its_seed() -> None:
    first, again = load_system("demo", seed=3), load_system("demo", seed=3)
    other = load_system("demo", seed=4)

    assert sorted(cores_of_ranks(first)) == list(range(64))
    assert cores_of_ranks(first) == cores_of_ranks(again) != cores_of_ranks(other)


def test_levels_that_separate_nothing_are_left_out(write_system: Callable[[str], Path]) -> None:
    links = "links: {socket: {latency: 0.3us, bandwidth: 5GB/s}, node: {latency: 0.5us, bandwidth: 5GB/s}}"
    one_core_sockets = write_system(f"name: x\nnodes: 1\nsockets: 4\ncores: 1\n{links}")
    assert truth(load_system(str(one_core_sockets))) == {"node": [0, 0, 0, 0]}

    one_rank = write_system(f"name: x\nnodes: 1\nsockets: 1\ncores: 1\n{links}")
    assert truth(load_system(str(one_rank))) == {"node": [0]}


def test_levels_come_outermost_first_and_refine_one_another() -> None:
    levels = truth(load_system("fram", placement="random"))

    assert list(levels) == ["switch", "node", "socket"]
    for outer, inner in (("switch", "node"), ("node", "socket")):
        assert len(set(zip(levels[outer], levels[inner], strict=True))) == len(set(levels[inner]))


def networks() -> st.SearchStrategy[tuple[Network, int]]:
    """Networks together with a number of nodes that fits."""
    few = st.integers(1, 4)
    islands = st.lists(few, min_size=1, max_size=4).map(
        lambda sizes: (Islands(NEAR, tuple(sizes), FAR), sum(sizes))
    )
    fat_trees = st.tuples(few, few, few, few, few).flatmap(
        lambda n: st.tuples(
            st.just(FatTree(NEAR, (n[0], n[1], n[2]), (1, n[3], n[4]), (FAR, FARTHER))),
            st.integers(1, n[0] * n[1] * n[2]),
        )
    )
    dragonflies = st.tuples(st.integers(1, 6), few, few).flatmap(
        lambda n: st.tuples(
            st.just(Dragonfly(NEAR, *n, local=FAR, global_=FARTHER)), st.integers(1, n[0] * n[1] * n[2])
        )
    )
    tori = st.lists(few, min_size=1, max_size=3).map(lambda d: (Torus(NEAR, tuple(d), FAR), _product(d)))
    return st.one_of(islands, fat_trees, dragonflies, tori)


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


@given(networks())
def test_every_pair_of_nodes_is_as_far_there_as_back(case: tuple[Network, int]) -> None:
    network, nodes = case
    assert network.node_count_error(nodes) is None
    for a in range(nodes):
        for b in range(a):
            there, back = network.path(a, b), network.path(b, a)
            assert there.latency_s == back.latency_s >= NEAR.latency_s
            assert there.bandwidth_bytes_per_s == back.bandwidth_bytes_per_s
            assert len(there.shared) == len(back.shared) == len(set(there.shared))


@given(networks())
def test_nodes_below_one_switch_are_nearest_and_nodes_of_two_are_not(case: tuple[Network, int]) -> None:
    network, nodes = case
    switches = network.groups(nodes).get("switch")
    if switches is None:
        return
    for a in range(nodes):
        for b in range(a):
            nearest = network.path(a, b).latency_s == NEAR.latency_s
            assert nearest == (switches[a] == switches[b])


@given(networks())
def test_pairs_that_share_no_switch_and_no_end_share_a_link_only_in_one_direction(
    case: tuple[Network, int],
) -> None:
    network, nodes = case
    for a in range(nodes):
        for b in range(a):
            assert not set(network.path(a, b).shared) & set(network.path(b, a).shared)


def test_a_fat_tree_spreads_destinations_over_the_ways_up() -> None:
    tree = FatTree(NEAR, (4, 2), (1, 4), (FAR,))

    first_links = {tree.path(0, destination).shared[0] for destination in range(4, 8)}

    assert len(first_links) == 4


def test_a_dragonfly_takes_the_local_hops_that_it_needs() -> None:
    dragonfly = Dragonfly(
        NEAR, groups_count=5, routers_per_group=2, nodes_per_router=1, local=FAR, global_=FARTHER
    )
    hops = {len(dragonfly.path(0, destination).shared) for destination in range(2, 10)}

    assert hops == {1, 2, 3}
    assert dragonfly.path(0, 1).latency_s == FAR.latency_s
    for destination in range(2, 10):
        path = dragonfly.path(0, destination)
        assert path.latency_s == pytest.approx(3e-6 + (len(path.shared) - 1) * 1e-6)


def test_a_torus_goes_the_shorter_way_round() -> None:
    torus = Torus(NEAR, (5, 4), FAR)

    assert len(torus.path(0, 4 * 4).shared) == 1
    assert len(torus.path(0, 2 * 4 + 2).shared) == 4
    assert torus.path(0, 10).latency_s == pytest.approx(NEAR.latency_s + 3 * FAR.latency_s)


def test_what_times_depend_on_is_more_than_a_clusters_name() -> None:
    system = load_system("demo", "random")
    slower = replace(system, network=Star(Link(1e-3, 1e6, 1e6)))
    assert SimTarget(system).identity == SimTarget(load_system("demo", "random")).identity
    for other in (slower, replace(system, placement="block"), replace(system, seed=system.seed + 1)):
        assert SimTarget(other).name == SimTarget(system).name
        assert SimTarget(other).identity != SimTarget(system).identity
    assert SimTarget(system).arranged([0, 1]).identity != SimTarget(system).arranged([0, 8]).identity
