# SPDX-License-Identifier: BSD-3-Clause
"""The busiest way: how busy it is, and that the objective ``load`` makes it less so."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.errors import UsageError
from isochrone.files import Links
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.objective import busiest_way, way_prices_s
from isochrone.mapping.optimise import optimise
from isochrone.mapping.system import System

RATE, SLOW = 1e9, 1e8


def links(capacity: float | None) -> Links:
    return Links(1e-6, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (1000, 1000 / RATE)), capacity)


def racks(capacity: float | None = SLOW, capacities: tuple[int, ...] | None = None) -> System:
    """Two racks of three nodes of two places."""
    return System(
        levels=("machine", "rack", "node"),
        groups=((0,) * 12, tuple(p // 6 for p in range(12)), tuple(p // 2 for p in range(12))),
        capacities=capacities or (1,) * 12,
        links=(links(capacity), links(None), links(None)),
    )


def random_graph(seed: int, ranks: int = 12) -> TaskGraph:
    random = np.random.default_rng(seed)
    pairs = [pair for pair in permutations(range(ranks), 2) if random.random() < 0.3]
    return task_graph(ranks, [(a, b, 1, int(random.integers(1, 10_000))) for a, b in pairs])


def by_hand(graph: TaskGraph, system: System, at: tuple[int, ...]) -> float:
    most = 0.0
    for groups, price_s in zip(system.groups, way_prices_s(system), strict=True):
        for group in set(groups):
            for direction in (graph.sources, graph.targets):
                other = graph.targets if direction is graph.sources else graph.sources
                volume = sum(
                    int(graph.volume_bytes[row])
                    for row in range(len(graph.sources))
                    if groups[at[direction[row]]] == group != groups[at[other[row]]]
                )
                most = max(most, price_s * volume)
    return most


def test_ways_have_the_capacity_that_was_measured_and_nodes_else_what_a_pair_gets() -> None:
    assert way_prices_s(racks()) == pytest.approx([0, 1 / SLOW, 1 / RATE])
    assert way_prices_s(racks(None)) == pytest.approx([0, 1 / RATE, 1 / RATE])


@given(st.integers(0, 1000), st.permutations(range(12)))
@settings(max_examples=30)
def test_the_busiest_way_is_as_busy_as_counted_by_hand(seed: int, at: list[int]) -> None:
    graph = random_graph(seed)
    found = busiest_way(graph, racks(), tuple(at))
    assert found is not None
    assert found.seconds == pytest.approx(by_hand(graph, racks(), tuple(at)))


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_busiest_way_is_never_busier_than_in_order(seed: int) -> None:
    graph, system = random_graph(seed), racks()
    loaded = optimise(graph, system, "load", seed=seed)
    assert sorted(loaded.at) == list(range(12))
    assert loaded.cost == pytest.approx(by_hand(graph, system, loaded.at))
    assert loaded.identity_cost == pytest.approx(by_hand(graph, system, loaded.identity))
    assert loaded.cost <= loaded.identity_cost


def test_the_busiest_ways_are_less_busy_than_the_least_sums_leave_them() -> None:
    loaded_s = summed_s = 0.0
    for seed in range(30):
        graph, system = random_graph(seed), racks()
        loaded_s += optimise(graph, system, "load", seed=seed).cost
        summed_s += by_hand(graph, system, optimise(graph, system, "hops", seed=seed).at)
    assert loaded_s < 0.97 * summed_s


def test_the_busiest_way_comes_near_the_least_that_any_order_has() -> None:
    # Six ranks on two racks of a node and a half each: all 720 orders can be looked at.
    system = System(
        levels=("machine", "node"),
        groups=((0,) * 6, (0, 0, 1, 1, 2, 2)),
        capacities=(1,) * 6,
        links=(links(None), links(None)),
    )
    for seed in range(5):
        graph = random_graph(seed, 6)
        least = min(by_hand(graph, system, at) for at in permutations(range(6)))
        assert optimise(graph, system, "load", seed=seed).cost <= 1.1 * least


def test_a_hub_is_spread_where_a_sum_would_crowd_it() -> None:
    # Each pair of hubs talks most, so a sum puts both on one node, whose way then carries both crowds.
    hubs = [(a, b, 1, 1200) for a, b in ((0, 1), (1, 0))]
    crowd = [(hub, task, 1, 500) for hub in (0, 1) for task in range(2 + 5 * hub, 7 + 5 * hub)]
    graph, system = task_graph(12, [*hubs, *crowd]), racks(None)
    summed, loaded = (optimise(graph, system, objective) for objective in ("hops", "load"))
    assert loaded.cost < by_hand(graph, system, summed.at)


def test_fixed_ranks_and_free_places_are_kept_to() -> None:
    graph = random_graph(1, 8)
    system = racks(capacities=(1,) * 12)
    fixed = [3, -1, -1, 11, -1, -1, -1, -1]
    found = optimise(graph, system, "load", fixed=fixed)
    assert (found.at[0], found.at[3]) == (3, 11)
    assert len(set(found.at)) == 8


def test_a_tree_without_measured_links_has_no_ways() -> None:
    system = System(("machine",), ((0, 0),), (1, 1), (None,))
    with pytest.raises(UsageError, match="--topology"):
        optimise(task_graph(2, [(0, 1, 1, 1)]), system, "load")
