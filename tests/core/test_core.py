# SPDX-License-Identifier: BSD-3-Clause
"""The Python module over the native core."""

from __future__ import annotations

import json
import threading

import pytest

from isochrone import _core

LINKS = {
    "latency_s": 1e-6,
    "send_overhead_s": [[0, 2e-7]],
    "receive_overhead_s": [[0, 0]],
    "gap_s": [[0, 0], [1 << 20, 1e-4]],
    "capacity_bytes_per_s": None,
}
PLACES = [(host, str(cpu), "kind") for host in ("n0", "n1") for cpu in range(4)]
SHAPE = "8 ranks in one machine; node 2x4; root in 4"


def topology() -> dict:
    return {
        "isochrone": "topology",
        "schema_version": 1,
        "fingerprint": "0" * 64,
        "places": [{"host": host, "cpus": cpus, "signature": kind} for host, cpus, kind in PLACES],
        "ranks": list(range(8)),
        "levels": [
            {"name": "machine", "groups": [list(range(8))], "links": LINKS | {"latency_s": 5e-6}},
            {"name": "node", "groups": [[0, 1, 2, 3], [4, 5, 6, 7]], "links": LINKS},
        ],
    }


def plan(recipe: str) -> str:
    rule = {"collective": "bcast", "shape": SHAPE, "min_bytes": 1, "max_bytes": 4096, "recipe": recipe}
    return json.dumps(
        {
            "isochrone": "plan",
            "schema_version": 1,
            "topology": {"fingerprint": "0" * 64, "file": "topology.json"},
            "mpi": {"library": "L", "abi": "libmpi.so.40"},
            "rules": [rule | {"evidence": {"speedup": 1.5}}],
        }
    )


@pytest.fixture
def layout() -> _core.Layout:
    return _core.match(json.dumps(topology()), PLACES)


def test_every_algorithm_says_what_it_is_good_for_and_where_it_comes_from() -> None:
    rows = _core.algorithms()
    assert {"flat", "chain", "pipeline", "binary", "binomial", "knomial", "scatter_allgather"} <= {
        row["name"] for row in rows
    }
    for row in rows:
        assert row["collective"] in {row["name"] for row in _core.collectives()}
        assert row["good_for"]
        assert row["source"]
        assert _core.parse_recipe(row["name"]) == row["name"]


@pytest.mark.parametrize("text", ["flat(", "hierarchical(node)", "", "flät", "x\ny", "é" * 300])
def test_a_recipe_that_cannot_be_read_is_a_value_error_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"character [0-9]+: expected") as caught:
        _core.parse_recipe(text)
    assert "\n" not in str(caught.value)


def test_a_layout_knows_the_groups_of_ranks_in_any_order(layout: _core.Layout) -> None:
    assert layout.size == 8
    assert layout.levels == ["machine", "node"]
    assert layout.group_of == [[0] * 8, [0, 0, 0, 0, 1, 1, 1, 1]]
    assert layout.shape(5) == SHAPE
    part = layout.restricted_to([7, 0, 6])
    assert part.group_of[1] == [0, 1, 0]
    assert part.shape(1) == "3 ranks in one machine; node 1x2+1x1; root in 1"


def test_a_rank_that_is_not_bound_is_known_by_its_host() -> None:
    layout = _core.match(
        json.dumps(topology()), [("n1", None, "kind"), ("n0", None, "kind"), ("n1", "2", "kind")]
    )
    assert layout.group_of[1] == [0, 1, 0]


def test_an_unknown_host_is_a_value_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="host 'elsewhere'"):
        _core.match(json.dumps(topology()), [("elsewhere", None, "another kind")])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"isochrone": "plan"}', "é", '"\\ud800"'])
def test_a_damaged_topology_is_a_value_error_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        _core.match(text, PLACES)
    assert "\n" not in str(caught.value)


def test_one_message_is_predicted_to_take_half_of_its_round_trip(layout: _core.Layout) -> None:
    pair = layout.restricted_to([0, 1])
    assert _core.predict("bcast", pair, "flat", 0, 1 << 20) == pytest.approx(1e-6 + 1e-4)
    across = layout.restricted_to([0, 4])
    assert _core.predict("bcast", across, "flat", 1, 0) == pytest.approx(5e-6)


def test_crossing_between_nodes_once_is_predicted_to_be_faster(layout: _core.Layout) -> None:
    cyclic = layout.restricted_to([0, 4, 1, 5, 2, 6, 3, 7])
    once = _core.predict("bcast", cyclic, "hierarchical(machine=flat,node=binomial)", 0, 1 << 20)
    assert once < _core.predict("bcast", cyclic, "chain", 0, 1 << 20)


def test_what_has_no_price_is_a_value_error(layout: _core.Layout) -> None:
    with pytest.raises(ValueError, match="native"):
        _core.predict("bcast", layout, "native", 0, 1)
    with pytest.raises(ValueError, match="no level 'rack'"):
        _core.predict("bcast", layout, "hierarchical(rack=flat)", 0, 1)
    with pytest.raises(ValueError, match="root 8"):
        _core.predict("bcast", layout, "flat", 8, 1)
    with pytest.raises(ValueError, match="too many"):
        _core.predict("bcast", layout, "chain@1", 0, 1 << 40)


def test_predictions_in_several_threads_agree(layout: _core.Layout) -> None:
    found: list[float] = []

    def predict() -> None:
        found.append(_core.predict("bcast", layout, "pipeline@64", 0, 1 << 18))

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_a_schedule_lists_what_a_rank_does_and_what_must_come_first(layout: _core.Layout) -> None:
    recipe = "hierarchical(machine=flat,node=native)@1024"
    assert _core.schedule("bcast", layout, recipe, 4, 0) == [
        {"kind": "recv", "peer": 0, "level": None, "stage": 0, "after": []},
        {"kind": "collective", "peer": 4, "level": 1, "stage": 0, "after": [0]},
    ]
    with pytest.raises(ValueError, match="rank 8"):
        _core.schedule("bcast", layout, recipe, 8, 0)
    with pytest.raises(ValueError, match="native"):
        _core.schedule("bcast", layout, "native", 0, 0)


@pytest.mark.parametrize(
    "recipe",
    [
        "flat",
        "binomial",
        "hierarchical(machine=chain,node=flat)@64",
        # The library's own sends to each rank too.
        "hierarchical(machine=chain,node=native)@64",
    ],
)
def test_a_broadcast_sends_to_each_rank_but_the_root_once(layout: _core.Layout, recipe: str) -> None:
    segments = 2 if recipe.endswith("@64") else 1
    assert _core.messages("bcast", layout, recipe, 3, 0) == 7
    assert _core.messages("bcast", layout, recipe, 3, 100) == 7 * segments
    with pytest.raises(ValueError, match="native"):
        _core.messages("bcast", layout, "native", 0, 8)


def test_a_plan_chooses_and_says_why(layout: _core.Layout) -> None:
    assert _core.choose(plan("chain@512"), "bcast", layout, 0, 4096) == (
        "chain@512",
        f"measured 1.50x faster than native for {SHAPE}",
    )
    recipe, reason = _core.choose(plan("chain@512"), "bcast", layout, 0, 4097)
    assert recipe == "native"
    assert reason == f"4097 bytes were not measured for {SHAPE}"


def test_a_damaged_plan_is_a_value_error_that_says_in_which_rule(layout: _core.Layout) -> None:
    with pytest.raises(ValueError, match=r"rules\[0\]: recipe 'chain@', character 7"):
        _core.choose(plan("chain@"), "bcast", layout, 0, 1)
