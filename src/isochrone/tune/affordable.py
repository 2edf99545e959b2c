# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes there is time to tune at: over slow links one exchange of large blocks takes a minute."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from isochrone import _core
from isochrone.tune.candidates import candidates, predicted_s
from isochrone.tune.collectives import grids
from isochrone.tune.effort import MEASURING, NOISY
from isochrone.units import format_bytes, format_time

CALLS = 2 * NOISY.launches * (1 + NOISY.least_verify)
"""Of a recipe and the library's own, that are the least for a proof, without the races before it."""
_log = logging.getLogger(__name__)


def affordable_grids(
    names: Sequence[str], sizes_bytes: Sequence[int], layout: _core.Layout, budget_s: float | None
) -> dict[str, tuple[int, ...]]:
    """The ``grids``, without the sizes that cannot be proven within the budget, by the model's best recipe:
    the dearest are left out, and each collective keeps its least. A line names them.

    Args:
        names: of the collectives.
        sizes_bytes: wanted.
        layout: of all ranks.
        budget_s: in seconds; None: all sizes are wanted however long they take.
    """
    wanted = grids(names, sizes_bytes, layout.size)
    if budget_s is None or layout.size == 1:
        return wanted
    once_s = {(name, size): _once_s(name, layout, size) for name, sizes in wanted.items() for size in sizes}
    kept: dict[str, list[int]] = {name: [] for name in wanted}
    left_s = MEASURING * budget_s
    for name, size in sorted(once_s, key=lambda key: once_s[key]):
        # What is beyond a size that was left out is not tuned either, so that rules have no gaps.
        is_next = len(kept[name]) == wanted[name].index(size)
        if not kept[name] or (is_next and CALLS * once_s[name, size] <= left_s):
            kept[name].append(size)
            left_s -= CALLS * once_s[name, size]
    left_out = {
        name: sizes[len(kept[name])] for name, sizes in wanted.items() if len(kept[name]) < len(sizes)
    }
    if left_out:
        _log.info(
            "not tuned, as there is no time for a proof: %s; a longer --budget allows more",
            ", ".join(
                f"{name} from {format_bytes(size)} (a call takes about {format_time(once_s[name, size])})"
                for name, size in left_out.items()
            ),
        )
    return {name: tuple(sizes) for name, sizes in kept.items()}


def _once_s(name: str, layout: _core.Layout, size_bytes: int) -> float:
    """Of one call by the model's best recipe, in seconds."""
    best = candidates(name, layout, (0,), size_bytes, 1)
    return (predicted_s(name, layout, best[0], 0, size_bytes) or 0.0) if best else 0.0
