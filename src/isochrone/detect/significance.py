# SPDX-License-Identifier: BSD-3-Clause
"""Whether a cut through a tree is more than clustering finds in noise.

Clustering *chooses* small distances to be within its groups, so that within is less than across even where
there is nothing to find; a test that takes the groups as given would always see them. The cut is therefore
compared with the cuts of trees that are grown in the same way over distances without structure (the gap
statistic of Tibshirani, Walther and Hastie 2001 rests on the same idea).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.detect.tree import Cut, Pairs, best_cut

# The cut must be better than every one of the draws, and by so many of their standard deviations better
# than their mean.
_LEAST_DEVIATIONS = 5.0

# With fewer pairs than this a permutation often is the same structure again: normal noise is drawn instead.
_LEAST_TO_PERMUTE = 60

# Steps of so many times the scatter are no noise; the more where nothing is known of the noise but this
# scatter.
_SURE_STEP = 6.0
_SURE_STEP_UNKNOWN = 1000.0


def beyond_noise(pairs: Pairs, cut: Cut, noise: float) -> bool:
    """Whether the cut is beyond what would be found among the same pairs without structure.

    Args:
        pairs: what was cut.
        cut: the best cut of ``pairs``.
        noise: scatter of a distance's logarithm from message to message; 0 where it is not known.
    """
    inner, outer = pairs.values[cut.inner], pairs.values[~cut.inner]
    scatter = max(noise, float(np.std(inner)), float(np.std(outer)))
    if cut.step >= (_SURE_STEP if noise > 0 else _SURE_STEP_UNKNOWN) * scatter:
        return True
    score = _score(cut.explained)
    random = np.random.default_rng(1)
    draws = int(np.clip(10_000 / len(pairs.values), 24, 2000))
    scores: list[float] = []
    for _ in range(draws):
        found = best_cut(replace(pairs, values=_without_structure(pairs.values, random)))
        scores.append(_score(found.explained if found is not None else 0.0))
        if scores[-1] >= score:
            return False
    return score - float(np.mean(scores)) >= _LEAST_DEVIATIONS * float(np.std(scores))


def _without_structure(values: Floats, random: np.random.Generator) -> Floats:
    if len(values) >= _LEAST_TO_PERMUTE:
        return random.permutation(values)
    return random.standard_normal(len(values))


def _score(explained: float) -> float:
    """The explained share of variance, 0 to 1, stretched to where equal steps are equally remarkable."""
    share = min(max(explained, 1e-12), 1 - 1e-12)
    return float(np.log(share / (1 - share)))
