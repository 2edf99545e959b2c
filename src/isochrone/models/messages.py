# SPDX-License-Identifier: BSD-3-Clause
"""What models of messages are fitted to, and what a fitted one says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.files import Links
from isochrone.models.observation import Cost, CostKind, Observation


class TooLittleError(ValueError):
    """There is not enough to fit a model to; says what is missing."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model, with the interval that holds it with 95 % confidence.

    Attributes:
        name: as in the formula.
        unit: s, s/B, B; empty for a plain number.
        low, high: NaN where they are not known.
    """

    name: str
    unit: str
    estimate: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, eq=False)
class Messages:
    """Times of messages between ranks that meet at one level.

    Attributes:
        sizes_bytes, times_s: [message].
        pairs: [message], numbers that tell which are of one pair of ranks, or one file.
        costs: of each kind, by size.
    """

    sizes_bytes: Floats
    times_s: Floats
    pairs: Ints
    costs: Mapping[CostKind, Mapping[int, float]]

    def cost_s(self, kind: CostKind) -> float | None:
        """Of the smallest message; None where it was not measured."""
        by_size = self.costs.get(kind)
        return by_size[min(by_size)] if by_size else None

    @property
    def overhead_s(self) -> float | None:
        """o: of sender and receiver the mean, of the smallest message; None where neither was measured."""
        told = [self.cost_s("send_overhead"), self.cost_s("receive_overhead")]
        known = [each for each in told if each is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, eq=False)
class FittedMessages:
    """A model of messages with its parameters.

    Attributes:
        parameters: for people.
        fitted: how many of them were fitted to the times.
        time_s: seconds that messages of some sizes, [n] in bytes, take.
        links: the same as the core's simulation takes it.
    """

    parameters: tuple[Parameter, ...]
    fitted: int
    time_s: Callable[[Floats], Floats]
    links: Links


def messages_of(observations: Sequence[Observation], costs: Sequence[Cost]) -> Messages:
    """Messages of one level: observations and costs are of that alone."""
    numbers: dict[str, int] = {}
    by_kind: dict[CostKind, dict[int, float]] = {}
    for cost in costs:
        by_kind.setdefault(cost.kind, {})[cost.size_bytes] = cost.time_s
    return Messages(
        np.array([each.size_bytes for each in observations], dtype=np.float64),
        np.array([each.time_s for each in observations]),
        np.array([numbers.setdefault(_pair(each), len(numbers)) for each in observations], dtype=np.int64),
        by_kind,
    )


def _pair(observation: Observation) -> str:
    """Two ranks, or a file without the line."""
    return observation.source.rpartition(":")[0] or observation.source
