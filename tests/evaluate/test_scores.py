# SPDX-License-Identifier: BSD-3-Clause
"""Scores of partitions against the truth."""

from __future__ import annotations

import numpy as np

from isochrone.evaluate.cases import cases, system
from isochrone.evaluate.scores import scores
from isochrone.sim.system import truth

TRUTH = {"node": [0, 0, 0, 1, 1, 1], "socket": [0, 0, 1, 2, 2, 3]}


def test_the_partition_that_fits_best_counts() -> None:
    found = scores([np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 2])], TRUTH)
    node, socket = found
    assert (node.accuracy, node.rand_index, node.found, node.groups) == (1.0, 1.0, 2, 2)
    assert (socket.accuracy, socket.found, socket.groups) == (5 / 6, 3, 4)
    assert 0 < socket.rand_index < 1


def test_who_finds_nothing_has_all_ranks_together_or_each_alone() -> None:
    node, socket = scores([], TRUTH)
    assert (node.accuracy, node.rand_index) == (0.5, 0.0)
    assert socket.accuracy == 4 / 6


def test_fram_is_as_in_the_thesis() -> None:
    sizes = {name: system(name).ranks for name in ("fram-1x32", "fram-2x32", "fram-8x32", "fram-32x1")}
    assert sizes == {"fram-1x32": 32, "fram-2x32": 64, "fram-8x32": 256, "fram-32x1": 32}
    islands = truth(system("fram-32x1"))["switch"]
    assert [islands.count(island) for island in range(6)] == [1, 4, 5, 12, 9, 1]


def test_the_full_set_has_all_systems_placements_and_repetitions() -> None:
    full = cases(full=True)
    assert {case.system.name for case in full} >= {
        "betzy",
        "idun",
        "arm1",
        "hpclab",
        "fram-8x32",
        "fram-16x1",
    }
    assert {case.system.placement for case in full} == {"block", "cyclic", "random"}
    assert {case.repetitions for case in full} == {(1,), (8, 32, 128)}
    assert len({(case.name, case.noise) for case in full}) == len(full)
