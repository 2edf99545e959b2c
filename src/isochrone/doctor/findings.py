# SPDX-License-Identifier: BSD-3-Clause
"""Which parts of a machine are slower than their like.

What explains most is taken first, and its share taken off; what is left is explained by the next, and at
last by single pairs. So one bad cable is one finding, and not one for each pair that goes over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.doctor.residuals import Residuals
from isochrone.doctor.suspects import Suspect, pair, suspects
from isochrone.files import Place
from isochrone.statistics import column_medians
from isochrone.units import format_bytes, format_time, number_of

# What is less slow than this is no finding, however sure it is.
LEAST_FACTOR = 1.2

# A finding is so many times the scatter of its level beyond it; of several pairs the scatter falls with their
# number, but not below a part of it, as pairs of one rank or host have errors in common.
_SURE = 6.0
_SURE_OF_PAIR = 8.0
_LEAST_SHARE_OF_SCATTER = 0.25

# With fewer pairs a median is no more than one of them.
_LEAST_PAIRS = 2

MOST = 100
"""More are not listed."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A part of the machine that is slow.

    Attributes:
        suspect: which.
        size_bytes: the message size that shows it most.
        factor: how many times longer its pairs take than expected.
        time_s: what they take one way, the median.
        expected_s: what their like take, the median, with what findings before it add.
        scatter: of the level that most of them meet at, as a ratio.
        weight: what it explains, for the order.
        sure: whether that was so without other messages around too: some of its pairs were measured alone.
    """

    suspect: Suspect
    size_bytes: int
    factor: float
    time_s: float
    expected_s: float
    scatter: float
    weight: float
    sure: bool

    def __str__(self) -> str:
        return (
            f"{self.suspect.name}: {self.factor:.2f} x as long as expected "
            f"({format_bytes(self.size_bytes)}: {format_time(self.time_s)}, "
            f"not {format_time(self.expected_s)}; "
            f"{number_of(len(self.suspect.pairs), 'pair')}, scatter {self.scatter:.1%})"
        )

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "kind": self.suspect.kind,
            "name": self.suspect.name,
            "ranks": list(self.suspect.ranks),
            "size_bytes": self.size_bytes,
            "factor": self.factor,
            "time_s": self.time_s,
            "expected_s": self.expected_s,
            "scatter": self.scatter,
            "pairs": len(self.suspect.pairs),
        }


def findings(residuals: Residuals, places: Sequence[Place], with_levels: bool = False) -> list[Finding]:
    """What is slow, worst first: by how many pairs it slows down, and how much.

    Args:
        residuals: of the pairs.
        places: of the ranks.
        with_levels: whether whole levels may be slow (if the pairs are compared with older ones).
    """
    every = [each for each in suspects(residuals, places, with_levels) if len(each.pairs) >= _LEAST_PAIRS]
    excess = residuals.excess.copy()
    found: list[Finding] = []
    judged = {k: _judge(residuals, excess, each) for k, each in enumerate(every)}
    while len(found) < MOST and (slow := {k: each for k, each in judged.items() if each is not None}):
        worst = max(slow, key=lambda k: slow[k].weight)
        found.append(slow[worst])
        here = every[worst].pairs
        excess[here] -= column_medians(excess[here])
        # What takes no part any more need not be judged again, nor what has no part in that.
        del judged[worst]
        changed = np.zeros(len(excess), dtype=np.bool_)
        changed[here] = True
        for k in judged:
            if changed[every[k].pairs].any():
                judged[k] = _judge(residuals, excess, every[k])
    single = np.flatnonzero(_beyond(residuals, excess))
    for index in single[:MOST].tolist():
        finding = _judge(residuals, excess, pair(residuals, places, index))
        if finding is not None:
            found.append(finding)
    return sorted(found, key=lambda finding: -finding.weight)[:MOST]


def _judge(residuals: Residuals, excess: Floats, suspect: Suspect) -> Finding | None:
    here = suspect.pairs
    more = column_medians(excess[here])
    level = int(np.bincount(residuals.level[here]).argmax())
    scatter = residuals.scatter[level]
    # Large messages may have been sent between few of the pairs only.
    counts = np.count_nonzero(~np.isnan(excess[here]), axis=0)
    beyond = np.where(np.isnan(more), -np.inf, more - _threshold(scatter, counts))
    alone = here[residuals.alone[here]]
    if len(alone):
        # What was fast without other messages around had only been disturbed.
        beyond[column_medians(excess[alone]) < more / 2] = -np.inf
    if np.count_nonzero(beyond > 0) < _least_sizes(residuals):
        return None
    size = int(np.argmax(np.where(beyond > 0, more, -np.inf)))
    return Finding(
        suspect=suspect,
        size_bytes=residuals.sizes_bytes[size],
        factor=float(np.exp(more[size])),
        time_s=float(np.nanmedian(residuals.time_s[here, size])),
        # `excess` is without what was found before.
        expected_s=float(np.nanmedian(residuals.time_s[here, size] / np.exp(excess[here, size]))),
        scatter=float(scatter[size]),
        weight=float(len(here) * np.sum(np.where(beyond > 0, more, 0.0) ** 2)),
        sure=len(alone) > 0,
    )


def _beyond(residuals: Residuals, excess: Floats) -> Booleans:
    """[pair], whether a pair by itself is a finding."""
    sure = _threshold(residuals.scatter[residuals.level], np.array(1))
    beyond = np.count_nonzero(np.nan_to_num(excess, nan=-np.inf) > sure, axis=1)
    result: Booleans = beyond >= _least_sizes(residuals)
    return result


def _threshold(scatter: Floats, pairs: Ints) -> Floats:
    """The excess beyond which the median of so many pairs is a finding, of the scatter's shape."""
    share = np.maximum(1 / np.sqrt(np.maximum(pairs, 1)), _LEAST_SHARE_OF_SCATTER)
    sure: Floats = np.maximum(
        np.where(pairs <= 1, _SURE_OF_PAIR, _SURE * share) * scatter, np.log(LEAST_FACTOR)
    )
    return sure


def _least_sizes(residuals: Residuals) -> int:
    """How many message sizes must show it: timed one after the other, what one shows may have passed."""
    return 2 if len(residuals.sizes_bytes) > 2 else 1
