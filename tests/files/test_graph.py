# SPDX-License-Identifier: BSD-3-Clause
"""``graph.json`` is read as it was written, adds up, and is refused in one line where it is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import all_of
from hypothesis import given
from hypothesis import strategies as st
from mutations import mutate_json

from isochrone.errors import IsochroneError
from isochrone.files import Graph, Place, read_graph, write_graph
from isochrone.files.graph import Calls, added, graph_document, rows_of


def _column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


GRAPH = Graph(
    ranks=4,
    rows=rows_of([(1, 0, 1, 3, 300), (2, 1, 2, 1, 7)]),
    pieces=rows_of([(1, 3, 0, 2, 64)], ["alltoallv"]),
    calls=Calls(
        _column(1, 1),
        np.array(["bcast", "allreduce"]),
        _column(0, 1),
        _column(1, 0),
        _column(2, 5),
        _column(8, 40),
    ),
    groups=(((3, 2, -2),), ((0, 4, 1),)),
    broken_down=rows_of([(1, 0, 2, 5, 40)], ["allreduce"]),
    places=tuple(Place(f"n{rank // 2}", str(rank % 2), "x") for rank in range(4)),
    provenance={"command": ["isochrone", "record"]},
)


def _same(one: Graph, other: Graph) -> bool:
    return graph_document(one) == graph_document(other)


def test_a_graph_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_graph(tmp_path / "graph.json", GRAPH)
    assert _same(read_graph(tmp_path / "graph.json"), GRAPH)


def test_a_graph_of_other_programs_needs_only_rows(tmp_path: Path) -> None:
    document = {
        "isochrone": "graph",
        "schema_version": 1,
        "ranks": 3,
        "rows": {"source": [0, 2], "target": [1, 0], "messages": [0, 0], "bytes": [5, 6]},
        "provenance": {},
    }
    (tmp_path / "graph.json").write_text(json.dumps(document))
    graph = read_graph(tmp_path / "graph.json")
    tasks = graph.task_graph()
    assert (tasks.sources.tolist(), tasks.targets.tolist()) == ([0, 2], [1, 0])
    assert tasks.volume_bytes.tolist() == [5, 6]


def test_the_task_graph_has_all_messages_or_those_of_a_phase() -> None:
    whole = GRAPH.task_graph()
    assert (int(whole.messages.sum()), int(whole.volume_bytes.sum())) == (11, 411)
    assert GRAPH.task_graph(phase=2).volume_bytes.tolist() == [7]


def test_runs_add_up_whatever_their_groups_are_numbered() -> None:
    other = Graph(
        ranks=4,
        rows=rows_of([(1, 0, 1, 1, 100)]),
        calls=Calls(_column(1), np.array(["bcast"]), _column(0), _column(1), _column(1), _column(4)),
        groups=(((3, 2, -2),),),
    )
    both = added([other, GRAPH])
    assert both.runs == 2
    assert both.rows.volume_bytes.tolist() == [400, 7]
    bcast = both.calls.collectives == "bcast"
    assert both.calls.calls[bcast].tolist() == [3]
    assert both.members(int(both.calls.groups[bcast][0])).tolist() == [3, 1]


def test_runs_of_different_sizes_do_not_add_up() -> None:
    with pytest.raises(IsochroneError, match="runs of 2 and of 4 ranks cannot be added"):
        added([GRAPH, Graph(ranks=2, rows=rows_of([]))])


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("rows", "source"), [0, 4], "source 4 is none of the 4 ranks"),
        (("rows", "bytes"), [-1, 0], "violates minimum"),
        (("rows", "bytes"), [1], "bytes has 1 entries, and others 2"),
        (("rows", "bytes"), [1, 1.5], "violates type"),
        (("rows", "messages"), [1] * 8 + [True], "rows.messages[8]: true: violates type"),
        (("pieces", "collective"), ["bcast2"], "violates pattern"),
        (("pieces", "collective"), ["nothing"], "there is no collective 'nothing'"),
        (("collectives", "group"), [0, 2], "group 2 is none of the 2"),
        (("collectives", "root"), [2, 0], "a call without a root"),
        (("groups",), [[[3, 3, -2]], [[0, 4, 1]]], "names a rank that is none of the 4"),
        (("groups",), [[[0, 4, 1], [0, 4, 1]], [[0, 4, 1]]], "more ranks than there are"),
        (
            ("collectives", "collective"),
            ["bcast", "gatherv"],
            "json: collectives: 'gatherv' is no collective",
        ),
        (
            ("collectives", "collective"),
            ["bcast", "alltoallw"],
            "collectives: 'alltoallw' is no collective whose",
        ),
        (("ranks",), 3, "is none of the 3"),
        (("ranks",), (1 << 20) + 1, "ranks: 1048577: violates maximum"),
        (("isochrone",), "plan", "this is a plan file"),
    ],
)
def test_damage_is_told_in_one_line(tmp_path: Path, path: tuple[str, ...], value: object, said: str) -> None:
    document: Any = graph_document(GRAPH)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    (tmp_path / "graph.json").write_text(json.dumps(document))
    with pytest.raises(IsochroneError) as caught:
        read_graph(tmp_path / "graph.json")
    assert said in str(caught.value)


def test_groups_are_of_so_many_ranks_together(tmp_path: Path) -> None:
    document: Any = graph_document(GRAPH)
    document |= {"ranks": 1 << 20, "groups": [[[0, 1 << 20, 1]]] * 17}
    del document["places"]
    (tmp_path / "graph.json").write_text(json.dumps(document))
    with pytest.raises(IsochroneError, match="the groups have more than 16,777,216 ranks together"):
        read_graph(tmp_path / "graph.json")


def test_a_phase_may_have_nothing_but_collectives_of_pieces() -> None:
    assert GRAPH.phases == [1, 2]
    assert replace(GRAPH, pieces=rows_of([(7, 3, 0, 2, 64)], ["alltoallv"])).phases == [1, 2, 7]
    assert replace(GRAPH, broken_down=rows_of([(8, 3, 0, 2, 64)], ["bcast"])).phases == [1, 2, 8]


def test_calls_of_which_no_message_is_listed_are_apart() -> None:
    assert GRAPH.calls_apart() == GRAPH.calls_apart(1) == 2
    assert GRAPH.calls_apart(2) == 0
    assert replace(GRAPH, broken_down=None).calls_apart() == 7


def test_what_comes_after_the_first_entries_is_checked_too(tmp_path: Path) -> None:
    document = graph_document(Graph(2, rows_of([(1, 0, 1, 1, 1)] * 1000)))
    document["rows"]["bytes"][999] = "1"
    (tmp_path / "graph.json").write_text(json.dumps(document))
    with pytest.raises(IsochroneError, match=r"rows.bytes\[999\]: Expected int, got str"):
        read_graph(tmp_path / "graph.json")


_ROW = st.tuples(
    st.integers(1, 4095),
    st.integers(0, 8),
    st.integers(0, 8),
    st.integers(0, 1 << 40),
    st.integers(0, 1 << 50),
)


@given(st.lists(_ROW, max_size=30))
def test_any_rows_are_read_as_they_were_written(table: list[tuple[int, ...]]) -> None:
    import tempfile

    graph = Graph(ranks=9, rows=rows_of(table))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        write_graph(path, graph)
        assert _same(read_graph(path), graph)
    merged = graph.rows.merged()
    assert int(merged.volume_bytes.sum()) == sum(row[4] for row in table)


@pytest.mark.usefixtures("bounded")
def test_mutated_graphs_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    write_graph(path, GRAPH)
    whole = json.dumps(json.loads(path.read_bytes())).encode()
    read = 0
    for graph in all_of(path, whole, mutate_json, read_graph, range(1500)):
        assert isinstance(graph, Graph)
        graph.task_graph()
        read += 1
    assert 20 < read < 1000
