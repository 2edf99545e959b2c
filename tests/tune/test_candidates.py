# SPDX-License-Identifier: BSD-3-Clause
"""What is worth measuring comes from the model, and every candidate can run."""

from __future__ import annotations

import json
from zlib import crc32

import pytest

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.tune.candidates import candidates, laid_over_hosts, neighbours, of_next_sizes, pipelines
from isochrone.tune.collectives import grids, parse_collectives, sizes_of, timed
from isochrone.tune.forms import Form, dividing_levels, segments_for
from isochrone.tune.sizes import SIZES_BYTES, few_of


def _layout(nodes: int, sockets: int, cores: int) -> _core.Layout:
    """Ranks dealt out to the nodes in turn; ten times the latency at each level outwards."""

    def links(latency_s: float) -> dict[str, object]:
        return {
            "latency_s": latency_s,
            "send_overhead_s": [[0, 1e-7]],
            "receive_overhead_s": [[0, 0.0]],
            "gap_s": [[0, 0.0], [1000000, 1e-4]],
            "capacity_bytes_per_s": None,
        }

    places = [(n, s, c) for n in range(nodes) for s in range(sockets) for c in range(cores)]
    number = {place: i for i, place in enumerate(places)}

    def groups(key: int) -> list[list[int]]:
        found: dict[tuple[int, ...], list[int]] = {}
        for place in places:
            found.setdefault(place[:key], []).append(number[place])
        return list(found.values())

    levels = [("machine", 0, 1e-5), ("node", 1, 1e-6), ("socket", 2, 1e-7)]
    topology = {
        "isochrone": "topology",
        "schema_version": 1,
        "fingerprint": "f",
        "places": [{"host": f"n{n}", "cpus": str(s * cores + c), "signature": "x"} for n, s, c in places],
        "ranks": list(range(len(places))),
        "levels": [
            {"name": name, "groups": groups(key), "confidence": 1.0, "links": links(t)}
            for name, key, t in levels
        ],
        "accuracy": {},
        "agreement": {},
        "source": {},
        "provenance": {},
    }
    ranks = sorted(places, key=lambda place: (place[1:], place[0]))
    return _core.match(json.dumps(topology), [(f"n{n}", str(s * cores + c), "x") for n, s, c in ranks])


SHAPES = [(3, 2, 5), (7, 1, 3), (1, 2, 4), (4, 2, 4), (2, 1, 1), (1, 1, 5)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 4099, 65536, 4194304])
def test_every_candidate_can_run_on_the_layout(shape: tuple[int, int, int], size: int) -> None:
    layout = _layout(*shape)
    found = candidates("bcast", layout, (0,), size, 6)
    assert 1 <= len(found) <= 6
    assert len(set(found)) == len(found)
    for recipe in found:
        assert recipe == _core.parse_recipe(recipe)
        assert _core.predict("bcast", layout, recipe, layout.size - 1, size) > 0


def _in_runs(layout: _core.Layout) -> _core.Layout:
    """The same cluster with ranks that fill one node after the other."""
    return layout.restricted_to(
        sorted(range(layout.size), key=lambda rank: [groups[rank] for groups in layout.group_of])
    )


@pytest.mark.parametrize("in_runs", [False, True])
@pytest.mark.parametrize("collective", timed())
def test_every_collective_has_candidates_that_can_run(collective: str, in_runs: bool) -> None:
    layout = _layout(3, 2, 3)
    if in_runs:
        layout = _in_runs(layout)
    for size in sizes_of(collective, [1, 65536]):
        found = candidates(collective, layout, (0,), size, 6)
        assert found
        has_levels = any(Form.of(recipe, collective).levels for recipe in found)
        # Scans keep the order of ranks: where these are dealt out to the nodes they are flat.
        assert has_levels == (in_runs or collective not in ("scan", "exscan"))
        for recipe in found:
            assert recipe == _core.parse_recipe(recipe)
            assert Form.of(recipe, collective).text() == recipe
            assert _core.predict(collective, layout, recipe, 0, size) > 0
            for near in neighbours(collective, layout, recipe, (0,), size, 2):
                assert _core.predict(collective, layout, near, 0, size) > 0


