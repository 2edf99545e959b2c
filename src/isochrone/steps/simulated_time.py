# SPDX-License-Identifier: BSD-3-Clause
"""What simulating takes of the user's time: a simulated call takes as long as its messages do to simulate, a
thousand times what it takes in the simulation.

Real time goes to each rank that starts, and to each message, the more of it the more ranks there are. It
was measured on one core of one machine; for others it is a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from isochrone import _core
from isochrone.steps.rounds import SIMULATED_CALLS
from isochrone.tune.effort import Effort
from isochrone.tune.forms import Form
from isochrone.tune.spots import Spot

SIMULATION_S, SIMULATED_RANK_S = 0.5, 0.005
"""Of a simulation: to start, and for each rank."""
SIMULATED_EAGER_S, SIMULATED_LARGE_S = 3e-7, 1e-6
"""For each message, and for each rank that there is beside it. Among 128 and 448 ranks small ones took
0.25e-6 to 0.35e-6 s, large ones 0.35e-6 s on links of their own, and 0.9e-6 to 3.2e-6 s where they
share some.
"""
_LARGE_BYTES = 16384
LEFT = 0.5
"""Of what races in a first look, how much is left in the next."""
NEAR = 2
"""Recipes of the next sizes, with what they race beside."""


def launch_s(ranks: int) -> float:
    """Of a simulation of so many ranks, before its first call."""
    return SIMULATION_S + SIMULATED_RANK_S * ranks


def message_s(ranks: int, size_bytes: int) -> float:
    """Of a message of this size among so many ranks."""
    return ranks * (SIMULATED_LARGE_S if size_bytes > _LARGE_BYTES else SIMULATED_EAGER_S)


@dataclass(frozen=True)
class Simulated:
    """What a tuning simulates.

    Attributes:
        calls: of collectives.
        messages: of all of these.
        time_s: real time.
    """

    calls: float
    messages: float
    time_s: float


def foreseen(
    proposed: Mapping[Spot, Sequence[str]], layouts: Mapping[str, _core.Layout], effort: Effort
) -> Simulated:
    """What a tuning simulates, from its races to its proof, by the model's proposals for each spot. Of the
    library's own as many messages are foreseen as of the median of these, and of a spot without them none.
    """
    calls = messages = messages_s = 0.0
    race = effort.looks[0] + LEFT * sum(effort.looks[1:])
    for spot, recipes in proposed.items():
        layout, roots = layouts[spot.members], len(spot.shape.tuned)
        # The library's own, and what has it inside, once more to set things up.
        raced = roots * (race + 1 + NEAR * sum(effort.looks))
        proven = len(spot.verified) / len(spot.measured_bytes) * 2 * (effort.launches * effort.verify + 1)
        for size in spot.measured_bytes:
            each = [
                _core.messages(spot.collective, layout, one, spot.shape.tuned[0], size) for one in recipes
            ]
            each_s = [
                count * message_s(layout.size, Form.of(one).segment_bytes or size)
                for count, one in zip(each, recipes, strict=True)
            ]
            calls += roots * race * len(each) + raced + proven
            if each:
                messages += roots * race * sum(each) + (raced + proven) * median(each)
                messages_s += roots * race * sum(each_s) + (raced + proven) * median(each_s)
    starts_s = calls / SIMULATED_CALLS * launch_s(layouts[""].size)
    return Simulated(calls, messages, starts_s + messages_s)
