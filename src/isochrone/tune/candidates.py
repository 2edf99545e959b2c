# SPDX-License-Identifier: BSD-3-Clause
"""Which recipes are worth measuring: a search through all that the grammar allows, priced by the PLogP
simulator.

A recipe for a tree of L levels is an algorithm for each way of a level and a segment size, far too many to
price them all. So each family is searched by coordinate descent: from a start, one part after the other is
replaced by the best choice for it while the others stay, until nothing gets better. The model only has to be
right about what is *not* worth measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log

from isochrone import _core
from isochrone.files import NATIVE
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.forms import (
    MAPPED,
    MOST_SEGMENTS,
    OWN,
    SMALLEST_SEGMENTED_BYTES,
    Form,
    dividing_algorithms,
    level_algorithms,
    may_be_native_inside,
    meant,
    nameable_levels,
    segments_for,
)
from isochrone.tune.prices import Prices, distinct

PIPELINED_BYTES = (32768, 131072, 262144)
"""Segments of what is a candidate on a real machine whatever the model says of it."""


def candidates(
    collective: str,
    layout: _core.Layout,
    roots: Sequence[int],
    size_bytes: int,
    most: int,
    most_segments: int = MOST_SEGMENTS,
) -> list[str]:
    """Up to `most` recipes for a collective, the cheapest by the model first, one or more of each family.

    Families: hierarchical on all levels, on fewer of them, with the library's own innermost where that can
    be; flat in tree order; small messages along a tree laid over the network; flat in rank order. `native`
    is not among them: it is measured always. They are searched from the first root and ranked by the
    dearest: what leaves levels out may be lucky from one of them.
    """
    prices = Prices(collective, layout, roots, size_bytes, most_segments)
    segments = segments_for(collective, size_bytes, most_segments)
    finalists = [
        _descend(collective, start, segments, prices)
        for start in _starts(collective, nameable_levels(collective, layout), segments)
    ]
    # Of equal price in the order of the families, which unlike that of a set is the same in all processes.
    best = sorted(dict.fromkeys(finalists), key=prices.dearest)
    # Where the model errs most is how dear each message is: so the best also in segments of other sizes.
    resized = sorted(_resized(collective, best[0], segments), key=prices.dearest)
    others = sorted(prices.known(), key=prices.first)[: 4 * most]
    few = [*best, *resized[:3], *sorted(others, key=prices.dearest)]
    return distinct(few, prices)[:most]


def rough_s(collective: str, layout: _core.Layout, size_bytes: int) -> float:
    """What a call of a good recipe takes from rank 0, in seconds by the model. Of what cuts a message into
    segments their size is searched alone: all else takes most of the time of a search.
    """
    segments = segments_for(collective, size_bytes, MOST_SEGMENTS)
    prices = Prices(collective, layout, (0,), size_bytes, MOST_SEGMENTS)
    forms = list(_starts(collective, nameable_levels(collective, layout), segments))
    if max(segments) < SMALLEST_SEGMENTED_BYTES:
        forms = [_descend(collective, form, segments, prices) for form in forms]
    else:
        forms += [other for form in forms for other in _resized(collective, form, segments)]
    return min(map(prices.first, forms))


def pipelines(
    collective: str, layout: _core.Layout, size_bytes: int, most_segments: int = MOST_SEGMENTS
) -> list[str]:
    """For large messages on a machine that is not the model's own: chains of leaders at all levels, flat
    inside the innermost. No link carries the message twice, and the time does not grow with the ranks.

    In one segment that most libraries send without asking, and two that are long beside the asking. The model
    may be off by a factor of two here: it knows the eager limit of a link only where sizes were probed around
    it, and not how many messages a library asks for at once.
    """
    levels = nameable_levels(collective, layout)
    segments = segments_for(collective, size_bytes, most_segments)
    ways = level_algorithms(collective, outermost=False)
    if len(levels) < 2 or any("chain" not in names for names in level_algorithms(collective, True)):
        return []
    inner = tuple("chain" if "chain" in names else names[0] for names in ways)
    last = tuple("flat" if "flat" in names else names[0] for names in ways)
    algorithms = (("chain",), *(inner for _ in levels[1:-1]), last)
    form = Form(tuple(levels), algorithms)
    lengths = [segment for segment in PIPELINED_BYTES if segment in segments]
    if not lengths and size_bytes > PIPELINED_BYTES[-1]:
        # All of these would be too many.
        lengths = list(segments[1:2])
    found = [replace(form, segment_bytes=segment) for segment in lengths]
    return [each.text() for each in meant(collective, found)]


def neighbours(
    collective: str,
    layout: _core.Layout,
    recipe: str,
    roots: Sequence[int],
    size_bytes: int,
    most: int,
    most_segments: int = MOST_SEGMENTS,
) -> list[str]:
    """Recipes that differ from one in one part: in every segment size, the nearest first, and in up to `most`
    algorithms, the cheapest by the model first.

    The model knows nothing of cores that ranks share, nor of what one message costs a library. Where that
    decides, the best recipe measured so far is a better start than the model's best.
    """
    prices = Prices(collective, layout, roots, size_bytes, most_segments)
    form = Form.of(recipe, collective)
    sizes = segments_for(collective, size_bytes, most_segments)
    segments, *parts = _neighbourhoods(collective, form, sizes)
    # A message that is not cut is one segment.
    whole = max(1, size_bytes)
    own = form.segment_bytes or whole
    resized = sorted(segments, key=lambda other: abs(log((other.segment_bytes or whole) / own)))
    others = sorted((other for part in parts for other in part), key=prices.dearest)
    found = distinct([form, *resized, *others], prices)[1:]
    wanted = {other.text() for other in resized}
    wanted |= set([text for text in found if text not in wanted][:most])
    return [text for text in found if text in wanted]


def of_next_sizes(best: Mapping[int, str], most_segments: int = MOST_SEGMENTS) -> dict[int, list[str]]:
    """For each size the best recipes of the next smaller and the next larger one. Where the model errs for a
    size it may be right for the one beside it.

    Args:
        best: the best recipe measured for each size in bytes.
        most_segments: recipes that cut the message into more are left out.
    """
    sizes = sorted(best)
    found: dict[int, list[str]] = {}
    for at, size in enumerate(sizes):
        near = [best[other] for other in (*sizes[max(at - 1, 0) : at], *sizes[at + 1 : at + 2])]
        found[size] = [
            recipe
            for recipe in dict.fromkeys(near)
            if recipe not in (best[size], NATIVE)
            and size <= (Form.of(recipe).segment_bytes or size) * most_segments
        ]
    return found


def _starts(collective: str, levels: Sequence[str], segments: Sequence[int]) -> Iterable[Form]:
    large = max(segments) >= SMALLEST_SEGMENTED_BYTES
    segment = segments[len(segments) // 2] if large else 0

    def first(at: int) -> tuple[str, ...]:
        """A chain for large messages, a binomial tree for small ones; where there is none, what is."""
        wanted = ("chain", "pipeline", "binomial") if large else ("binomial",)
        ways = level_algorithms(collective, at == 0)
        return tuple(next((name for name in wanted if name in names), names[0]) for names in ways)

    row = table_row(collective)
    if len(levels) > 1:
        for kept in dict.fromkeys(
            (tuple(levels), tuple(levels[:-1]), (levels[0], levels[1]), (levels[0], levels[-1]))
        ):
            if len(kept) > 1:
                algorithms = tuple(first(at) for at in range(len(kept)))
                yield Form(kept, algorithms, segment)
                if may_be_native_inside(collective):
                    yield Form(kept, (*algorithms[:-1], OWN), segment)
        if not row["in_order"]:
            yield Form((), (first(0),), segment, "ordered")
        if large and not row["in_order"]:
            # A descent that starts from trees in segments does not come to these.
            for name in dividing_algorithms(collective):
                yield Form((), ((name,),), 0, "ordered")
                if row["up"]:
                    inside = tuple(first(at) for at in range(1, len(levels)))
                    yield Form(tuple(levels), ((name,), *inside), 0)
        elif not large:
            yield from meant(collective, (Form((), (first(0),), segment, order) for order in MAPPED))
    yield Form((), (first(0),), segment)


def _descend(collective: str, form: Form, segments: Sequence[int], prices: Prices) -> Form:
    """Replaces one part after the other by its best choice until a round changes nothing."""
    improved = True
    while improved:
        improved = False
        for near in _neighbourhoods(collective, form, segments):
            best = min(near, key=prices.first)
            if prices.first(best) < prices.first(form):
                form = best
                improved = True
    return form


def _neighbourhoods(collective: str, form: Form, segments: Sequence[int]) -> Iterable[list[Form]]:
    yield _resized(collective, form, segments)
    for position, ways in enumerate(form.algorithms):
        if ways == OWN:
            continue
        for way, names in enumerate(level_algorithms(collective, position == 0)):
            chosen = [
                (
                    *form.algorithms[:position],
                    (*ways[:way], name, *ways[way + 1 :]),
                    *form.algorithms[position + 1 :],
                )
                for name in names
            ]
            yield meant(collective, (replace(form, algorithms=algorithms) for algorithms in chosen))


def _resized(collective: str, form: Form, segments: Sequence[int]) -> list[Form]:
    return meant(collective, (replace(form, segment_bytes=segment) for segment in segments))


def laid_over_hosts(recipe: str, collective: str) -> list[str]:
    """The recipe with the tree at its outermost level laid over the network, in each order; none where it has
    no tree, or an order already.
    """
    form = Form.of(recipe, collective)
    return [
        other.text()
        for other in meant(collective, (replace(form, order=order) for order in MAPPED))
        if not form.order and not table_row(collective)["in_order"]
    ]
