# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind the page's charts, once and small, as `assets/report.js` reads them; `plots/` draws from
the same.

Latencies keep three significant digits: a 512 x 512 matrix is a third of a megabyte, and no rank is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isochrone.mapping.graph import TaskGraph
from isochrone.report.comparison import Comparison
from isochrone.report.facts import Facts
from isochrone.report.mergetree import MergeTree
from isochrone.report.rankmap import RankMap
from isochrone.report.ticks import Ticks, byte_ticks, size_ticks, time_ticks
from isochrone.report.traffic import Groups, blocks_by_place, by_place, byte_matrix
from isochrone.report.words import capitalised, level_noun
from isochrone.statistics import FloatArray, Interval
from isochrone.units import approximate_bytes, format_bytes, format_time

_LEAST_COLOUR_RATIO = 1.5
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
        "latency_us": _upper_triangle_us(facts.one_way_s),
    }
    scale = colour_range_s(facts.one_way_s)
    data["scale"] = (
        None if scale is None else {"low_us": scale[0] * 1e6, "high_us": scale[1] * 1e6, **_time_axis(*scale)}
    )
    if facts.tree is not None:
        data["tree"] = _tree(facts, facts.tree)
    if facts.mapping is not None:
        data["mapping"] = _mapping(facts, facts.mapping)
    data["collectives"] = {
        comparison.stem: _by_size(comparison) for comparison in facts.comparisons if is_drawn(comparison)
    }
    return data


def blocks(facts: Facts, level: int) -> list[list[int]]:
    """[start, end) of each group of the level along the tree's order of the ranks."""
    groups = np.asarray(facts.topology.labels(facts.levels[level]))[facts.tree_order]
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return [[int(a), int(b)] for a, b in zip(starts, [*starts[1:], len(groups)], strict=True)]


def colour_range_s(one_way_s: FloatArray) -> tuple[float, float] | None:
    """The range that colours span, in seconds: all but the outermost half percent at each end, so that one
    disturbed pair does not wash out the rest, and never less than a ratio of 1.5, so that noise does not look
    like structure. None where nothing positive was measured.
    """
    known = one_way_s[np.isfinite(one_way_s) & (one_way_s > 0)]
    if known.size == 0:
        return None
    low, high = (float(value) for value in np.quantile(known, [0.005, 0.995]))
    widening = max(1.0, _LEAST_COLOUR_RATIO / (high / low)) ** 0.5
    return low / widening, high * widening


def _tree(facts: Facts, tree: MergeTree) -> dict[str, object]:
    return {
        "floor_us": tree.floor_s * 1e6,
        "top_us": tree.top_s * 1e6,
        **_time_axis(tree.floor_s, tree.top_s),
        "leaves": tree.leaves,
        "merges": [
            [m.level, m.left_x, m.right_x, *_us(m.left_s, m.right_s, m.height_s)] for m in tree.merges
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
    total = max(1, mapping.total_bytes)
    return {
        "host_in_order": [hosts[place.host] for place in mapping.file.identity],
        "host_mapped": [hosts[place.host] for place in mapping.file.places],
        "levels": [
            {
                "noun": capitalised(level_noun(level.name)),
                "before": level.before_bytes / total,
                "after": level.after_bytes / total,
                "before_words": approximate_bytes(level.before_bytes),
                "after_words": approximate_bytes(level.after_bytes),
            }
            for level in mapping.levels
        ],
        "sent": None if mapping.tasks is None else sent(mapping.tasks, facts.place_groups, mapping.at),
    }


def sent(tasks: TaskGraph, groups: Groups, at: Sequence[int]) -> Mapping[str, object]:
    """What ranks send one another, in their order and by place, as the page's script draws it: logarithms of
    bytes to three digits, null where nothing is sent.

    Args:
        tasks: of which something is sent.
        groups: of the places.
        at: [rank], its place.
    """
    order = by_place(groups, at)
    matrices = [byte_matrix(tasks, ranks, MOST_CELLS) for ranks in (np.arange(tasks.ranks), order)]
    some = np.concatenate([matrix[matrix > 0] for matrix in matrices])
    values, names = byte_ticks(int(some.min()), int(some.max()))
    return {
        "ranks": tasks.ranks,
        "side": len(matrices[0]),
        "order": order.tolist(),
        "blocks": blocks_by_place(groups, at),
        "found": _logarithms(matrices[0]),
        "mapped": _logarithms(matrices[1]),
        "low": float(np.log10(some.min())),
        "high": float(np.log10(some.max())),
        **_axis((np.log10(values).tolist(), names)),
    }


def _logarithms(matrix: FloatArray) -> list[float | None]:
    return [round(float(np.log10(value)), 3) if value > 0 else None for value in matrix.reshape(-1)]


def _upper_triangle_us(one_way_s: FloatArray) -> list[float | None]:
    rows, columns = np.triu_indices(len(one_way_s), k=1)
    values = one_way_s[rows, columns] * 1e6
    return [_three_digits(float(value)) if np.isfinite(value) else None for value in values]


def _three_digits(value: float) -> float | int:
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _us(*seconds: float) -> list[float]:
    return [float(f"{value * 1e6:.5g}") for value in seconds]


def is_drawn(comparison: Comparison) -> bool:
    """Whether there is anything to draw by size; a size of 0 bytes has no place on a logarithmic axis and
    stands in the table only.
    """
    return any(size > 0 for size, _ in comparison.compared)


def _by_size(comparison: Comparison) -> dict[str, object]:
    """Series by size."""
    rows = comparison.sized
    times = [
        i
        for row in rows
        for i in (row.native_s, row.plan_s, row.rival and row.rival.time_s)
        if i and i.low > 0
    ]
    return {
        "sizes": [row.size_bytes for row in rows],
        "size_names": [format_bytes(row.size_bytes) for row in rows],
        "sized_by": capitalised(comparison.sized_by),
        "size_axis": _axis(size_ticks([row.size_bytes for row in rows])),
        "time_axis": _time_axis(min(i.low for i in times), max(i.high for i in times)),
        "native_us": [_interval(row.native_s, 1e6) for row in rows],
        "plan_us": [_interval(row.plan_s, 1e6) for row in rows],
        "rival_us": [_interval(row.rival.time_s if row.rival else None, 1e6) for row in rows],
        "rival_names": [row.rival.name if row.rival else None for row in rows],
        "speedup": [_interval(row.speedup, 1.0) for row in rows],
        "rival_speedup": [_interval(row.rival.speedup if row.rival else None, 1.0) for row in rows],
    }


def _time_axis(low_s: float, high_s: float) -> dict[str, object]:
    values, names = time_ticks(low_s, high_s)
    return _axis(([value * 1e6 for value in values], names))


def _axis(ticks: Ticks) -> dict[str, object]:
    return {"tickvals": ticks[0], "ticktext": ticks[1]}


def _interval(interval: Interval | None, factor: float) -> list[float] | None:
    if interval is None or interval.low <= 0:
        return None
    return [float(f"{value * factor:.5g}") for value in (interval.estimate, interval.low, interval.high)]
