# SPDX-License-Identifier: BSD-3-Clause
"""Which recipes are worth measuring: a search through all that the grammar allows, priced by the PLogP
simulator.

A recipe for a tree of L levels is an algorithm for each way of a level and a segment size, far too many to
price them all. So each family is searched by coordinate descent: from a start, one part after the other is
replaced by the best choice for it while the others stay, until nothing gets better. The model only has to be
right about what is *not* worth measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, log

from isochrone import _core
from isochrone.files import BCAST
from isochrone.tune.collectives import collective as table_row

NATIVE = ("native",)
"""The library's own, as what runs at a level."""
SEGMENTS_BYTES = (4096, 8192, 16384, 32768, 65536, 131072, 262144)
SMALLEST_SEGMENTED_BYTES = 8192
MOST_SEGMENTS = 128
STEADY_SEGMENTS = (24, 48)
"""A pipeline is in its steady state by then: what one more segment adds is what every further one adds."""
MAPPED = ("depth_first", "breadth_first", "longest_first")
"""How a tree is laid over the network, among all ranks or among those that lead at the outermost level."""
PIPELINED_BYTES = (32768, 131072, 262144)
"""Segments of what is a candidate on a real machine whatever the model says of it."""
LARGEST_QUADRATIC = 128
"""Ranks beyond which what sends as many messages as their square, among all or in segments, is no
candidate.
"""


def _ways(collective: str, outermost: bool) -> tuple[tuple[_core.Algorithm, ...], ...]:
    """The tables of algorithms that a level of a recipe chooses from: across at the outermost and in flat
    recipes, else up and down as far as the collective has them.
    """
    row = table_row(collective)
    tables = (row["across"],) if outermost else (row["up"], row["down"])
    return tuple(tuple(table) for table in tables if table)


@cache
def level_algorithms(collective: str, outermost: bool = True) -> tuple[tuple[str, ...], ...]:
    """What may run at a level, for each of its ways: every row of the table, with each parameter to tune
    with.
    """
    return tuple(
        tuple(
            f"{row['name']}/{parameter}" if parameter else row["name"]
            for row in table
            for parameter in row["tuned_parameters"] or (0,)
        )
        for table in _ways(collective, outermost)
    )


@cache
def _quadratic(collective: str, outermost: bool) -> tuple[frozenset[str], ...]:
    """Algorithms whose messages grow with the square of the ranks, for each way."""
    return tuple(
        frozenset(row["name"] for row in table if row["quadratic_messages"])
        for table in _ways(collective, outermost)
    )


@cache
def _segmented(collective: str, outermost: bool) -> tuple[frozenset[str], ...]:
    """Algorithms that cut messages unless they are told not to, for each way: they are tried in segments that
    are named.
    """
    return tuple(
        frozenset(row["name"] for row in table if row["default_segment"])
        for table in _ways(collective, outermost)
    )


@cache
def _mappable(collective: str) -> tuple[frozenset[str], ...]:
    """Algorithms across whose trees can be laid over the network."""
    return tuple(
        frozenset(row["name"] for row in table if row["mappable"]) for table in _ways(collective, True)
    )


@cache
def _dividing(collective: str) -> tuple[str, ...]:
    """Algorithms that divide the message among the ranks, as far as the table tells."""
    (table,) = _ways(collective, True)
    return tuple(sorted(row["name"] for row in table if row["quadratic_messages"] or row["commutative_only"]))


def _uses(form: Form, collective: str, names: Callable[[str, bool], tuple[frozenset[str], ...]]) -> bool:
    return any(
        algorithm.partition("/")[0] in few
        for at, ways in enumerate(form.algorithms)
        if ways != NATIVE
        for algorithm, few in zip(ways, names(collective, at == 0), strict=True)
    )


