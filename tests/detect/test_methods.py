# SPDX-License-Identifier: BSD-3-Clause
"""Every clustering method of the table finds clear groups, and the choice among settings needs no truth."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.detect.accuracy import matched
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.methods.search import choose, search, silhouette
from isochrone.detect.methods.table import METHODS

LEVELS = np.array([np.arange(24) // 12, np.arange(24) // 4])
BY_NAME = {method.name: method for method in METHODS}


def clusters(order: np.ndarray, scatter: float = 0.02) -> Objects:
    """Two groups of three groups of four: distances 1 within four, 3 within twelve, 10 across."""
    levels = LEVELS[:, order]
    shared = (levels[:, :, None] == levels[:, None, :]).sum(axis=0)
    chance = np.triu(np.random.default_rng(1).normal(1.0, scatter, (24, 24)), 1)
    distance = np.choose(shared, [10.0, 3.0, 1.0]) * (chance + chance.T)
    np.fill_diagonal(distance, 0.0)
    return Objects(distance, distance)


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.told])
@pytest.mark.parametrize("seed", [0, 1])
def test_methods_that_are_told_the_number_of_groups_find_both_levels(name: str, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(24)
    for labels in LEVELS[:, order]:
        (found,) = BY_NAME[name].cluster(clusters(order), len(set(labels)))
        # Spectral clustering is known to fail on nested groups: the similarity knows one scale.
        least = 0.5 if name == "spectral" else 1.0
        assert matched(found, labels) >= least


@pytest.mark.parametrize("name", [method.name for method in METHODS if not method.told])
def test_a_search_contains_the_groups_that_are_there(name: str) -> None:
    order = np.random.default_rng(2).permutation(24)
    found = search(BY_NAME[name], clusters(order))
    best = [max(matched(each.labels, labels) for each in found) for labels in LEVELS[:, order]]
    assert max(best) == 1.0, f"{name}: {best}"


def test_what_is_chosen_without_the_truth_are_the_levels() -> None:
    order = np.random.default_rng(3).permutation(24)
    objects = clusters(order)
    chosen = choose(objects, search(BY_NAME["components"], objects))
    assert len(chosen) == 2
    assert {max(matched(found, labels) for found in chosen) for labels in LEVELS[:, order]} == {1.0}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_nothing_is_chosen_where_there_is_nothing(method: Method) -> None:
    chance = np.triu(np.random.default_rng(4).lognormal(0.0, 0.05, (16, 16)), 1)
    objects = Objects(chance + chance.T, chance + chance.T)
    assert choose(objects, search(method, objects)) == []


def test_silhouettes_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import silhouette_score

    objects = clusters(np.arange(24), scatter=0.3)
    for labels in LEVELS:
        expected = silhouette_score(np.abs(objects.distance_s), labels, metric="precomputed")
        assert silhouette(np.abs(objects.distance_s), labels) == pytest.approx(expected)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("ranks", [2, 3])
def test_few_ranks_are_no_trouble(method: Method, ranks: int) -> None:
    distance = np.ones((ranks, ranks)) - np.eye(ranks)
    for found in search(method, Objects(distance, distance)):
        assert len(found.labels) == ranks
        assert found.run >= 1
