# SPDX-License-Identifier: BSD-3-Clause
"""What the model says that recipes take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from isochrone import _core
from isochrone.files import NATIVE
from isochrone.tune.forms import Form, quadratic, uses

STEADY_SEGMENTS = (24, 48)
"""A pipeline is in its steady state by then: what one more segment adds is what every further one adds."""
MOST_PRICED = 1024
"""Pricing one recipe among more ranks takes seconds, and memory by their square."""
LARGEST_QUADRATIC = 128
"""Ranks beyond which what sends as many messages as their square, among all or in segments, is no
candidate.
"""


class Prices:
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
            self._prices[form, root] = (
                inf
                if self._has_too_many_messages(form)
                else price_s(self._collective, self._layout, form, root, self._size_bytes)
            )
        return self._prices[form, root]

    def _has_too_many_messages(self, form: Form) -> bool:
        """Whether it sends as many messages as the square of the ranks, and these are many; or in segments
        more of them than a tree may send.
        """
        if not form.segment_bytes:
            return not form.levels and self._is_large() and uses(form, self._collective, quadratic)
        if self._is_large() and uses(form, self._collective, quadratic):
            return True
        segments = self._size_bytes / form.segment_bytes
        most = self._most_segments * self._layout.size
        return segments > 1 and segments * self._messages_of_a_segment(form) > most

    def _is_large(self) -> bool:
        return self._layout.size > LARGEST_QUADRATIC

    def _messages_of_a_segment(self, form: Form) -> int:
        whole = replace(form, segment_bytes=0)
        if whole not in self._messages:
            self._messages[whole] = _core.messages(
                self._collective, self._layout, whole.text(), self._roots[0], 0
            )
        return self._messages[whole]


def distinct(forms: Iterable[Form], prices: Prices) -> list[str]:
    """Without those of equal price to the sixth digit, which are the same messages by another name: all trees
    of two ranks are one.
    """
    seen: dict[str, str] = {}
    for form in forms:
        if prices.dearest(form) < inf:
            seen.setdefault(f"{prices.dearest(form):.6g}", form.text())
    return list(seen.values())


def price_s(collective: str, layout: _core.Layout, form: Form, root: int, size_bytes: int) -> float:
    """The model's time, with long pipelines continued from their steady state."""
    segment, recipe = form.segment_bytes, form.text()
    fewer, more = STEADY_SEGMENTS
    if not segment or size_bytes <= more * segment:
        return _core.predict(collective, layout, recipe, root, size_bytes)
    at_fewer, at_more = (
        _core.predict(collective, layout, recipe, root, count * segment) for count in STEADY_SEGMENTS
    )
    each = (at_more - at_fewer) / (more - fewer)
    return at_more + (size_bytes / segment - more) * each


def predicted_s(
    collective: str, layout: _core.Layout, recipe: str, root: int, size_bytes: int
) -> float | None:
    """The model's time for a recipe; None for the library's own, which has none."""
    return None if recipe == NATIVE else _core.predict(collective, layout, recipe, root, size_bytes)
