# SPDX-License-Identifier: BSD-3-Clause
"""Measurements and matrices of all pairs: the one from the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from isochrone.files import Measurements
from isochrone.files.measurements import VALUES


def of_squares(**arrays: np.ndarray) -> dict[str, Any]:
    """Attributes of Measurements from symmetric arrays, [rank, rank, size] each. A pair that has no time of
    the first size in ``rtt_min_s`` was not measured.
    """
    first, second = np.nonzero(np.triu(~np.isnan(arrays["rtt_min_s"][:, :, 0]), 1))
    pairs = {name: array[first, second] for name, array in arrays.items()}
    return {"first": first, "second": second, **pairs}


def square(measurements: Measurements, name: str = "rtt_min_s") -> np.ndarray:
    """One of the arrays as [rank, rank, size]; NaN for what was not measured."""
    return np.stack([measurements.square(values) for values in getattr(measurements, name).T], axis=2)


def changed(
    measurements: Measurements,
    change: Callable[[np.ndarray], None],
    names: tuple[str, ...] = ("rtt_min_s", "rtt_median_s"),
) -> Measurements:
    """With some arrays as `change` leaves them, which gets each of them as [rank, rank, size]."""
    arrays = {name: square(measurements, name) for name in VALUES}
    for name in names:
        change(arrays[name])
    return dataclasses.replace(measurements, **of_squares(**arrays))


def without(measurements: Measurements, first: int, second: int) -> Measurements:
    """As if a pair had not been measured."""
    others = [pair for pair in measurements.pairs if set(pair) != {first, second}]
    return dataclasses.replace(measurements.only_pairs(others), ended=measurements.ended)
