# SPDX-License-Identifier: BSD-3-Clause
"""What a model of messages says of collectives: the core simulates the algorithm's schedule over links that
are those of the model. Nothing is fitted to the collectives.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import astuple

import numpy as np

from isochrone import _core
from isochrone.files import Links
from isochrone.models.candidate import Prediction
from isochrone.models.messages import FittedMessages, Parameter
from isochrone.models.observation import Observation

ANYWHERE = "machine"
"""The one level of ranks of which nothing is known."""


def from_messages(fitted: Mapping[str, FittedMessages], observations: Sequence[Observation]) -> Prediction:
    """The model, by level, as one of collectives.

    Args:
        fitted: by the name of the level; of ranks of which nothing is known the only one counts.
        observations: all whose times are asked for, so that each is simulated once.
    """
    known: dict[tuple[object, ...], float] = {}
    layouts: dict[tuple[object, ...], _core.Layout | None] = {}

    def time_s(each: Observation) -> float:
        where = (id(each.layout), each.ranks)
        if where not in layouts:
            layouts[where] = _layout(each, {name: model.links for name, model in fitted.items()})
        key = (*where, each.operation, each.algorithm, each.root, each.size_bytes)
        if key not in known:
            known[key] = _simulated_s(each, layouts[where])
        return known[key]

    for each in observations:
        time_s(each)
    parameters = [
        Parameter(f"{name}: {each.name}", each.unit, each.estimate, each.low, each.high)
        for name, model in fitted.items()
        for each in model.parameters
    ]
    return Prediction(tuple(parameters), 0, lambda others: np.array([time_s(each) for each in others]))


def is_priced(observation: Observation) -> bool:
    """Whether the algorithm is one whose messages are known."""
    layout = observation.layout
    if layout is None:
        layout = _core.layout([ANYWHERE], [[0] * observation.ranks], [None])
    return _is_priced(observation.operation, layout, observation.algorithm, observation.root)


@functools.lru_cache(maxsize=1 << 12)
def _is_priced(operation: str, layout: _core.Layout, algorithm: str, root: int) -> bool:
    try:
        return "native" not in algorithm and bool(_core.schedule(operation, layout, algorithm, root, root))
    except ValueError:
        return False


def _layout(observation: Observation, links: Mapping[str, Links]) -> _core.Layout | None:
    """The layout of the ranks with these links; None where those of a level that they meet at are missing."""
    if observation.layout is None:
        if len(links) != 1:
            return None
        return _core.layout([ANYWHERE], [[0] * observation.ranks], [astuple(next(iter(links.values())))[:5]])
    layout = observation.layout
    used = _met(layout)
    if any(name not in links for name in used):
        return None
    return _core.layout(
        layout.levels,
        layout.group_of,
        [astuple(links[name])[:5] if name in links else None for name in layout.levels],
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
