# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind the page's charts, once and small, as `assets/report.js` reads them; `plots/` draws from
the same.

Latencies keep three significant digits: a 512 x 512 matrix is a third of a megabyte, and no rank is left out.
What is said of a value that is pointed at is worded here too: of matrices once for each value that occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from isochrone.report.bysize import BySize, Panel, by_size
from isochrone.report.facts import Facts
from isochrone.report.latencies import Latencies, blocks, latencies, marks
from isochrone.report.mergetree import MergeTree
from isochrone.report.rankmap import RankMap
from isochrone.report.ticks import Ticks
from isochrone.report.traffic import Sent, sent
from isochrone.statistics import FloatArray, Interval
from isochrone.units import (
    approximate_bytes,
    format_bytes,
    format_ratio,
    format_ratio_interval,
    format_share,
    format_time,
)
from isochrone.words import level_noun

MOST_CELLS = 256
"""On a side of a matrix of bytes; more ranks than that share cells, so that the page stays small."""


def chart_data(facts: Facts) -> dict[str, object]:
    """Everything that the page's script draws; times in microseconds."""
    order = facts.tree_order
    hosts = {host: number for number, host in enumerate(facts.hosts)}
    data: dict[str, object] = {
        "ranks": facts.rank_count,
        "hosts": list(hosts),
        "host_of_rank": [hosts[facts.places[place].host] for place in facts.topology.ranks],
        "cpus_of_rank": [facts.places[place].cpus for place in facts.topology.ranks],
        "order": order.tolist(),
        "levels": [
            {
                "noun": level_noun(level.name),
                "nouns": level_noun(level.name, 2),
                "blocks": blocks(facts, index),
            }
            for index, level in enumerate(facts.levels)
        ],
    }
    latency_us = None if facts.matrix_s is None else _upper_triangle_us(facts.matrix_s)
    data["latency_us"] = latency_us
    data["latency_words"] = _words_of(latency_us or (), lambda us: format_time(us * 1e-6))
    pairs = latencies(facts)
    data["scale"] = None if pairs is None else _scale(pairs)
    if facts.tree is not None:
        data["tree"] = _tree(facts, facts.tree)
    if facts.mapping is not None:
        data["mapping"] = _mapping(facts, facts.mapping)
    drawn = {comparison.stem: by_size(comparison) for comparison in facts.comparisons}
    data["collectives"] = {stem: _by_size(each) for stem, each in drawn.items() if each is not None}
    return data


def _scale(found: Latencies) -> dict[str, object]:
    return {
        "low_us": found.low_s * 1e6,
        "high_us": found.high_s * 1e6,
        "outlines": found.outlines,
        "complete": found.unmeasured is None,
        "marks": found.marks,
        **_time_axis(found.ticks),
    }


def _tree(facts: Facts, tree: MergeTree) -> dict[str, object]:
    return {
        "floor_us": tree.floor_s * 1e6,
        "top_us": tree.top_s * 1e6,
        **_time_axis(tree.ticks),
        "leaves": tree.leaves,
        "merges": [
            [m.level, m.left_x, m.right_x, *_us(m.left_s, m.right_s, m.height_s), format_time(m.height_s)]
            for m in tree.merges
        ],
        "cuts": [
            {
                "nouns": level_noun(facts.levels[cut.level].name, 2),
                "height_us": cut.height_s * 1e6,
                "words": format_time(cut.height_s),
            }
            for cut in tree.cuts
        ],
    }


def _mapping(facts: Facts, mapping: RankMap) -> dict[str, object]:
    hosts = {host: number for number, host in enumerate(facts.hosts)}
    found = sent(mapping.tasks, facts.place_groups, mapping.at, MOST_CELLS)
    return {
        "host_in_order": [hosts[place.host] for place in mapping.file.identity],
        "host_mapped": [hosts[place.host] for place in mapping.file.places],
        "levels": [
            {
                "noun": share.title,
                "before": share.before,
                "after": share.after,
                "before_words": f"{approximate_bytes(share.before_bytes)}, {format_share(share.before)}",
                "after_words": f"{approximate_bytes(share.after_bytes)}, {format_share(share.after)}",
            }
            for share in mapping.shares
        ],
        "sent": None if found is None else sent_document(found),
    }


