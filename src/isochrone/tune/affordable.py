# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes there is time to tune at: over slow links one exchange of large blocks takes a minute."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from isochrone import _core
from isochrone.tune.candidates import rough_s
from isochrone.tune.collectives import ELEMENT_BYTES, collective, grids
from isochrone.tune.effort import LEAST_PARTS, NOISY, least_of, part_of
from isochrone.units import format_bytes, format_time

Grids = dict[str, tuple[int, ...]]
_log = logging.getLogger(__name__)


def affordable_grids(
    names: Sequence[str],
    sizes_bytes: Sequence[int] | None,
    layout: _core.Layout,
    budget_s: float | None,
    own_s: Callable[[Mapping[str, int]], Mapping[str, float]] | None = None,
) -> Grids:
    """The ``grids``, as far as they can be raced and proven within the budget, by the model's price of a good
    recipe. Where they cannot, each collective has every third size; then the dearest sizes are left out, and
    each collective keeps its least. A line names them.

    The library's own, which is timed too, may take ten times as long as a good recipe. So it is measured
    before a collective is tuned at more than every third size.

    Args:
        names: of the collectives.
        sizes_bytes: wanted; None: the usual ones.
        layout: of all ranks.
        budget_s: in seconds; None: all sizes are wanted however long they take.
        own_s: measures what calls by the library's own take, in seconds, given the size of each collective;
            None: they take as long as a good recipe.
    """
    wanted = grids(names, sizes_bytes, layout.size)
    if budget_s is None or layout.size == 1:
        return wanted
    once_s = {(name, size): rough_s(name, layout, size) for name, sizes in wanted.items() for size in sizes}
    agreement_s = rough_s("allreduce", layout, ELEMENT_BYTES)
    least = least_of(NOISY)

    def time_s(name: str, size: int, slower: float = 1.0) -> float:
        cases = 2 if collective(name)["rooted"] else 1
        return cases * least.time_s(once_s[name, size], slower * once_s[name, size], agreement_s)

    whole_s = sum(part_of(budget_s, name) or 0.0 for name in LEAST_PARTS)
    few = grids(names, sizes_bytes, layout.size, thinned=names)
    slower: dict[str, float] = {}
    if sum(time_s(*key) for key in once_s) <= whole_s:
        more = {name: wanted[name][-1] for name in wanted if wanted[name] != few[name]}
        if own_s is not None and more:
            slower = {name: own / once_s[name, more[name]] for name, own in own_s(more).items()}
        if sum(time_s(name, size, slower.get(name, 1.0)) for name, size in once_s) <= whole_s:
            return wanted
    kept = _cheapest(few, {key: time_s(*key) for key in once_s}, whole_s)
    left_out = {name: sizes[len(kept[name])] for name, sizes in few.items() if len(kept[name]) < len(sizes)}
    if left_out:
        _log.info(
            "not tuned, as there is no time for a proof: %s; a longer --budget allows more",
            ", ".join(
                f"{name} from {format_bytes(size)} (a call takes about {format_time(once_s[name, size])})"
                for name, size in left_out.items()
            ),
        )
    thinned = [name for name in few if len(few[name]) < len(wanted[name]) and name not in left_out]
    if thinned:
        _log.info(
            "tuned at every third size, as there is no time for all: %s; a longer --budget allows more",
            ", ".join(f"{name} up to {format_bytes(few[name][-1])}" for name in thinned),
        )
    return kept


def _cheapest(few: Grids, time_s: Mapping[tuple[str, int], float], whole_s: float) -> Grids:
    kept: dict[str, list[int]] = {name: [] for name in few}
    left_s = whole_s - sum(time_s[name, sizes[0]] for name, sizes in few.items())
    # What is beyond a size that was left out is not tuned either, so that rules have no gaps. So a size comes
    # after all smaller ones, also where the model finds one of these dearer.
    dearest_s = {
        (name, size): dearest
        for name, sizes in few.items()
        for size, dearest in zip(sizes, accumulate((time_s[name, s] for s in sizes), max), strict=True)
    }
    for name, size in sorted(dearest_s, key=lambda key: dearest_s[key]):
        at = few[name].index(size)
        if at == 0:
            kept[name].append(size)
        elif len(kept[name]) == at and time_s[name, size] <= left_s:
            kept[name].append(size)
            left_s -= time_s[name, size]
    return {name: tuple(sizes) for name, sizes in kept.items()}