@dataclass(frozen=True)
class Form:
    """A recipe in parts. `levels` is empty for a flat one. `algorithms` has for each level, the outermost
    first, one for each of its ways: two inside, where a collective goes up and down. `order` is that of ranks
    at the outermost: "ordered", one of `MAPPED`, or empty.
    """

    levels: tuple[str, ...]
    algorithms: tuple[tuple[str, ...], ...]
    segment_bytes: int = 0
    order: str = ""

    def text(self) -> str:
        """The recipe as plans write it."""
        ways = ["+".join(dict.fromkeys(way)) for way in self.algorithms]
        if self.order:
            ways[0] = f"{self.order}({ways[0]})"
        if self.levels:
            parts = ",".join(f"{level}={way}" for level, way in zip(self.levels, ways, strict=True))
            recipe = f"hierarchical({parts})"
        else:
            recipe = ways[0]
        return f"{recipe}@{self.segment_bytes}" if self.segment_bytes else recipe

    @staticmethod
    def of(text: str, collective: str = BCAST) -> Form:
        """The parts of a recipe for a collective that ``text`` wrote."""
        recipe, _, segment = text.partition("@")
        segment_bytes = int(segment or 0)
        kind, opened, inside = recipe.removesuffix(")").partition("(")
        if not opened:
            return Form((), ((recipe,),), segment_bytes)
        if kind != "hierarchical":
            return Form((), ((inside,),), segment_bytes, kind)
        levels, named = zip(*(part.split("=") for part in inside.split(",")), strict=True)
        order, opened, _ = named[0].partition("(")
        algorithms = []
        for at, way in enumerate(named):
            ways = tuple(way.partition("(")[2].removesuffix(")").split("+") if "(" in way else way.split("+"))
            wanted = len(_ways(collective, at == 0))
            algorithms.append(ways * wanted if len(ways) == 1 and ways != NATIVE else ways)
        return Form(levels, tuple(algorithms), segment_bytes, order if opened else "")


def dividing_levels(layout: _core.Layout) -> tuple[str, ...]:
    """The levels at which parts of the communicator meet: from the innermost that holds all ranks inwards,
    without those
    that divide no further than the one before and without those of single ranks.
    """
    whole = max((i for i, groups in enumerate(layout.group_of) if len(set(groups)) == 1), default=0)
    names = [layout.levels[whole]]
    before = len(set(layout.group_of[whole]))
    for name, groups in list(zip(layout.levels, layout.group_of, strict=True))[whole + 1 :]:
        count = len(set(groups))
        if count > before and count < layout.size:
            names.append(name)
            before = count
    return tuple(names)


def _levels(collective: str, layout: _core.Layout) -> tuple[str, ...]:
    """The levels that a recipe may name. Operands that keep the order of ranks go through runs of them."""
    return tuple(
        name
        for name in dividing_levels(layout)
        if not table_row(collective)["in_order"] or layout.has_runs(name)
    )


def segments_for(collective: str, size_bytes: int, most: int = MOST_SEGMENTS) -> tuple[int, ...]:
    """Segment sizes worth a look for a message: none for small ones and for blocks, and never more than
    `most` segments.
    """
    if size_bytes < SMALLEST_SEGMENTED_BYTES or table_row(collective)["has_blocks"]:
        return (0,)
    return (0, *(s for s in SEGMENTS_BYTES if s < size_bytes <= s * most))


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
    prices = _Prices(collective, layout, roots, size_bytes, most_segments)
    segments = segments_for(collective, size_bytes, most_segments)
    finalists = [
        _descend(collective, start, segments, prices.first)
        for start in _starts(collective, _levels(collective, layout), segments)
    ]
    # Of equal price in the order of the families, which unlike that of a set is the same in all processes.
    best = sorted(dict.fromkeys(finalists), key=prices.dearest)
    # Where the model errs most is how dear each message is: so the best also in segments of other sizes.
    resized = sorted(_resized(collective, best[0], segments), key=prices.dearest)
    others = sorted(prices.known(), key=prices.first)[: 4 * most]
    few = [*best, *resized[:3], *sorted(others, key=prices.dearest)]
    return _distinct(few, prices)[:most]


