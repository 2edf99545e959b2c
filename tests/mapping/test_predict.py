# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times of messages, and what they say of a run. The simulator is asked in tests/sim."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from isochrone.errors import IsochroneError
from isochrone.files import Links, Place, Prediction
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.optimise import optimise
from isochrone.mapping.predict import exchange_time_s
from isochrone.mapping.system import System
from isochrone.steps.map import Program, map_ranks

NEAR_S, FAR_S, BYTE_S = 1e-6, 50e-6, 1e-9


def links(latency_s: float, overhead_s: float = 0.0) -> Links:
    points = ((0, 0.0), (1_000_000, 1_000_000 * BYTE_S))
    return Links(latency_s, ((0, overhead_s),), ((0, overhead_s),), points)


def nodes(count: int, cores: int, **changes: object) -> System:
    places = count * cores
    system = System(
        levels=("machine", "node"),
        groups=((0,) * places, tuple(place // cores for place in range(places))),
        capacities=(1,) * places,
        links=(links(FAR_S), links(NEAR_S)),
        places=tuple(Place(f"n{place // cores}", None, "1x1") for place in range(places)),
    )
    return replace(system, **changes)


def there_and_back(a: int, b: int, times: int, size: int, ranks: int = 4) -> TaskGraph:
    return task_graph(ranks, [(a, b, times, times * size), (b, a, times, times * size)])


@pytest.mark.parametrize("times", [1, 2, 7, 16, 17, 1000, 12345])
@pytest.mark.parametrize("size", [0, 1, 10_000])
def test_two_ranks_that_answer_one_another_take_a_latency_and_a_gap_a_round(times: int, size: int) -> None:
    for at, latency_s in (((0, 1, 2, 3), NEAR_S), ((0, 2, 1, 3), FAR_S)):
        took_s = exchange_time_s(there_and_back(0, 1, times, size), nodes(2, 2), at)
        assert took_s == pytest.approx(times * (latency_s + size * BYTE_S))


def test_pairs_with_more_messages_go_on_alone() -> None:
    both = [*((a, a ^ 1, 10, 10_000) for a in (0, 1)), *((a, a ^ 1, 1000, 1000) for a in (2, 3))]
    took_s = exchange_time_s(task_graph(4, both), nodes(2, 2), range(4))
    assert took_s == pytest.approx(10 * (NEAR_S + 1000 * BYTE_S) + 990 * (NEAR_S + BYTE_S), rel=1e-3)


def test_cores_that_ranks_share_take_their_overheads_in_turn() -> None:
    overhead_s = 1e-3
    # A latency is half of a round trip, so the receiver's overhead is within it.
    system = nodes(2, 2, links=tuple(links(each_s + overhead_s, overhead_s) for each_s in (FAR_S, NEAR_S)))
    graph = task_graph(4, [(a, a ^ 1, 100, 100) for a in range(4)])
    alone_s = exchange_time_s(graph, system, range(4))
    assert alone_s < 100 * 2.1 * overhead_s
    assert exchange_time_s(graph, replace(system, cores=4), range(4)) == pytest.approx(alone_s)
    assert exchange_time_s(graph, replace(system, cores=1), range(4)) == pytest.approx(
        100 * 8 * overhead_s, rel=0.05
    )


def test_what_cannot_be_predicted_is_said() -> None:
    graph = there_and_back(0, 1, 1, 1)
    with pytest.raises(IsochroneError, match="weights, not messages"):
        exchange_time_s(replace(graph, messages=graph.messages * 0), nodes(2, 2), range(4))
    with pytest.raises(IsochroneError, match="not measured"):
        exchange_time_s(graph, nodes(2, 2, links=(None, None)), range(4))
    many = 1500
    crowd = task_graph(many, [(a, b, 1, 1) for a, b in permutations(range(many), 2)])
    with pytest.raises(IsochroneError, match="too many to simulate"):
        exchange_time_s(crowd, nodes(1, many), range(many))


def test_a_run_keeps_what_is_not_messages() -> None:
    assert Prediction(4.0, 1.0, 10.0).mapped_run_s == pytest.approx(7.0)
    assert Prediction(4.0, 1.0).mapped_run_s is None
    assert Prediction(0.0, 0.0, 10.0).mapped_run_s == pytest.approx(10.0)
    # The messages alone would take longer than all: so the run is messages.
    assert Prediction(20.0, 5.0, 10.0).mapped_run_s == pytest.approx(2.5)


def test_a_run_counts_only_if_its_ranks_were_in_their_order() -> None:
    system = nodes(2, 2)
    graph = there_and_back(0, 2, 100, 1000)
    mapping = optimise(graph, system)
    in_order = map_ranks(Program(graph, 1.0, system.places), system, "time").prediction
    assert in_order is not None
    assert in_order.run_s == 1.0
    assert in_order.identity_s == exchange_time_s(graph, system, mapping.identity)
    assert in_order.mapped_s == pytest.approx(100 * (NEAR_S + 1000 * BYTE_S))
    for places in ((), system.places[::-1]):
        elsewhere = map_ranks(Program(graph, 1.0, places), system, "time").prediction
        assert elsewhere is not None
        assert elsewhere.run_s is None


def test_a_mapping_without_prediction_says_why() -> None:
    mapped = map_ranks(Program(there_and_back(0, 2, 1, 1)), nodes(2, 2, links=(None, None)), "volume")
    assert mapped.prediction is None
    assert mapped.unpredicted == "the links of the places are not measured"
