# SPDX-License-Identifier: BSD-3-Clause
"""Where a study puts ranks, and what it calls the parts that hold them."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.errors import UsageError
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.studies import speedup
from isochrone.studies.places import (
    ALIKE,
    CORE,
    GIVEN,
    NODE,
    SCATTERED,
    SOCKET,
    Arrangement,
    Machine,
    simulated_machine,
)
from isochrone.studies.study import Asked


def _machine(placement: str = "block", nodes: int = 2) -> Machine:
    """Nodes of two sockets with eight cores each."""
    system = load_system("demo", placement=placement)
    return simulated_machine(SimTarget(dataclasses.replace(system, nodes=nodes)))


def _cores(machine: Machine, placement: str, ranks: int) -> list[int]:
    return [machine.seats[rank] for rank in machine.ranks_of(Arrangement(placement, ranks))]


@pytest.mark.parametrize("own", ["block", "cyclic", "random"])
def test_placements_are_those_of_map_by_whatever_the_targets_own(own: str) -> None:
    machine = _machine(own)
    assert _cores(machine, CORE, 5) == [0, 1, 2, 3, 4]
    assert _cores(machine, SOCKET, 5) == [0, 8, 1, 9, 2]
    assert _cores(machine, SOCKET, 18)[16:] == [16, 24]
    assert _cores(machine, NODE, 5) == [0, 16, 1, 17, 2]
    assert _cores(machine, GIVEN, 32) == list(machine.seats)


def test_scattered_nodes_are_whole_and_in_an_order_of_their_own() -> None:
    machine = _machine("cyclic", nodes=8)
    orders = []
    for draw in (1, 2, 3):
        cores = _cores(machine, f"{SCATTERED}-{draw}", 128)
        nodes = [core // 16 for core in cores[::16]]
        assert cores == [16 * node + core for node in nodes for core in range(16)]
        assert _cores(machine, f"{ALIKE}-{draw}", 128) == cores
        assert _cores(machine, f"{SCATTERED}-{draw}", 32) == cores[:32]
        orders.append(tuple(nodes))
    assert len({*orders, tuple(range(8))}) == 4


def test_so_many_ranks_on_a_node_are_on_as_many_nodes_as_they_need() -> None:
    machine = _machine(nodes=4)
    ranks = machine.ranks_of(Arrangement(CORE, 12, 4))
    assert [machine.seats[rank] for rank in ranks] == [0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35]
    random_order = _machine("random", nodes=4)
    ranks = random_order.ranks_of(Arrangement(GIVEN, 12, 4))
    seats = [random_order.seats[rank] for rank in ranks]
    assert sorted(seats) == [0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35] != seats
    with pytest.raises(UsageError, match="17 ranks are asked for, and there are places for 16"):
        machine.ranks_of(Arrangement(CORE, 17, 4))


@pytest.mark.parametrize(
    ("placement", "ranks", "region"),
    [
        (CORE, 8, "inside a socket"),
        (CORE, 9, "inside a node"),
        (CORE, 16, "inside a node"),
        (CORE, 17, "across nodes"),
        (SOCKET, 2, "inside a node"),
        (NODE, 2, "across nodes"),
        (NODE, 32, "across nodes"),
    ],
)
def test_a_region_is_the_innermost_part_that_holds_all(placement: str, ranks: int, region: str) -> None:
    assert _machine().region_of(Arrangement(placement, ranks)) == region


def test_boundaries_are_where_one_more_rank_leaves_a_part() -> None:
    assert _machine().boundaries() == [8, 16]


@settings(max_examples=30)
@given(st.integers(1, 32), st.sampled_from([GIVEN, CORE, SOCKET, NODE]), st.randoms(use_true_random=False))
def test_the_topology_and_the_target_have_the_ranks_at_the_same_places(
    ranks: int, placement: str, chance: random.Random
) -> None:
    machine = _machine(chance.choice(["block", "cyclic", "random"]))
    here = Arrangement(placement, ranks)
    target, topology = machine.target_for(here), machine.topology_of(here)
    assert target.rank_count == len(topology.ranks) == ranks
    assert len(set(machine.ranks_of(here))) == ranks
    nodes = next(level for level in topology.levels if level.name == "node")
    said, known = topology.labels(nodes), (target.truth or {})["node"]
    assert len(set(zip(said, known, strict=True))) == len(set(said)) == len(set(known))
    hosts = [topology.places[place].host for place in topology.ranks]
    assert len(set(zip(said, hosts, strict=True))) == len(set(hosts))


def test_numbers_of_ranks_that_no_arrangement_has_are_refused_with_those_that_there_are() -> None:
    machine = _machine(nodes=4)
    with pytest.raises(UsageError, match=r"no arrangement of this study has 5 ranks here.*some of 4, 32"):
        speedup.wanted(machine, Asked(None, (4, 5)))
    assert {each.arrangement.ranks for each in speedup.wanted(machine, Asked((1024,), (4,)))} == {4}
