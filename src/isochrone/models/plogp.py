# SPDX-License-Identifier: BSD-3-Clause
"""PLogP: T(m) = L + g(m), with g and the overheads any functions of the size (Kielmann, Bal and Verstoep,
IPDPS 2000).

They are known at the measured sizes, and on straight lines between these; beyond the last on the last line,
below the first as there.
"""

from __future__ import annotations

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.files import Links
from isochrone.models.fitting import fit_groups
from isochrone.models.messages import FittedMessages, Messages, Parameter, TooLittleError
from isochrone.models.observation import CostKind
from isochrone.units import approximate_bytes


def fit_plogp(messages: Messages) -> FittedMessages:
    """Raises TooLittleError for fewer than two sizes."""
    knots, which = np.unique(messages.sizes_bytes, return_inverse=True)
    if len(knots) < 2:
        raise TooLittleError("needs two message sizes")
    found, ends = fit_groups(which, messages.times_s, messages.pairs)
    return FittedMessages(
        tuple(
            Parameter(f"L+g({approximate_bytes(int(size))})", "s", float(value), *end.tolist())
            for size, value, end in zip(knots, found, ends, strict=True)
        ),
        len(knots),
        lambda at: _on_lines(at, knots, found),
        _links(messages, knots, found),
    )


def _on_lines(at: Floats, knots: Floats, times_s: Floats) -> Floats:
    slope = max(0.0, float((times_s[-1] - times_s[-2]) / (knots[-1] - knots[-2])))
    values: Floats = np.interp(at, knots, times_s) + slope * np.maximum(at - knots[-1], 0.0)
    return values


def _links(messages: Messages, knots: Floats, times_s: Floats) -> Links:
    """For the core, as those of a topology: the gap is what is beyond the latency, and does not fall. Of the
    latency the receiver's processor has its overhead of the smallest message, where that was measured: a
    larger one's holds the transfer too, since the message waits for its receiver.
    """
    receive_s = min(messages.cost_s("receive_overhead") or 0.0, float(times_s[0]))
    gap_s = np.maximum.accumulate(np.maximum(times_s - times_s[0], 0.0))
    sizes = [int(size) for size in knots]
    return Links(
        float(times_s[0]),
        _points(messages, "send_overhead"),
        ((0, receive_s),),
        tuple(zip(sizes, gap_s.tolist(), strict=True)),
    )


def _points(messages: Messages, kind: CostKind) -> tuple[tuple[int, float], ...]:
    return tuple(sorted(messages.costs.get(kind, {}).items())) or ((0, 0.0),)
