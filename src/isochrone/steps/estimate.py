# SPDX-License-Identifier: BSD-3-Clause
"""How long a probe would take: from a few pairs to a number of seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.adaptive.interference import SAMPLE_PAIRS
from isochrone.adaptive.level_samples import share_of_groups
from isochrone.adaptive.streams import stream_bytes, streams_s, within_budget
from isochrone.errors import IsochroneError
from isochrone.files.measurement_lines import Collector
from isochrone.launch.answers import next_object
from isochrone.launch.process import Channel
from isochrone.launch.target import Target
from isochrone.progress import part
from isochrone.steps.probe import ProbeOptions

# The adaptive mode takes about this times n log2 n pairs. On eight synthetic machines of 64 to 512 ranks,
# with and without noise, it took 0.65 to 1.5, mostly 1 to 1.3: the fewer, the smaller the groups.
_ADAPTIVE_FACTOR = 1.2

# Pairs whose parameters the adaptive mode measures: three at each of four levels.
_PARAMETER_PAIRS = 12


@dataclass(frozen=True)
class Estimate:
    """What a probe would take.

    Attributes:
        ranks: of the machine.
        mode: ``all``, ``adaptive`` or ``fast``; ``pairs`` where they are named.
        pairs: that would be measured.
        pairs_total: that there are.
        steps: one after the other, with as many pairs at once as may be.
        pair_s: mean time of a pair.
        least_s: of the whole, if every pair were measured once.
        expected_s: of the whole.
        rough: whether the number of pairs is a guess.
    """

    ranks: int
    mode: str
    pairs: int
    pairs_total: int
    steps: int
    pair_s: float
    least_s: float
    expected_s: float
    rough: bool


def estimate(target: Target, options: ProbeOptions) -> Estimate:
    """Measures a dozen pairs at random, and writes nothing.

    Raises:
        IsochroneError: the probe fails.
    """
    arguments = options.arguments(target, Path("unused"))
    heard: list[dict[str, Any]] = []

    def talk(channel: Channel) -> None:
        heard.extend((next_object(channel), next_object(channel)))

    with part("measuring a few pairs"):
        target.run("isochrone-probe", [*arguments, "--estimate"], talk)
    if len(heard) != 2:
        raise IsochroneError("isochrone-probe has ended without an answer")
    machine = Collector(heard[0], "standard output of isochrone-probe")
    return _estimate(heard[1], options, [place.host for place in machine.places])


def _estimate(found: dict[str, Any], options: ProbeOptions, hosts: Sequence[str]) -> Estimate:
    ranks = len(hosts)
    total = ranks * (ranks - 1) // 2
    above = options.follow_above
    kind = "pairs" if options.pairs else "all"
    if above is not None and ranks > above:
        kind = "fast" if options.mode == "fast" else "adaptive"
    pairs = listed = int(found["pairs"])
    if kind == "fast":
        pairs = len(share_of_groups(hosts, options.share, options.seed))
    elif kind == "adaptive":
        pairs = min(total, round(_ADAPTIVE_FACTOR * ranks * math.log2(max(ranks, 2))))
    steps = math.ceil(found["steps"] * pairs / max(listed, 1))
    pair_s, least_pair_s = float(found["pair_s"]), float(found["least_pair_s"])
    least_s = steps * least_pair_s
    # Of the fast mode nobody asks for parameters, nor for streams.
    parameters_s = _PARAMETER_PAIRS * float(found["parameters_s"]) if kind == "adaptive" else 0.0
    expected_s = steps * pair_s + parameters_s
    if options.budget_s is not None:
        expected_s = max(least_s, min(expected_s, options.budget_s))
    if above is not None:
        # They take as long as others of their kind, or as a budget lets them.
        expected_s += min(pairs, SAMPLE_PAIRS) * min(pair_s, expected_s / max(steps, 1))
    if above is not None and kind != "fast" and stream_bytes(options.sizes_bytes) is not None:
        capacities_s = _capacities_s(hosts, least_pair_s)
        if within_budget(capacities_s, options.budget_s):
            expected_s += capacities_s
    return Estimate(ranks, kind, pairs, total, steps, pair_s, least_s, expected_s, kind == "adaptive")


def _capacities_s(hosts: Sequence[str], least_pair_s: float) -> float:
    """What streams take, if hosts have two groups of ranks each, and most of the time that it takes to
    measure a pair once is that of its largest message, there and back.
    """
    host = np.unique(hosts, return_inverse=True)[1]
    rank = np.arange(len(hosts))
    return streams_s([0 * rank, host, 2 * host + rank % 2], least_pair_s / 2)
