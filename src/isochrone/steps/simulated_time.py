# SPDX-License-Identifier: BSD-3-Clause
"""What simulating takes of the user's time: a simulated call takes as long as its messages do to simulate, a
thousand times what it takes in the simulation.

Real time goes to each rank that starts, and to each message, the more of it the more ranks there are. It
was measured on one core of one machine; for others it is a guess.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import median

from isochrone import _core
from isochrone.steps.racing import Racing
from isochrone.steps.rounds import SIMULATED_CALLS
from isochrone.tune.collectives import has_agreed_size
from isochrone.tune.forms import Form

SIMULATION_S, SIMULATED_RANK_S, SIMULATED_NODES_S = 0.5, 0.005, 1.8e-7
"""Of a simulation: to start, for each rank, and for each three of them: SimGrid's communicators for nodes
take the square of the ranks in messages.
"""
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
    return SIMULATION_S + SIMULATED_RANK_S * ranks + SIMULATED_NODES_S * ranks**3


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


def foreseen(racing: Racing) -> Simulated:
    """What a tuning simulates, from its races to its proof, by what the model proposes to race first. Of the
    library's own as many messages are foreseen as of the median of the recipes at that size, and of a size
    that is proven without a race as many as of those that have one. Where rules end is proven on top of that.
    """
    calls = messages = messages_s = 0.0
    effort = racing.effort
    race = effort.looks[0] + LEFT * sum(effort.looks[1:])
    first = Counter((spot.row, spot.members) for spot in racing.proposed)
    for spot, recipes in racing.proposed.items():
        layout, roots = racing.layouts[spot.members], len(spot.shape.tuned)
        # The library's own, and what has it inside, once more to set things up.
        raced = roots * (race + 1 + NEAR * sum(effort.looks))
        proofs = 2 * (effort.launches * effort.verify + 1) * len(spot.verified) / len(spot.measured_bytes)
        if has_agreed_size(spot.collective):
            proofs *= len(racing.sizes_bytes[spot.collective]) / first[spot.row, spot.members]
        for size in spot.measured_bytes:
            each = [
                _core.messages(spot.collective, layout, one, spot.shape.tuned[0], size) for one in recipes
            ]
            each_s = [
                count * message_s(layout.size, Form.of(one).segment_bytes or size)
                for count, one in zip(each, recipes, strict=True)
            ]
            calls += roots * race * len(each) + raced + proofs
            if each:
                messages += roots * race * sum(each) + (raced + proofs) * median(each)
                messages_s += roots * race * sum(each_s) + (raced + proofs) * median(each_s)
    launches = math.ceil(calls / SIMULATED_CALLS) + 1
    return Simulated(calls, messages, launches * launch_s(racing.layouts[""].size) + messages_s)
