# SPDX-License-Identifier: BSD-3-Clause
"""Collectives become the messages that libraries make of them, within bounds at any size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isochrone import _core
from isochrone.files.graph import Calls, Graph, Rows, rows_of
from isochrone.mapping import collectives
from isochrone.mapping.collectives import MANY_RANKS, broken_down, messages_of, usual_algorithm

_BLOCKS = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter_block")
_WHOLE = ("bcast", "reduce", "allreduce", "scan", "exscan", "barrier")


def _graph(
    collective: str, members: tuple[int, int, int], calls: int, volume_bytes: int, ranks: int
) -> Graph:
    def one(value: int) -> np.ndarray:
        return np.array([value], np.int64)

    return Graph(
        ranks,
        rows_of([]),
        calls=Calls(one(1), np.array([collective]), one(0), one(0), one(calls), one(volume_bytes)),
        groups=((members,),),
    )


def test_a_short_broadcast_is_a_binomial_tree() -> None:
    found = messages_of("bcast", 8, 0, 10, 1000)
    assert found is not None
    tree = {(0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 6), (3, 7)}
    other = {(0, 4), (0, 2), (0, 1), (4, 6), (4, 5), (2, 3), (6, 7)}
    assert {(int(source), int(target)) for source, target, _, _ in found} in (tree, other)
    assert set(found[:, 2]) == {10}
    assert set(found[:, 3]) == {1000}


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16])
@pytest.mark.parametrize("size_bytes", [1, 64, 100_000, 3_000_000])
@pytest.mark.parametrize("collective", [*_WHOLE, *_BLOCKS])
def test_messages_are_those_of_the_schedule_from_any_root(
    collective: str, size_bytes: int, ranks: int
) -> None:
    size_bytes = 0 if collective == "barrier" else size_bytes * ranks
    rooted = collective in ("bcast", "reduce", "gather", "scatter")
    algorithm = usual_algorithm(collective, ranks, size_bytes)
    for root in range(ranks if rooted else 1):
        table = _core.traffic(collective, ranks, algorithm, root, size_bytes, 1 << 20)
        scheduled = np.frombuffer(table, np.int64).reshape(-1, 4)
        found = messages_of(collective, ranks, root, 1, size_bytes)
        assert found is not None
        for column in (2, 3):
            matrices = []
            for rows in (scheduled, found):
                matrix = np.zeros((ranks, ranks), np.int64)
                np.add.at(matrix, (rows[:, 0], rows[:, 1]), rows[:, column])
                matrices.append(matrix)
            np.testing.assert_array_equal(matrices[0], matrices[1])


@pytest.mark.parametrize("ranks", [3, 8, 12])
def test_an_exchange_brings_every_block_to_its_rank(ranks: int) -> None:
    found = messages_of("alltoall", ranks, 0, 7, 7 * 1000)
    assert found is not None
    assert {(int(s), int(t)) for s, t, _, _ in found} == {
        (s, t) for s in range(ranks) for t in range(ranks) if s != t
    }
    assert set(found[:, 3]) == {7000}


def test_blocks_of_different_sizes_are_taken_for_equal_ones() -> None:
    np.testing.assert_array_equal(
        messages_of("allgatherv", 6, 0, 2, 2 * 600), messages_of("allgather", 6, 0, 2, 2 * 100)
    )


def test_ranks_are_those_of_the_group_in_its_order() -> None:
    rows: Rows = broken_down(_graph("bcast", (6, 3, -2), 4, 400, 8)).rows
    assert set(zip(rows.sources.tolist(), rows.targets.tolist(), strict=True)) == {(6, 4), (6, 2)}
    assert set(rows.collectives) == {"bcast"}


@pytest.mark.parametrize("collective", ["bcast", "allreduce", "allgather", "barrier"])
def test_thousands_of_ranks_are_possible(collective: str) -> None:
    ranks = 2 * MANY_RANKS
    rows = broken_down(_graph(collective, (0, ranks, 1), 1, 1 << 20, ranks)).rows
    assert ranks - 1 <= len(rows) <= 2 * ranks * math.log2(ranks)


@pytest.mark.parametrize("collective", ["allgather", "alltoall", "bcast"])
def test_no_pattern_is_made_that_has_no_room_left(monkeypatch: pytest.MonkeyPatch, collective: str) -> None:
    def never(*_: object) -> None:
        raise AssertionError("made")

    monkeypatch.setattr(collectives, "_pattern", never)
    assert messages_of(collective, 2048, 0, 1, 8, 2046) is None


def test_all_collectives_that_a_graph_may_name_become_messages() -> None:
    names = [row["name"] for row in _core.collectives() if row["agreed"] != "nothing"]
    assert "allgatherv" in names
    for name in names:
        assert len(broken_down(_graph(name, (0, 4, 1), 1, 64, 4)).rows) > 0


def test_an_exchange_of_too_many_ranks_is_kept_apart() -> None:
    found = broken_down(_graph("alltoall", (0, 1 << 20, 1), 1, 8, 1 << 20))
    assert (len(found.rows), found.apart) == (0, ("alltoall",))
