# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy is the ratio of ranks in the right group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.detect.accuracy import matched
from isochrone.detect.known import HOST_NAMES, Known
from isochrone.detect.labels import accuracies


def test_names_of_groups_do_not_matter():
    assert matched([5, 5, 9, 9], ["b", "b", "a", "a"]) == 1.0


@pytest.mark.parametrize(
    ("found", "known", "ratio"),
    [
        ([0, 0, 0, 0], [0, 0, 1, 1], 0.5),
        ([0, 1, 2, 3], [0, 0, 1, 1], 0.5),
        ([0, 0, 0, 1], [0, 0, 1, 1], 0.75),
        ([0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1], 4 / 6),
    ],
)
def test_a_group_found_stands_for_one_group_known(found, known, ratio):
    assert matched(found, known) == pytest.approx(ratio)


def test_the_level_that_fits_best_counts():
    found = [np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1])]
    assert accuracies(found, [Known("node", np.array([1, 1, 0, 0]), HOST_NAMES)]) == {"node": 1.0}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_accuracy_is_one_only_for_the_same_partition(pairs):
    found, known = (list(labels) for labels in zip(*pairs, strict=True))
    same = len(set(pairs)) == len(set(found)) == len(set(known))
    assert (matched(found, known) == 1.0) == same
