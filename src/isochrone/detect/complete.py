# SPDX-License-Identifier: BSD-3-Clause
"""Fills in the distances of pairs that were not measured, from those that were.

Message times of a cluster are nearly an ultrametric: of the three distances among three ranks the two
greatest are equal. So two ranks are as far from each other as the farther one is from a third rank that is
near to one and far from the other. Where every third rank is as far from the one as from the other, the two
are taken to be of one group with the nearest such rank. What is filled in is no more certain than what it
comes from: it is scattered like what was measured, so that nothing after this finds it more regular than a
machine is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from isochrone.detect.evidence import LEAST_STEP, beyond_chance
from isochrone.errors import IsochroneError

Floats = npt.NDArray[np.float64]


def complete(log_s: Floats, noise: float, seed: int = 1) -> Floats:
    """All distances.

    Args:
        log_s: [rank, rank], logarithms of the distances, symmetric; NaN for those that were not measured.
            What is on the diagonal does not count.
        noise: how far a distance's logarithm scatters from message to message.
        seed: of the scatter of what is filled in.

    Returns:
        [rank, rank], as `log_s` where that is known; 0 on the diagonal.

    Raises:
        IsochroneError: some ranks have no way to each other over measured pairs.
    """
    found = log_s.copy()
    np.fill_diagonal(found, np.nan)
    measured = ~np.isnan(found)
    # Two distances of one third rank that differ by less do not tell which one is the greater.
    tolerance = max(LEAST_STEP, beyond_chance() * np.sqrt(2) * noise)
    every = True
    while (missing := np.isnan(found) & ~np.eye(len(found), dtype=bool)).any():
        filled = _through_others(found, measured, missing, tolerance, every)
        if np.isnan(filled).all():
            break
        found[missing] = filled[missing]
        every = False
    np.fill_diagonal(found, 0.0)
    if np.isnan(found).any():
        one, other = np.argwhere(np.isnan(found))[0].tolist()
        raise IsochroneError(
            f"the pairs that were measured do not connect ranks {one} and {other}",
            todo="probe again, with more pairs",
        )
    return _scattered(found, measured, noise, seed)


def _through_others(
    found: Floats,
    measured: npt.NDArray[np.bool_],
    missing: npt.NDArray[np.bool_],
    tolerance: float,
    every: bool,
) -> Floats:
    """[rank, rank], the distances of missing pairs over one third rank each; NaN where there is none.

    Args:
        found: what is known so far.
        measured: which pairs were measured; who has most of them is asked first.
        missing: which pairs are to be found.
        tolerance: difference of two logarithms that tells which one is the greater.
        every: whether to ask every third rank, or only until each pair has one that tells.
    """
    n = len(found)
    farther = np.full((n, n), np.nan)
    contrast = np.full((n, n), -1.0)
    alike = np.full((n, n), np.inf)
    left = missing.copy()
    for third in np.argsort(-measured.sum(axis=1), kind="stable").tolist():
        known = np.flatnonzero(~np.isnan(found[third]))
        if len(known) < 2:
            continue
        cells = np.ix_(known, known)
        if not left[cells].any():
            continue
        values = found[third, known]
        greater = np.maximum(values[:, None], values[None, :])
        difference = np.abs(values[:, None] - values[None, :])
        better = difference > contrast[cells]
        contrast[cells] = np.where(better, difference, contrast[cells])
        farther[cells] = np.where(better, greater, farther[cells])
        alike[cells] = np.minimum(alike[cells], greater - difference / 2)
        if not every:
            left[cells] &= difference <= tolerance
    told = contrast > tolerance
    result = np.where(told, farther, np.where(np.isfinite(alike), alike, np.nan))
    return np.where(missing, result, np.nan)


def _scattered(found: Floats, measured: npt.NDArray[np.bool_], noise: float, seed: int) -> Floats:
    draw = np.triu(np.random.default_rng(seed).normal(0.0, noise, found.shape), 1)
    result = np.where(measured, found, found + draw + draw.T)
    np.fill_diagonal(result, 0.0)
    return result