def test_a_scan_follows_the_levels_whose_groups_are_runs_of_ranks() -> None:
    layout = _layout(4, 2, 2)
    # Both sockets of a node in turn: nodes are runs of ranks, sockets are not.
    ranks = sorted(range(layout.size), key=lambda rank: (layout.group_of[1][rank], rank // 4 % 2))
    dealt_out = layout.restricted_to(ranks)
    assert [dealt_out.has_runs(level) for level in dealt_out.levels] == [True, True, False]
    found = [Form.of(recipe, "scan").levels for recipe in candidates("scan", dealt_out, (0,), 1024, 20)]
    assert ("machine", "node") in found
    assert not any("socket" in levels for levels in found)


def test_what_goes_up_and_down_may_do_so_by_two_algorithms() -> None:
    layout = _layout(3, 2, 3)
    near = neighbours("allreduce", layout, "hierarchical(machine=flat,node=flat+binomial)", (0,), 64, 99)
    assert "hierarchical(machine=flat,node=flat)" in near
    assert not any("native" in recipe for recipe in near)


def test_collectives_have_the_sizes_that_they_can_have_of_those_that_are_named() -> None:
    sizes = (1, 13, 64, 511, 2048)
    assert grids(("bcast", "allreduce", "barrier", "alltoall"), sizes, 5) == {
        "bcast": sizes,
        "allreduce": (8, 16, 64, 512, 2048),
        "barrier": (0,),
        "alltoall": (1, 13, 64),  # five blocks of 511 bytes are more than the largest message
    }


def test_of_the_usual_sizes_collectives_after_the_first_have_few() -> None:
    found = grids(("bcast", "allreduce", "barrier"), None, 5)
    assert found["bcast"] == SIZES_BYTES
    assert found["allreduce"] == sizes_of("allreduce", few_of(SIZES_BYTES))
    assert found["barrier"] == (0,)


def test_collectives_that_are_thinned_have_the_least_and_the_largest_size() -> None:
    names = ("bcast", "allreduce", "barrier", "alltoall")
    sizes = (1, 13, 64, 511, 2048)
    assert grids(names, sizes, 5, thinned=names[1:]) == {
        "bcast": sizes,
        "allreduce": (8, 2048),
        "barrier": (0,),
        "alltoall": (1, 64),  # five blocks of 511 bytes are more than the largest message
    }


def test_blocks_of_one_rank_are_no_longer_than_the_largest_message_however_few_sizes_there_are() -> None:
    assert grids(("bcast", "alltoall"), (64 << 20,), 32)["alltoall"] == (2 << 20,)
    assert grids(("bcast", "alltoall"), (4096, 8192), 20_000)["alltoall"] == (1,)


@pytest.mark.parametrize("text", ["bcast,nonsense", "", "bcast,,barrier"])
def test_a_collective_that_there_is_not_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="can be timed; use some of bcast, ") as refused:
        parse_collectives(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 4099, 65536, 4194304])
def test_neighbours_differ_in_one_part_and_can_run(shape: tuple[int, int, int], size: int) -> None:
    layout = _layout(*shape)
    for recipe in candidates("bcast", layout, (0,), size, 6):
        form = Form.of(recipe)
        assert form.text() == recipe
        near = neighbours("bcast", layout, recipe, (0, layout.size - 1), size, 4)
        assert len(set(near)) == len(near)
        for text in near:
            other = Form.of(text)
            assert (other.levels, other.order) == (form.levels, form.order)
            algorithms = sum(a != b for a, b in zip(form.algorithms, other.algorithms, strict=True))
            assert algorithms + (form.segment_bytes != other.segment_bytes) == 1
            assert _core.predict("bcast", layout, text, layout.size - 1, size) > 0


def test_neighbours_have_every_size_of_segment() -> None:
    near = neighbours(
        "bcast", _layout(4, 2, 4), "hierarchical(machine=flat,node=chain)@32768", (0,), 1048576, 0
    )
    assert {Form.of(text).segment_bytes for text in near} == {0, 8192, 16384, 65536, 131072, 262144}


