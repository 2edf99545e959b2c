# SPDX-License-Identifier: BSD-3-Clause
"""Predicts how long the messages of a program take with its ranks at given places.

A task graph has no times and no order, so the messages are put in rounds. Pairs whose numbers of messages are
alike exchange together, and a pair with more goes on when the others are done. In each round a rank sends all
its messages, and goes on when its own are done. Some rounds are simulated under PLogP with shared ways
(Kielmann, Bal and Verstoep, IPDPS 2000; native/core/simulate/exchange.hpp); the others take as long as the
last of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.system import System

_MOST_MESSAGES = 1 << 21
"""Of one round: some seconds of simulation."""
_ENOUGH_MESSAGES = 1 << 18
_ROUNDS = 16
"""That are simulated, if those are not more than enough messages. By then ranks that do not wait for others
have come into step."""


def exchange_time_s(graph: TaskGraph, system: System, at: Sequence[int]) -> float:
    """How long all messages of a program take, in seconds.

    Args:
        graph: of messages, not of bare weights.
        system: whose links are measured.
        at: [rank], its place.

    Raises:
        IsochroneError: only weights are known, a link is not measured, or there are too many messages.
    """
    if not graph.messages.all():
        raise IsochroneError("the graph tells weights, not messages", todo="record the program")
    if not system.is_measured:
        raise IsochroneError("the links of the places are not measured", todo="give --topology of a survey")
    layout = system.layout().restricted_to(list(at))
    # The pools are of one machine whose cores all ranks share.
    shares = system.cores is not None and system.cores < graph.ranks
    pool_of, processors = ([0] * graph.ranks, [system.cores or 1]) if shares else ([], [])
    total_s = 0.0
    for times, flows in _rounds(graph):
        rounds = max(1, min(_ROUNDS, round(times), _ENOUGH_MESSAGES // len(flows)))
        try:
            ends_s = _core.exchange_s(flows, rounds, layout, pool_of, processors, _MOST_MESSAGES)
        except ValueError as error:
            raise IsochroneError(str(error)) from None
        half = rounds // 2
        each_s = (ends_s[-1] - ends_s[half - 1]) / (rounds - half) if half else ends_s[0]
        total_s += ends_s[-1] + (times - rounds) * each_s
    return total_s


def _rounds(graph: TaskGraph) -> list[tuple[float, NDArray[np.int64]]]:
    """Kinds of rounds: how many there are, and the messages of one, a row [source, target, 1, bytes] each."""
    # Numbers of messages with as many binary digits are alike, and are taken for their mean.
    digits = np.frexp(graph.messages.astype(np.float64))[1]
    kinds, kind = np.unique(digits, return_inverse=True)
    counts = np.bincount(kind, graph.messages) / np.bincount(kind)
    # A rank sends to the next one first: were all to begin with rank 0, its way in would be crowded.
    order = np.lexsort(((graph.targets - graph.sources) % graph.ranks, graph.sources))
    flows = np.stack(
        [
            graph.sources,
            graph.targets,
            np.ones_like(graph.messages),
            graph.volume_bytes // graph.messages,
        ],
        axis=1,
    )[order]
    rounds, done = [], 0.0
    for number in range(len(kinds)):
        rounds.append((float(counts[number] - done), np.ascontiguousarray(flows[kind[order] >= number])))
        done = float(counts[number])
    return rounds
