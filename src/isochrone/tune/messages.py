# SPDX-License-Identifier: BSD-3-Clause
"""What each message of a collective takes on a machine beside the model's price, by what was raced.

The model knows how much goes where. It knows less of what each message takes, as where ranks share cores. A
plan says it, for trials of recipes in programs' calls (``native/core/select/expectation.hpp``, which has the
formula).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from isochrone import _core
from isochrone.files import MessageCost
from isochrone.statistics import FloatArray
from isochrone.tune.forms import NATIVE, Form
from isochrone.tune.prices import MOST_PRICED, price_s
from isochrone.tune.spots import Spot


def message_cost(
    times: Mapping[Spot, Mapping[str, Sequence[FloatArray]]], layouts: Mapping[str, _core.Layout]
) -> MessageCost | None:
    """The least-squares fit over all recipes of all cases, each case beside its own mean and by shares of its
    mean time; None where no case
    had recipes with different numbers of messages.

    Args:
        times: of each recipe that was raced at a spot, for each of its cases [repetition] in seconds.
        layouts: of each communicator, by its members.
    """
    few = ((spot, of_spot) for spot, of_spot in times.items() if layouts[spot.members].size <= MOST_PRICED)
    found = _core.message_cost([kind for spot, of_spot in few for kind in _kinds(spot, of_spot, layouts)])
    return None if found is None else MessageCost(found[0], int(found[1]))


def _kinds(
    spot: Spot, times: Mapping[str, Sequence[FloatArray]], layouts: Mapping[str, _core.Layout]
) -> Iterator[list[tuple[float, float, float]]]:
    """Of each case of a spot: price, messages and median time of each recipe."""
    layout = layouts[spot.members]
    for at, case in enumerate(spot.tuned):
        messages = {
            recipe: _core.messages(spot.collective, layout, recipe, case.root, case.size_bytes)
            for recipe in times
            if recipe not in NATIVE
        }
        if len(set(messages.values())) > 1:
            yield [
                (
                    price_s(spot.collective, layout, Form.of(recipe), case.root, case.size_bytes),
                    count,
                    float(np.median(times[recipe][at])),
                )
                for recipe, count in messages.items()
            ]