@pytest.mark.parametrize(
    ("shape", "size"), [((2, 1, 3), 1), ((3, 2, 5), 511), ((1, 2, 4), 511), ((1, 2, 4), 4194304)]
)
def test_what_costs_the_same_has_one_order_in_all_processes(
    shape: tuple[int, int, int], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python hashes texts differently in each process: a salt stands for a process.
    layout = _layout(*shape)
    found = set()
    for salt in range(16):

        def salted(form: Form, salt: int = salt) -> int:
            return crc32(f"{salt} {form.text()}".encode())

        monkeypatch.setattr(Form, "__hash__", salted)
        found.add(tuple(candidates("bcast", layout, (0,), size, 5)))
    assert len(found) == 1


def test_levels_that_divide_no_further_are_left_out() -> None:
    assert dividing_levels(_layout(4, 2, 4)) == ("machine", "node", "socket")
    assert dividing_levels(_layout(7, 1, 3)) == ("machine", "node")
    assert dividing_levels(_layout(1, 2, 4)) == ("node", "socket")
    assert dividing_levels(_layout(2, 1, 1)) == ("machine",)


def test_on_dealt_out_ranks_the_model_prefers_recipes_that_follow_the_tree() -> None:
    layout = _layout(4, 2, 4)
    best = candidates("bcast", layout, (0,), 1048576, 1)[0]
    assert best.startswith(("hierarchical", "ordered"))
    assert _core.predict("bcast", layout, best, 0, 1048576) < _core.predict(
        "bcast", layout, "binomial", 0, 1048576
    )


@pytest.mark.parametrize("order", ["depth_first", "breadth_first", "longest_first"])
def test_only_trees_are_laid_over_the_network(order: str) -> None:
    layout = _layout(4, 2, 4)
    near = neighbours("bcast", layout, f"{order}(binomial)", (0,), 512, 20)
    assert f"{order}(knomial/4)" in near
    assert not any("scatter" in recipe for recipe in near)


def test_what_is_best_for_the_sizes_beside_it_is_tried_too():
    best = {8: "flat", 64: "binomial", 4096: "chain@1024", 65536: "native", 262144: "chain@1024"}
    assert of_next_sizes(best, most_segments=4) == {
        8: ["binomial"],
        64: ["flat", "chain@1024"],
        4096: ["binomial"],
        65536: [],
        262144: [],
    }
    assert of_next_sizes(best)[65536] == ["chain@1024"]
    assert of_next_sizes({8: "flat"}) == {8: []}


@pytest.mark.parametrize("shape", [(7, 1, 9), (5, 2, 3), (1, 1, 16)])
@pytest.mark.parametrize("most_segments", [16, 128])
def test_no_candidate_sends_more_messages_than_a_tree_with_the_most_segments(
    shape: tuple[int, int, int], most_segments: int
) -> None:
    layout, size_bytes = _layout(*shape), 4194304
    for recipe in candidates("bcast", layout, (0,), size_bytes, 12, most_segments):
        sends = sum(
            operation["kind"] == "send"
            for rank in range(layout.size)
            for operation in _core.schedule("bcast", layout, recipe, rank, 0)
        )
        segments = -(-size_bytes // (Form.of(recipe).segment_bytes or size_bytes))
        assert segments == 1 or sends * segments <= 1.1 * most_segments * layout.size, recipe


@pytest.mark.parametrize(
    ("recipe", "laid"),
    [
        (
            "binomial@64",
            ["depth_first(binomial)@64", "breadth_first(binomial)@64", "longest_first(binomial)@64"],
        ),
        (
            "hierarchical(machine=knomial/4,node=flat)",
            [
                "hierarchical(machine=depth_first(knomial/4),node=flat)",
                "hierarchical(machine=breadth_first(knomial/4),node=flat)",
                "hierarchical(machine=longest_first(knomial/4),node=flat)",
            ],
        ),
        ("hierarchical(machine=scatter_allgather,node=binomial)", []),
        ("ordered(binomial)", []),
    ],
)
def test_the_outermost_tree_of_a_recipe_is_laid_over_the_hosts(recipe: str, laid: list[str]) -> None:
    assert laid_over_hosts(recipe, "bcast") == laid
    assert all(Form.of(text).text() == text for text in laid)


def test_what_keeps_the_order_of_ranks_is_not_laid_over_hosts() -> None:
    assert laid_over_hosts("linear", "scan") == []


@pytest.mark.parametrize("most", [16, 128])
@pytest.mark.parametrize("size", [8192, 1 << 20, (1 << 25) + 1, 1 << 27, 1 << 28, (1 << 30) - 8])
def test_messages_of_any_length_may_flow_in_segments(size: int, most: int) -> None:
    whole, *lengths = segments_for("bcast", size, most)
    assert whole == 0
    assert lengths
    assert all(length < size <= length * most for length in lengths)
    layout = _layout(4, 2, 4)
    assert any(Form.of(recipe).segment_bytes for recipe in candidates("bcast", layout, [0], size, 8, most))
    assert bool(pipelines("bcast", layout, size, most)) == (size > 8192)


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allreduce", "scan"])
def test_large_messages_have_pipelines_whatever_the_model_says_of_them(collective: str) -> None:
    # One level, two and three; scans keep the order of ranks, which these layouts do not.
    for shape, levels in {(1, 1, 4): 1, (4, 1, 2): 2, (4, 2, 4): 3}.items():
        layout = _layout(*shape)
        found = pipelines(collective, layout, 1048576)
        if collective == "scan" or levels == 1:
            assert not found or Form.of(found[0], collective).levels
            continue
        if collective == "allreduce":
            # Its table across has no chain.
            assert not found
            continue
        assert [Form.of(recipe, collective).segment_bytes for recipe in found] == [32768, 131072, 262144]
        for recipe in found:
            form = Form.of(recipe, collective)
            assert len(form.levels) == levels
            assert form.algorithms[0] == ("chain",)
            assert _core.predict(collective, layout, recipe, 0, 1048576) > 0
    assert pipelines(collective, _layout(4, 2, 4), 64) == []
