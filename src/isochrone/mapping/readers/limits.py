# SPDX-License-Identifier: BSD-3-Clause
"""What the graph of a program cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from isochrone.errors import IsochroneError

MOST_RANKS = 1 << 22
MOST_WEIGHT = 1 << 62
"""Of all rows together: sums of weights stay whole numbers of 64 bits."""


def check_weights(weights: ArrayLike, path: Path, times: int = 1) -> None:
    """Raises IsochroneError where so many times the weights add up to more than can be counted."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = times * np.sum(weights, dtype=np.float64)
    if not total < MOST_WEIGHT:
        raise IsochroneError("the weights add up to 2^62 or more", str(path), "divide all by the same number")


def check_ranks(ranks: int, where: str) -> None:
    """Raises IsochroneError for more ranks than any machine has, or none."""
    if not 0 < ranks <= MOST_RANKS:
        raise IsochroneError(f"{ranks} ranks cannot be", where, f"use graphs of 1 to {MOST_RANKS} ranks")
