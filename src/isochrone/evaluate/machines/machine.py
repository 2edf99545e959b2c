# SPDX-License-Identifier: BSD-3-Clause
"""What made machines are built of: nested parts, distances, and what ranks and noise add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats, Ints

Random = np.random.Generator
NEAREST_S = 3e-7


@dataclass(frozen=True, eq=False)
class Made:
    """A machine.

    Attributes:
        levels: the partitions that are there, [rank] each, outermost first, without the group of all.
        log_s: [rank, rank], logarithms of distances in seconds; 0 on the diagonal.
        noise: how far one of them scatters, as a probe would tell it; 0 where it would not.
    """

    levels: tuple[Ints, ...]
    log_s: Floats
    noise: float


def nested(sizes: Sequence[Sequence[int]]) -> tuple[Ints, ...]:
    """Partitions from how many parts each part has: of all at first, then of each part, and so on; the
    last are ranks.
    """
    labels = [np.arange(sum(sizes[-1]))]
    for parts in reversed(sizes[1:]):
        of_part = np.repeat(np.arange(len(parts)), parts)
        labels.insert(0, of_part[labels[0]])
    return tuple(labels[:-1]) if len(labels) > 1 else ()


def ultrametric(levels: Sequence[Ints], steps: Sequence[float], ranks: int) -> Floats:
    """Logarithms of distances: NEAREST_S in the innermost groups, and farther by a ratio at each level
    around.

    Args:
        levels: outermost first, without the group of all.
        steps: by which what is across a level's groups is farther than what is within, likewise.
        ranks: their number.
    """
    log_s = np.full((ranks, ranks), np.log(NEAREST_S))
    for labels, step in zip(levels, steps, strict=True):
        log_s += np.where(labels[:, None] == labels[None, :], 0.0, np.log(step))
    return log_s


def scattered(log_s: Floats, sigma: float, random: Random) -> Floats:
    """With normal noise on each pair."""
    draw = np.triu(random.normal(0.0, sigma, log_s.shape), 1)
    return log_s + draw + draw.T


def slowed(log_s: Floats, by: Floats) -> Floats:
    """With the logarithm of what each rank adds to its messages, [rank]."""
    return log_s + by[:, None] + by[None, :]


def told(levels: Sequence[Ints], log_s: Floats, sigma: float, random: Random) -> Made:
    return Made(tuple(levels), scattered(log_s, sigma, random), sigma)


def tree(
    sizes: Sequence[Sequence[int]],
    steps: Sequence[float],
    sigma: float,
    random: Random,
    by: Callable[[tuple[Ints, ...]], Floats] | None = None,
) -> Made:
    levels = nested(sizes)
    ranks = sum(sizes[-1])
    log_s = ultrametric(levels, steps, ranks)
    if by is not None:
        log_s = slowed(log_s, by(levels))
    return told(levels, log_s, sigma, random)
