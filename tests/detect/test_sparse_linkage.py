# SPDX-License-Identifier: BSD-3-Clause
"""The tree of few distances is that of all, and says what is not known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from isochrone.detect.distance import distances_of
from isochrone.detect.place_pairs import PlacePairs
from isochrone.detect.sparse_linkage import meeting_heights, sparse_linkage
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


def filled(matrix, noise=0.0):
    """What is known and what follows of a matrix with holes."""
    log_s, _, known = PlacePairs.of(distances_of(matrix, noise), filled=True).block(np.arange(len(matrix)))
    assert known[~np.eye(len(matrix), dtype=bool)].all()
    return log_s


@given(st.sampled_from([(3, 4), (2, 3, 4), (5, 2, 2)]), st.integers(0, 1000))
@settings(max_examples=30)
def test_the_star_of_one_rank_in_every_group_tells_the_rest(counts, seed):
    matrix = ultrametric(counts, [1.0, 0.5, 0.7][: len(counts)])
    n = len(matrix)
    order = np.random.default_rng(seed).permutation(n)
    keep = np.zeros((n, n), dtype=bool)
    for pivot in range(0, n, counts[-1]):
        keep[pivot] = True
    shuffled = np.ix_(order, order)
    assert filled(without(matrix, keep)[shuffled]) == pytest.approx(matrix[shuffled])


def test_two_ranks_that_only_their_leaders_connect_are_as_far_as_these():
    matrix = ultrametric((4, 3), [1.0, 0.5])
    keep = np.zeros((12, 12), dtype=bool)
    for leader in range(0, 12, 3):
        keep[leader, leader : leader + 3] = True
        keep[leader, ::3] = True
    assert filled(without(matrix, keep)) == pytest.approx(matrix)


def test_what_was_measured_stays_as_it_is():
    random = np.random.default_rng(1)
    matrix = random.normal(size=(6, 6))
    matrix += matrix.T
    np.fill_diagonal(matrix, 0.0)
    assert filled(matrix, 0.1) == pytest.approx(matrix)


def test_what_is_filled_in_scatters_like_what_was_measured():
    keep = np.zeros((60, 60), dtype=bool)
    keep[0] = True
    found = filled(without(ultrametric((60,), [1.0]), keep), 0.05)
    between = found[1:, 1:][np.triu_indices(59, 1)]
    assert np.std(between) == pytest.approx(0.05, rel=0.1)


def test_places_without_a_way_to_each_other_are_refused():
    keep = np.zeros((4, 4), dtype=bool)
    keep[0, 1] = keep[2, 3] = True
    with pytest.raises(IsochroneError, match="do not connect all places"):
        filled(without(ultrametric((4,), [1.0]), keep))


@given(st.integers(2, 40), st.integers(0, 1000))
@settings(max_examples=30)
def test_of_all_pairs_it_is_the_average_linkage_of_scipy(items, seed):
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(items, 1)
    log_s = random.normal(size=len(first))
    tree, least = sparse_linkage(first, second, log_s, items)
    expected = linkage(log_s - least, "average")
    assert tree[:, 2:] == pytest.approx(expected[:, 2:])
    some = random.permutation(items)[: items // 2 + 1]
    heights = squareform(cophenet(expected))
    assert meeting_heights(tree, some) == pytest.approx(heights[np.ix_(some, some)])
