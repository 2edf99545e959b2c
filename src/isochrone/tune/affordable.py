# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes there is time to tune at: over slow links one exchange of large blocks takes a minute."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from isochrone import _core
from isochrone.tune.candidates import rough_s
from isochrone.tune.collectives import ELEMENT_BYTES, collective, grids
from isochrone.tune.effort import AGREEMENTS, LEAST_PARTS, NOISY, WINDOW, least_of, part_of
from isochrone.tune.sizes import few_of
from isochrone.units import format_bytes, format_time

Grids = dict[str, tuple[int, ...]]
Times = Mapping[tuple[str, int], float]
"""Of each collective and size, in seconds."""
Price = Callable[[str, int], float]
"""The same where it is asked for."""
ASKED = 0.02
"""Of a budget, to see how long the library's own takes, were it as fast as a good recipe by the model: it may
take ten times that."""
ASKED_CALLS = 3
"""Of a case that is timed once: the first, one to know how long it takes, and the one that counts."""
_log = logging.getLogger(__name__)


def affordable_grids(
    names: Sequence[str],
    sizes_bytes: Sequence[int] | None,
    layout: _core.Layout,
    budget_s: float | None,
    own_s: Callable[[Grids], Times] | None = None,
) -> Grids:
    """The ``grids``, as far as they can be raced and proven within the budget, by the model's price of a good
    recipe and by what the library's own takes. Where they cannot, each collective has `few_of` its sizes.
    Where these cannot either, of the largest sizes of all collectives the dearest is left out, and so on, and
    each collective has few of what is left. A line names them.

    The library's own, which is timed too, may take ten times as long as a good recipe. So it is measured
    before anything is tuned, except of sizes that are dear themselves: for these the factor of the largest
    that was measured counts.

    Args:
        names: of the collectives.
        sizes_bytes: wanted; None: the usual ones.
        layout: of all ranks.
        budget_s: in seconds; None: all sizes are wanted however long they take.
        own_s: measures what calls by the library's own take at these sizes; None: they take as long as a good
            recipe.
    """
    wanted = grids(names, sizes_bytes, layout.size)
    if budget_s is None or layout.size == 1:
        return wanted
    whole = grids(names, sizes_bytes, layout.size, thinned=())
    # Among many ranks a price takes a while: what is not asked for has none.
    once_s = cache(lambda name, size: rough_s(name, layout, size))
    agreement_s = rough_s("allreduce", layout, ELEMENT_BYTES)
    least = least_of(NOISY)
    asked = _cheap(whole, once_s, agreement_s, ASKED * budget_s) if own_s is not None else {}
    slower = _slower(own_s(asked) if own_s is not None and asked else {}, once_s)

    @cache
    def time_s(name: str, size: int) -> float:
        cases = 2 if collective(name)["rooted"] else 1
        call_s = once_s(name, size)
        return cases * least.time_s(call_s, slower(name, size) * call_s, agreement_s)

    def sum_s(sizes: Grids) -> float:
        return sum(time_s(name, size) for name, each in sizes.items() for size in each)

    whole_s = sum(part_of(budget_s, name) or 0.0 for name in LEAST_PARTS)
    if sum_s(wanted) <= whole_s:
        return wanted
    left = dict(whole)
    while sum_s(_few(left)) > whole_s and any(len(sizes) > 1 for sizes in left.values()):
        # Beyond a size that is left out nothing is tuned, so that rules have no gaps.
        dearest = max(
            (name for name in left if len(left[name]) > 1), key=lambda name: time_s(name, left[name][-1])
        )
        left[dearest] = left[dearest][:-1]
    kept = _few(left)
    _say(wanted, whole, kept, once_s)
    return kept


def _few(sizes: Grids) -> Grids:
    return {name: few_of(each) for name, each in sizes.items()}


def _cheap(whole: Grids, once_s: Price, agreement_s: float, most_s: float) -> Grids:
    """Few sizes of each collective, the cheapest of all of them first, that take so long at most to time."""
    left_s = most_s
    found: dict[str, list[int]] = {}
    every = [(name, size) for name, sizes in _few(whole).items() for size in sizes]
    for name, size in sorted(every, key=lambda key: once_s(*key)):
        left_s -= WINDOW * ASKED_CALLS * once_s(name, size) + AGREEMENTS * agreement_s
        if left_s < 0:
            break
        found.setdefault(name, []).append(size)
    return {name: tuple(sorted(sizes)) for name, sizes in found.items()}


def _slower(own_s: Times, once_s: Price) -> Price:
    """How much longer the library's own takes than a good recipe: between two sizes that were measured on a
    line of logarithms, beyond them as the nearest.
    """
    factors: dict[str, dict[int, float]] = {}
    for (name, size), took_s in sorted(own_s.items()):
        factors.setdefault(name, {})[size] = took_s / once_s(name, size)

    def factor(name: str, size: int) -> float:
        measured = factors.get(name)
        if not measured:
            return 1.0
        logs = np.interp(np.log1p(size), np.log1p(list(measured)), np.log(list(measured.values())))
        return float(np.exp(logs))

    return factor


def _say(wanted: Grids, whole: Grids, kept: Grids, once_s: Price) -> None:
    """What is left out, and what was wanted at all sizes and has few."""
    beyond = {name: whole[name][whole[name].index(sizes[-1]) + 1 :] for name, sizes in kept.items()}
    left_out = {name: sizes[0] for name, sizes in beyond.items() if sizes}
    if left_out:
        _log.info(
            "not tuned, as there is no time for a proof: %s; a longer --budget allows more",
            ", ".join(
                f"{name} from {format_bytes(size)} (a call takes about {format_time(once_s(name, size))})"
                for name, size in left_out.items()
            ),
        )
    thinned = [name for name in kept if name not in left_out and len(kept[name]) < len(wanted[name])]
    if thinned:
        _log.info(
            "tuned at few sizes, as there is no time for all: %s; a longer --budget allows more",
            ", ".join(f"{name} at {len(kept[name])} of {len(wanted[name])}" for name in thinned),
        )
