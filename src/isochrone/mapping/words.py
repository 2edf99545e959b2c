# SPDX-License-Identifier: BSD-3-Clause
"""What a mapping changes, in words: `isochrone map` and the report say the same."""

from __future__ import annotations

from isochrone.files.mapping import Prediction
from isochrone.units import format_ratio, format_time


def predictions(prediction: Prediction, more_ranks: int | None = None) -> list[str]:
    """What messages take before and after, and the run if that is known; on more ranks than were recorded if
    so many are given.
    """
    where = "" if more_ranks is None else f" for {more_ranks:,} ranks"
    pairs = [("messages alone", prediction.identity_s, prediction.mapped_s)]
    if prediction.run_s is not None:
        run = "recorded run" if more_ranks is None else "such a run"
        pairs.append((run, prediction.run_s, prediction.mapped_run_s or 0.0))
    return [
        f"Predicted{where}, {what}: {format_time(before_s)} in their order, {format_time(after_s)} mapped"
        + (f", {format_ratio(before_s / after_s)} as fast" if after_s > 0 else "")
        for what, before_s, after_s in pairs
    ]


def gain(before: float, after: float) -> str:
    """How much less a mapping costs: ", 1.50× less"; nothing where that rounds to nothing."""
    ratio = format_ratio(before / after) if after > 0 else None
    return "" if ratio in (None, format_ratio(1.0)) else f", {ratio} less"


def no_help(advice: str) -> str:
    """Why mapping does not help."""
    return f"Mapping does not help: {advice}"