def sent_document(found: Sent) -> dict[str, object]:
    """What ranks send, as the page's script draws it: logarithms of bytes to three digits, null where nothing
    is sent.
    """
    values, names = found.ticks
    as_found, mapped = _logarithms(found.found), _logarithms(found.mapped)
    return {
        "ranks": found.ranks,
        "side": found.side,
        "order": found.order.tolist(),
        "outlines": [[(round(a, 3), round(b, 3)) for a, b in level] for level in found.outlines],
        "marks": marks(found.side),
        "found": as_found,
        "mapped": mapped,
        "words": _words_of([*as_found, *mapped], lambda value: approximate_bytes(round(10**value))),
        "low": math.log10(found.low_bytes),
        "high": math.log10(found.high_bytes),
        **_axis(([math.log10(value) for value in values], names)),
    }


def _words_of(values: Iterable[float | None], words: Callable[[float], str]) -> list[tuple[float, str]]:
    """Each value that occurs, with what is said of it: values of three digits are few, however many cells
    there are.
    """
    return [(value, words(value)) for value in sorted({value for value in values if value is not None})]


def _logarithms(matrix: FloatArray) -> list[float | None]:
    return [round(float(np.log10(value)), 3) if value > 0 else None for value in matrix.reshape(-1)]


def _upper_triangle_us(matrix_s: FloatArray) -> list[float | None]:
    rows, columns = np.triu_indices(len(matrix_s), k=1)
    values = matrix_s[rows, columns] * 1e6
    return [_three_digits(float(value)) if np.isfinite(value) else None for value in values]


def _three_digits(value: float) -> float | int:
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _us(*seconds: float) -> list[float]:
    return [float(f"{value * 1e6:.5g}") for value in seconds]


def _by_size(drawn: BySize) -> dict[str, object]:
    """Times in microseconds."""
    names = [format_bytes(size) for size in drawn.sizes_bytes]
    return {
        "sizes": drawn.sizes_bytes,
        "size_axis": {"title": {"text": drawn.size_title}, **_axis(drawn.size_ticks)},
        "times": _panel(drawn.times, names, 1e6, _time_words),
        "speedups": _panel(drawn.speedups, names, 1.0, _ratio_words),
    }


def _panel(
    panel: Panel, sizes: Sequence[str], factor: float, words: Callable[[Interval], str]
) -> dict[str, object]:
    values, names = panel.ticks
    return {
        "lines": [
            {
                "name": line.name,
                "kind": line.kind,
                "values": [_interval(value, factor) for value in line.values],
                "words": [
                    None if value is None else f"{size}: {f'{detail}, ' if detail else ''}{words(value)}"
                    for size, detail, value in zip(sizes, line.details, line.values, strict=True)
                ],
            }
            for line in panel.lines
        ],
        "range": [math.log10(end * factor) for end in (panel.low, panel.high)],
        **_axis(([value * factor for value in values], names)),
    }


def _time_words(interval: Interval) -> str:
    low, high = format_time(interval.low), format_time(interval.high)
    return f"{format_time(interval.estimate)} [{low} – {high}]"


def _ratio_words(interval: Interval) -> str:
    return f"{format_ratio(interval.estimate)} [{format_ratio_interval(interval)}]"


def _time_axis(ticks: Ticks) -> dict[str, object]:
    values, names = ticks
    return _axis(([value * 1e6 for value in values], names))


def _axis(ticks: Ticks) -> dict[str, object]:
    return {"tickvals": ticks[0], "ticktext": ticks[1]}


def _interval(interval: Interval | None, factor: float) -> list[float] | None:
    if interval is None:
        return None
    return [float(f"{value * factor:.5g}") for value in (interval.estimate, interval.low, interval.high)]
