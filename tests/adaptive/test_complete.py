# SPDX-License-Identifier: BSD-3-Clause
"""Distances that were not measured follow from those that were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.detect.complete import complete
from isochrone.errors import IsochroneError


def ultrametric(counts, steps):
    """[rank, rank], logarithms of distances that grow by steps from level to level."""
    n = int(np.prod(counts))
    rank = np.arange(n)
    sizes = [n // int(np.prod(counts[: k + 1])) for k in range(len(counts))]
    shared = np.sum([(rank // size)[:, None] == rank // size for size in sizes], axis=0)
    matrix = np.cumsum(steps)[::-1][np.minimum(shared, len(steps) - 1)] * 1.0
    np.fill_diagonal(matrix, 0.0)
    return matrix


def without(matrix, keep):
    holes = np.where(keep | keep.T, matrix, np.nan)
    np.fill_diagonal(holes, 0.0)
    return holes


@given(st.sampled_from([(3, 4), (2, 3, 4), (5, 2, 2)]), st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_the_star_of_one_rank_in_every_group_tells_the_rest(counts, seed):
    matrix = ultrametric(counts, [1.0, 0.5, 0.7][: len(counts)])
    n = len(matrix)
    order = np.random.default_rng(seed).permutation(n)
    keep = np.zeros((n, n), dtype=bool)
    for pivot in range(0, n, counts[-1]):
        keep[pivot] = True
    shuffled = np.ix_(order, order)
    assert complete(without(matrix, keep)[shuffled], 0.0) == pytest.approx(matrix[shuffled])


def test_two_ranks_that_only_their_leaders_connect_are_as_far_as_these():
    matrix = ultrametric((4, 3), [1.0, 0.5])
    keep = np.zeros((12, 12), dtype=bool)
    for leader in range(0, 12, 3):
        keep[leader, leader : leader + 3] = True
        keep[leader, ::3] = True
    assert complete(without(matrix, keep), 0.0) == pytest.approx(matrix)


def test_what_was_measured_stays_as_it_is():
    random = np.random.default_rng(1)
    matrix = random.normal(size=(6, 6))
    matrix += matrix.T
    np.fill_diagonal(matrix, 0.0)
    assert complete(matrix, 0.1) == pytest.approx(matrix)


def test_what_is_filled_in_scatters_like_what_was_measured():
    keep = np.zeros((60, 60), dtype=bool)
    keep[0] = True
    found = complete(without(ultrametric((60,), [1.0]), keep), 0.05)
    filled = found[1:, 1:][np.triu_indices(59, 1)]
    assert np.std(filled) == pytest.approx(0.05, rel=0.1)


def test_ranks_without_a_way_to_each_other_are_named():
    keep = np.zeros((4, 4), dtype=bool)
    keep[0, 1] = keep[2, 3] = True
    with pytest.raises(IsochroneError, match="do not connect ranks 0 and 2"):
        complete(without(ultrametric((4,), [1.0]), keep), 0.0)
