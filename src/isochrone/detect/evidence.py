# SPDX-License-Identifier: BSD-3-Clause
"""What a difference of times must be: the step that is of use, and one chance of an error, from which follows
how far beyond its scatter a difference is none of chance.

A distance is taken to scatter normally, in logarithms, around the median of the pairs that are alike. That
one value is of the far ones of two kinds and not of the near ones has the logarithmic likelihood ratio
(value - middle) * step / scatter² (Wald, "Sequential Analysis", 1947, where tests end at such a ratio).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

LEAST_STEP = float(np.log(1.05))
"""Steps below this ratio are of no use: they change nothing that a schedule could gain from."""

ERROR = 1e-3
"""The chance that one test is wrong. Where many values are tried at once it is shared between them."""

EVIDENCE = -math.log(ERROR)
"""The logarithm of how much likelier one of two cases must be to be taken as true."""

ENOUGH = math.ceil(EVIDENCE / math.log(2))
"""Tosses of a coin that by chance all come out alike less often than that. So many witnesses that agree, or
steps that halve what is wrong, are enough."""

NEARLY_EVERY = 0.9
"""So many of the ranks must bear a level out: the others may be slow, or misled by an odd message."""

SLOWER = 1.2
"""So many times slower, and no more, may be slow and not far: parts of one host (the core that the system
runs on itself), or pairs that others have disturbed."""

FEW = 3
"""Values that tell something together: of so many, one that is odd does not move the median."""

MOST_ROUNDS = 3
"""Of doing again what follows from what it changes: nearly always the second changes nothing."""


def beyond_chance(values: int = 1) -> float:
    """How many times the scatter the least of so many values is below their median, but for the chance of
    an error.
    """
    return float(ndtri(1 - ERROR / values))