def pipelines(
    collective: str, layout: _core.Layout, size_bytes: int, most_segments: int = MOST_SEGMENTS
) -> list[str]:
    """For large messages on a machine that is not the model's own: chains of leaders at all levels, flat
    inside the innermost. No link carries the message twice, and the time does not grow with the ranks.

    In one segment that most libraries send without asking, and two that are long beside the asking. The model
    may be off by a factor of two here: it knows the eager limit of a link only where sizes were probed around
    it, and not how many messages a library asks for at once.
    """
    levels = _levels(collective, layout)
    segments = segments_for(collective, size_bytes, most_segments)
    ways = level_algorithms(collective, outermost=False)
    if len(levels) < 2 or any("chain" not in names for names in level_algorithms(collective, True)):
        return []
    inner = tuple("chain" if "chain" in names else names[0] for names in ways)
    last = tuple("flat" if "flat" in names else names[0] for names in ways)
    algorithms = (("chain",), *(inner for _ in levels[1:-1]), last)
    form = Form(tuple(levels), algorithms)
    found = [replace(form, segment_bytes=segment) for segment in PIPELINED_BYTES if segment in segments]
    return [each.text() for each in _meant(collective, found)]


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
    prices = _Prices(collective, layout, roots, size_bytes, most_segments)
    form = Form.of(recipe, collective)
    sizes = segments_for(collective, size_bytes, most_segments)
    segments, *parts = _neighbourhoods(collective, form, sizes)
    # A message that is not cut is one segment.
    whole = max(1, size_bytes)
    own = form.segment_bytes or whole
    resized = sorted(segments, key=lambda other: abs(log((other.segment_bytes or whole) / own)))
    others = sorted((other for part in parts for other in part), key=prices.dearest)
    found = _distinct([form, *resized, *others], prices)[1:]
    wanted = {other.text() for other in resized}
    wanted |= set([text for text in found if text not in wanted][:most])
    return [text for text in found if text in wanted]


class _Prices:
    """The model's times of recipes for one collective and size, each worked out once."""

    def __init__(
        self,
        collective: str,
        layout: _core.Layout,
        roots: Sequence[int],
        size_bytes: int,
        most_segments: int,
    ) -> None:
        self._collective = collective
        self._layout = layout
        self._most_segments = most_segments
        self._roots = roots
        self._size_bytes = size_bytes
        self._prices: dict[tuple[Form, int], float] = {}
        self._messages: dict[Form, int] = {}

    def first(self, form: Form) -> float:
        """From the first root."""
        return self._of(form, self._roots[0])

    def dearest(self, form: Form) -> float:
        """From the root from which it takes longest."""
        return max(self._of(form, root) for root in self._roots)

    def known(self) -> list[Form]:
        """All that were asked for."""
        return list(dict.fromkeys(form for form, _ in self._prices))

    def _of(self, form: Form, root: int) -> float:
        if (form, root) not in self._prices:
            dear = self._has_too_many_messages(form)
            price = inf if dear else _price(self._collective, self._layout, form, root, self._size_bytes)
            self._prices[form, root] = price
        return self._prices[form, root]

    def _has_too_many_messages(self, form: Form) -> bool:
        """Whether it sends as many messages as the square of the ranks, and these are many; or in segments
        more of them than a tree may send.
        """
        if not form.segment_bytes:
            return not form.levels and self._is_large() and _uses(form, self._collective, _quadratic)
        if self._is_large() and _uses(form, self._collective, _quadratic):
            return True
        segments = self._size_bytes / form.segment_bytes
        most = self._most_segments * self._layout.size
        return segments > 1 and segments * self._messages_of_a_segment(form) > most

    def _is_large(self) -> bool:
        return self._layout.size > LARGEST_QUADRATIC

    def _messages_of_a_segment(self, form: Form) -> int:
        whole = replace(form, segment_bytes=0)
        if whole not in self._messages:
            self._messages[whole] = sum(
                operation["kind"] == "send"
                for rank in range(self._layout.size)
                for operation in _core.schedule(
                    self._collective, self._layout, whole.text(), rank, self._roots[0]
                )
            )
        return self._messages[whole]


