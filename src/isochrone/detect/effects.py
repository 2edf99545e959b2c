# SPDX-License-Identifier: BSD-3-Clause
"""What each rank adds to all its messages, told from what a step between groups does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.evidence import ENOUGH, LEAST_STEP, MOST_ROUNDS, NEARLY_EVERY
from isochrone.detect.partitions import meeting_level
from isochrone.detect.place_pairs import PlacePairs


def rank_effects(log_s: Floats, own: Booleans, across: Booleans) -> Floats:
    """[rank], the logarithm of what each adds: log_s[i, j] = r[i] + r[j] + one of two means, by whether the
    pair is within a group or across.

    Of four ranks, two in each of two groups, the sum of two distances within less that of two across has no
    effect in it: that tells a step (the four-point condition; Buneman 1971). Beyond their median, residuals
    count as they are and not as their squares (Huber 1964), so that odd pairs have no say; the fit is by
    reweighted least squares.

    Args:
        log_s: [rank, rank], logarithms of distances.
        own, across: [rank, rank], symmetric, which pairs are within and across.
    """
    n = len(log_s)
    first, second = np.nonzero(np.triu(own | across, 1))
    values, kind = log_s[first, second], across[first, second].astype(np.int64)
    weight = np.ones(len(values))
    found: Floats = np.zeros(n + 2)
    # Where an effect and a step cannot be told apart the pull of one pair towards no effects decides.
    pull = 1 / len(values)
    for _ in range(ENOUGH):
        of_kind = sum(np.bincount(2 * each + kind, weight, minlength=2 * n) for each in (first, second))
        of_kind = np.reshape(of_kind, (n, 2))
        system = np.zeros((n + 2, n + 2))
        system[first, second] = weight
        system[:n, n:] = of_kind
        system += system.T
        ranks, kinds = of_kind.sum(axis=1) + pull, of_kind.sum(axis=0) / 2 + 1e-12
        np.fill_diagonal(system, np.concatenate([ranks, kinds]))
        of_pair = weight * values
        ends = sum(np.bincount(each, of_pair, minlength=n) for each in (first, second))
        right = np.concatenate([ends, np.bincount(kind, of_pair, minlength=2)])
        before, found = found, np.asarray(np.linalg.solve(system, right), dtype=np.float64)
        left = np.abs(values - found[n + kind] - found[first] - found[second])
        # What is less than a tenth of a step that is of use is not odd: else, without noise, the pull is.
        least = max(float(np.median(left)), (1 - NEARLY_EVERY) * LEAST_STEP)
        if np.abs(found - before).max() < (1 - NEARLY_EVERY) * least:
            break
        weight = 1 / np.maximum(left, least)
        weight /= weight.mean()
    effects: Floats = found[:n] - np.median(found[:n])
    return effects


def effects_around(pairs: PlacePairs, levels: Sequence[Ints]) -> Floats:
    """[place], the same where the levels are known: the median of what is left of each place's distances.

    Args:
        pairs: the distances that are known.
        levels: the group of each place, outermost first.
    """
    first, second, log_s = pairs.of_two
    meets = meeting_level(levels, first, second)
    effects = np.zeros(pairs.places)
    ends = np.concatenate([first, second])
    for _ in range(MOST_ROUNDS if len(log_s) else 0):
        medians = group_medians(meets, log_s - effects[first] - effects[second], meets.max() + 1)
        of_pair = log_s - medians[meets]
        effects = group_medians(
            ends, np.concatenate([of_pair - effects[second], of_pair - effects[first]]), pairs.places
        )
        seen = np.bincount(ends, minlength=pairs.places) > 0
        effects[seen] -= np.median(effects[seen])
    return effects


def group_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """[group], the median of the values of each, [value], of so many groups; 0 of one that has none."""
    # Sorted group by group: these are set apart by more than all values.
    low, span = float(values.min()), float(np.ptp(values)) + 1.0
    ordered = np.sort(values - low + group * span)
    count = np.bincount(group, minlength=groups)
    start = np.cumsum(count) - count
    middle = ordered[np.minimum(start + np.maximum(count - 1, 0) // 2, len(values) - 1)]
    middle += ordered[np.minimum(start + count // 2, len(values) - 1)]
    return np.where(count > 0, middle / 2 - np.arange(groups) * span + low, 0.0)
