# SPDX-License-Identifier: BSD-3-Clause
"""Times of trees in several orders, and what laying them over the network gains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isochrone import _core
from isochrone.statistics import Interval
from isochrone.studies.places import ALIKE
from isochrone.studies.study import NATIVE, Timed
from isochrone.tune.forms import MAPPED

TREES = ("binomial", "knomial/4", "binary")
"""The second one is that of the experiment's MPI library."""
BY_RANK = "rank order"
ALL_ALIKE = "rank order, all cables alike"


class Key(NamedTuple):
    """Of a tree that was timed; `order` is one of ``MAPPED``, or one of the two above."""

    tree: str
    order: str
    ranks: int
    size_bytes: int


Times = dict[Key, list[float]]
"""Seconds in each random order of the nodes."""
Gains = dict[Key, Interval]


def times_of(timed: Sequence[Timed]) -> Times:
    """The times by trees and orders; those of the library's own are of the tree ``native``."""
    found: Times = defaultdict(list)
    for each in timed:
        is_alike = each.arrangement.placement.startswith(ALIKE)
        tree, laid = NATIVE, ""
        if each.recipe != NATIVE:
            parts = _core.recipe_parts(each.recipe)
            tree, laid = parts["algorithms"][0][0], parts["order"]
        order = ALL_ALIKE if is_alike else laid or BY_RANK
        key = Key(tree, order, each.arrangement.ranks, each.size_bytes)
        found[key].append(each.median_s.estimate)
    return dict(found)


def gains_of(times: Times) -> Gains:
    """Of each laid tree its time in rank order over its time laid: median, least and most."""
    return {
        key: spread(np.divide(times[key._replace(order=BY_RANK)], seconds).tolist())
        for key, seconds in times.items()
        if key.order in MAPPED
    }


def spread(values: Sequence[float]) -> Interval:
    """Median, least and most."""
    return Interval(float(np.median(values)), min(values), max(values), 0.0)


def order_words(order: str) -> str:
    """What an order is called."""
    return order.replace("_", " ")
