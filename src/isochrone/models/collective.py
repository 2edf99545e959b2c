# SPDX-License-Identifier: BSD-3-Clause
"""What links say of collectives: the core simulates the algorithm's schedule over them, be they those of a
model of messages or those of a survey. Nothing is fitted to the collectives.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from isochrone import _core
from isochrone.files import NATIVE, Links
from isochrone.models.candidate import Prediction
from isochrone.models.observation import Observation
from isochrone.tune.forms import algorithms_in

ANYWHERE = "machine"
"""The one level of ranks of which nothing is known."""

_MOST_MESSAGES = 1 << 21
"""Of one collective: some seconds of simulation."""


def from_links(links: Mapping[str, Links]) -> Prediction:
    """What collectives take on links, by the names of their levels; of ranks of which nothing is known the
    only ones count. What was simulated is kept for the next time that it is asked for.
    """
    known: dict[tuple[object, ...], float] = {}
    layouts: dict[tuple[object, ...], _core.Layout | None] = {}

    def time_s(each: Observation) -> float:
        if _messages(each) > _MOST_MESSAGES:
            return float("nan")
        where = (id(each.layout), each.ranks)
        if where not in layouts:
            layouts[where] = _layout(each, links)
        key = (*where, each.operation, each.algorithm, each.root, each.size_bytes)
        if key not in known:
            known[key] = _simulated_s(each, layouts[where])
        return known[key]

    return Prediction((), 0, lambda others: np.array([time_s(each) for each in others]))


def is_priced(observation: Observation) -> bool:
    """Whether the algorithm is one whose messages are known, and not too many."""
    if _messages(observation) > _MOST_MESSAGES:
        return False
    layout = observation.layout if observation.layout is not None else _flat(observation.ranks)
    return _is_priced(observation.operation, layout, observation.algorithm, observation.root)


@functools.lru_cache(maxsize=64)
def _flat(ranks: int) -> _core.Layout:
    return _core.layout([ANYWHERE], [[0] * ranks], [None])


@functools.lru_cache(maxsize=1 << 12)
def _is_priced(operation: str, layout: _core.Layout, algorithm: str, root: int) -> bool:
    try:
        steps = _core.schedule(operation, layout, algorithm, root, root)
    except ValueError:
        return False
    return bool(steps) and not algorithm.startswith(NATIVE)


def _layout(observation: Observation, links: Mapping[str, Links]) -> _core.Layout | None:
    """The layout of the ranks with these links; None where those of a level that they meet at are missing."""
    if observation.layout is None:
        if len(links) != 1:
            return None
        return _core.layout([ANYWHERE], [[0] * observation.ranks], [next(iter(links.values())).for_core])
    layout = observation.layout
    used = _met(layout)
    if any(name not in links for name in used):
        return None
    return _core.layout(
        layout.levels,
        layout.group_of,
        [links[name].for_core if name in links else None for name in layout.levels],
    )


def _met(layout: _core.Layout) -> list[str]:
    """The levels that some two ranks meet at."""
    groups = [np.array(each) for each in layout.group_of]
    inner = [*groups[1:], np.arange(layout.size)]
    return [
        name
        for name, outside, inside in zip(layout.levels, groups, inner, strict=True)
        if len(np.unique(inside)) > len(np.unique(outside))
    ]


def _messages(observation: Observation) -> int:
    """About how many there are, so that nothing that a file says keeps us for hours; 0 of an algorithm that
    is none.
    """
    try:
        segment_bytes = _core.recipe_parts(observation.algorithm)["segment_bytes"]
    except ValueError:
        return 0
    peers = observation.ranks if algorithms_in(observation.algorithm) & _quadratic() else 1
    segment = segment_bytes or max(observation.size_bytes, 1)
    return observation.ranks * max(peers, -(-observation.size_bytes // segment))


@functools.lru_cache(maxsize=1)
def _quadratic() -> frozenset[str]:
    return frozenset(row["name"] for row in _core.algorithms() if row["quadratic_messages"])


def _simulated_s(observation: Observation, layout: _core.Layout | None) -> float:
    """NaN for an algorithm whose messages are not known, and for links that are not."""
    if layout is None:
        return float("nan")
    try:
        return _core.predict(
            observation.operation, layout, observation.algorithm, observation.root, observation.size_bytes
        )
    except ValueError:
        return float("nan")
