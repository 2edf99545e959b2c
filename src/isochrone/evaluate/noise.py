# SPDX-License-Identifier: BSD-3-Clause
"""Disturbs measurements that were made without noise, as messages on a machine are.

A simulation tells the time of one message exactly. What repetitions on a machine would have shown is drawn
around it: what differs from message to message, what stays the same for a pair, and passing disturbances.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.files import Measurements

# Pairs that are disturbed at some time, for how many round trips on average, and by how many times their
# length on average.
_BURST_SHARE = 0.1
_BURST_LENGTH = 20.0
_BURST_FACTOR = 2.0

# Samples that are held at once.
_CHUNK = 1 << 22


@dataclass(frozen=True)
class Noise:
    """What disturbs messages.

    Attributes:
        lognormal: sigma of the factor on the time of each message.
        bias: sigma of the factor on all messages of a pair.
        bursts: whether some pairs are held up for a while: one in ten, for twenty round trips on average,
            which then take three times as long on average.
        seed: of each of the three: it and the two numbers after it.
    """

    lognormal: float
    bias: float
    bursts: bool
    seed: int = 1

    def __str__(self) -> str:
        if self == CLEAN:
            return "none"
        with_bursts = ", bursts" if self.bursts else ""
        return f"{self.lognormal:.0%} of each message, {self.bias:.0%} of each pair{with_bursts}"


CLEAN = Noise(0.0, 0.0, False)
NOISY = Noise(0.1, 0.03, True)


def disturb(exact: Measurements, noise: Noise, repetitions: Sequence[int]) -> list[Measurements]:
    """What so many repetitions would have shown.

    Args:
        exact: without noise, one round trip of each pair and size.
        noise: what disturbs them.
        repetitions: how many round trips of each pair and size; fewer are the first ones of the most.

    Returns:
        Measurements for each number of repetitions.
    """
    times_s = exact.rtt_min_s
    found = [np.empty((2, *times_s.shape)) for _ in repetitions]
    bias = np.exp(np.random.default_rng(noise.seed + 1).normal(0.0, noise.bias, len(times_s)))
    messages = np.random.default_rng(noise.seed)
    passing = np.random.default_rng(noise.seed + 2)
    most = max(repetitions)
    for chunk in _chunks(len(times_s), most):
        pairs = chunk.stop - chunk.start
        for size in range(times_s.shape[1]):
            factor = _messages(messages, pairs, most, noise.lognormal)
            if noise.bursts:
                factor *= _bursts(passing, pairs, most)
            rtt_s = (times_s[chunk, size] * bias[chunk])[:, None] * factor
            for count, arrays in zip(repetitions, found, strict=True):
                first = rtt_s[:, :count]
                for which, values in enumerate((first.min(axis=1), np.median(first, axis=1))):
                    arrays[which, chunk, size] = values
    return [
        dataclasses.replace(
            exact, repetitions=count, rtt_min_s=arrays[0], rtt_median_s=arrays[1], counts=None, alone={}
        )
        for count, arrays in zip(repetitions, found, strict=True)
    ]


def _chunks(pairs: int, most: int) -> Iterator[slice]:
    step = max(1, _CHUNK // most)
    for start in range(0, pairs, step):
        yield slice(start, min(start + step, pairs))


def _messages(random: np.random.Generator, pairs: int, count: int, sigma: float) -> Floats:
    """[pair, round trip], the factor of a round trip: the mean of those of its two messages."""
    if sigma == 0:
        return np.ones((pairs, count))
    factors: Floats = np.exp(random.normal(0.0, sigma, (2, pairs, count))).mean(axis=0)
    return factors


def _bursts(random: np.random.Generator, pairs: int, count: int) -> Floats:
    """[pair, round trip], the factor of what passes. It may have begun before the first round trip."""
    hit = random.random(pairs) < _BURST_SHARE
    length = random.geometric(1 / _BURST_LENGTH, pairs)
    start = random.integers(-int(_BURST_LENGTH), count, pairs)
    factor = 1 + random.exponential(_BURST_FACTOR, pairs)
    when = np.arange(count)
    inside = hit[:, None] & (when >= start[:, None]) & (when < (start + length)[:, None])
    return np.where(inside, factor[:, None], 1.0)
