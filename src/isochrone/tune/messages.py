# SPDX-License-Identifier: BSD-3-Clause
"""What each message of a collective takes on a machine beside the model's price, by what was raced.

The model knows how much goes where. It knows less of what each message takes, as where ranks share cores. A
plan says it, for trials of recipes in programs' calls (``native/core/select/expectation.hpp``, which has the
formula).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

import numpy as np

from isochrone import _core
from isochrone.files import NATIVE, MessageCost
from isochrone.statistics import FloatArray
from isochrone.tune.forms import Form
from isochrone.tune.prices import price_s
from isochrone.tune.spots import Spot

MOST_RANKS = 128
"""Pricing all that was raced among more takes minutes, and fewer tell as much."""


def message_cost(
    times: Mapping[Spot, Mapping[str, Sequence[FloatArray]]], layouts: Mapping[str, _core.Layout]
) -> MessageCost | None:
    """The least-squares fit over all recipes of all cases, each case beside its own mean and by shares of its
    mean time; None where no case had recipes with different numbers of messages.

    Args:
        times: of each recipe that was raced at a spot, for each of its cases [repetition] in seconds.
        layouts: of each communicator, by its members.
    """
    few = ((spot, of_spot) for spot, of_spot in times.items() if layouts[spot.members].size <= MOST_RANKS)
    found = _core.message_cost([kind for spot, of_spot in few for kind in _kinds(spot, of_spot, layouts)])
    return MessageCost(found[0], int(found[1])) if found and isfinite(found[0]) else None


def _kinds(
    spot: Spot, times: Mapping[str, Sequence[FloatArray]], layouts: Mapping[str, _core.Layout]
) -> Iterator[list[tuple[float, float, float]]]:
    """Of each case of a spot: price, messages and median time of each recipe."""
    for at, case in enumerate(spot.tuned):
        kind = []
        for recipe, of_cases in times.items():
            question = spot.collective, layouts[spot.members], recipe, case.root, case.size_bytes
            # What has no price here says nothing: the races are over, and not to be lost by it.
            if recipe != NATIVE and (known := _price_and_messages(*question)):
                kind.append((*known, float(np.median(of_cases[at]))))
        yield kind


def _price_and_messages(
    collective: str, layout: _core.Layout, recipe: str, root: int, size_bytes: int
) -> tuple[float, float] | None:
    try:
        return (
            price_s(collective, layout, Form.of(recipe), root, size_bytes),
            _core.messages(collective, layout, recipe, root, size_bytes),
        )
    except ValueError:
        return None
