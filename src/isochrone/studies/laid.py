# SPDX-License-Identifier: BSD-3-Clause
"""Times of trees in several orders, and what laying them over the network gains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isochrone import _core
from isochrone.files import NATIVE
from isochrone.statistics import FloatArray, Interval, median_ci, ratio_ci
from isochrone.studies.places import ALIKE
from isochrone.studies.study import Timed
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


Times = dict[Key, list[FloatArray]]
"""Seconds, [repetition], in each random order of the nodes."""
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
        found[key].append(each.times_s)
    return dict(found)


def gains_of(times: Times) -> Gains:
    """Of each laid tree its time in rank order over its time laid: median, least and most of the random
    orders of the nodes; of a single one the ratio, with the interval that repetitions give.
    """
    gains = {}
    for key, laid in times.items():
        if key.order in MAPPED:
            by_rank = times[key._replace(order=BY_RANK)]
            if len(laid) == 1:
                gains[key] = ratio_ci(by_rank[0], laid[0])
            else:
                gains[key] = _spread(np.divide(medians(by_rank), medians(laid)))
    return gains


def medians(of_draws: Sequence[FloatArray]) -> FloatArray:
    """[random order], in seconds."""
    return np.array([median_ci(times_s).estimate for times_s in of_draws])


def seconds(of_draws: Sequence[FloatArray]) -> Interval:
    """The median of the random orders with the least and the most; of a single one with its interval."""
    return median_ci(of_draws[0]) if len(of_draws) == 1 else _spread(medians(of_draws))


def _spread(values: FloatArray) -> Interval:
    return Interval(float(np.median(values)), float(values.min()), float(values.max()), 0.0)


def order_words(order: str) -> str:
    """What an order is called."""
    return order.replace("_", " ")