def _distinct(forms: Iterable[Form], prices: _Prices) -> list[str]:
    """Without those of equal price to the sixth digit, which are the same messages by another name: all trees
    of two ranks are one.
    """
    seen: dict[str, str] = {}
    for form in forms:
        if prices.dearest(form) < inf:
            seen.setdefault(f"{prices.dearest(form):.6g}", form.text())
    return list(seen.values())


def _price(collective: str, layout: _core.Layout, form: Form, root: int, size_bytes: int) -> float:
    """The model's time, with long pipelines continued from their steady state."""
    segment, recipe = form.segment_bytes, form.text()
    fewer, more = STEADY_SEGMENTS
    if not segment or size_bytes <= more * segment:
        return _core.predict(collective, layout, recipe, root, size_bytes)
    at_more = _core.predict(collective, layout, recipe, root, more * segment)
    each = (at_more - _core.predict(collective, layout, recipe, root, fewer * segment)) / (more - fewer)
    return at_more + (size_bytes / segment - more) * each


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
            if recipe not in (best[size], *NATIVE)
            and size <= (Form.of(recipe).segment_bytes or size) * most_segments
        ]
    return found


def predicted_s(
    collective: str, layout: _core.Layout, recipe: str, root: int, size_bytes: int
) -> float | None:
    """The model's time for a recipe; None for the library's own, which has none."""
    return None if recipe in NATIVE else _core.predict(collective, layout, recipe, root, size_bytes)


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
                    yield Form(kept, (*algorithms[:-1], NATIVE), segment)
        if not row["in_order"]:
            yield Form((), (first(0),), segment, "ordered")
        if large and not row["in_order"]:
            # A descent that starts from trees in segments does not come to these.
            for name in _dividing(collective):
                yield Form((), ((name,),), 0, "ordered")
                if row["up"]:
                    inside = tuple(first(at) for at in range(1, len(levels)))
                    yield Form(tuple(levels), ((name,), *inside), 0)
        elif not large:
            yield from _meant(collective, (Form((), (first(0),), segment, order) for order in MAPPED))
    yield Form((), (first(0),), segment)


def may_be_native_inside(collective: str) -> bool:
    """Whether the library's own can stand at the innermost level: it only passes on."""
    return not table_row(collective)["up"] and not table_row(collective)["has_blocks"]


def _descend(collective: str, form: Form, segments: Sequence[int], price: Callable[[Form], float]) -> Form:
    """Replaces one part after the other by its best choice until a round changes nothing."""
    improved = True
    while improved:
        improved = False
        for near in _neighbourhoods(collective, form, segments):
            best = min(near, key=price)
            if price(best) < price(form):
                form = best
                improved = True
    return form


def _neighbourhoods(collective: str, form: Form, segments: Sequence[int]) -> Iterable[list[Form]]:
    yield _resized(collective, form, segments)
    for position, ways in enumerate(form.algorithms):
        if ways == NATIVE:
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
            yield _meant(collective, (replace(form, algorithms=algorithms) for algorithms in chosen))


def _resized(collective: str, form: Form, segments: Sequence[int]) -> list[Form]:
    return _meant(collective, (replace(form, segment_bytes=segment) for segment in segments))


def _meant(collective: str, forms: Iterable[Form]) -> list[Form]:
    """Without those that say no segment and would be cut all the same, and those that have no tree to lay
    over the network.
    """
    return [
        form
        for form in forms
        if (form.segment_bytes or not _uses(form, collective, _segmented))
        and (form.order not in MAPPED or _has_tree(form, collective))
    ]


def _has_tree(form: Form, collective: str) -> bool:
    """Whether what runs at the outermost level can be laid over the network."""
    (mappable,) = _mappable(collective)
    return form.algorithms[0][0].partition("/")[0] in mappable


def laid_over_hosts(recipe: str, collective: str) -> list[str]:
    """The recipe with the tree at its outermost level laid over the network, in each order; none where it has
    no tree, or an order already.
    """
    form = Form.of(recipe, collective)
    return [
        other.text()
        for other in _meant(collective, (replace(form, order=order) for order in MAPPED))
        if not form.order and not table_row(collective)["in_order"]
    ]
