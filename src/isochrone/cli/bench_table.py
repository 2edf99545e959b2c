# SPDX-License-Identifier: BSD-3-Clause
"""What ``isochrone bench`` prints: a table for each collective or pattern, with the columns of other
benchmarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from isochrone.cli.options import columns

if TYPE_CHECKING:
    from isochrone.files import Bench, BenchCase
    from isochrone.statistics import Interval

_TIMES = ("bytes", "avg", "min", "max", "p50", "95 %", "p95", "calls")
_COLLECTIVE: tuple[str, ...] = (*_TIMES, "speedup", "95 %", "recipe")
_PATTERN: tuple[str, ...] = (*_TIMES, "MB/s")
_NUMBERS = range(len(_COLLECTIVE) - 1)


@dataclass(frozen=True)
class Row:
    """One recipe in one case: of a collective the times of the slowest rank, of a pattern those of a message.

    Attributes:
        speedup: over the library's own, by the medians.
        bytes_per_s: bandwidth of a pattern, by the median; None: it is a collective.
    """

    case: BenchCase
    recipe: str
    mean_s: float
    min_s: float
    max_s: float
    median: Interval
    p95_s: float
    repetitions: int
    speedup: Interval
    bytes_per_s: float | None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "collective" if self.bytes_per_s is None else "pattern": self.case.collective,
            "size_bytes": self.case.size_bytes,
            "root": self.case.root,
            "recipe": self.recipe,
            "mean_s": self.mean_s,
            "min_s": self.min_s,
            "max_s": self.max_s,
            "median_s": self.median.estimate,
            "ci_s": [self.median.low, self.median.high],
            "p95_s": self.p95_s,
            "repetitions": self.repetitions,
            "speedup": self.speedup.estimate,
            "speedup_ci": [self.speedup.low, self.speedup.high],
            **({} if self.bytes_per_s is None else {"bytes_per_s": self.bytes_per_s}),
        }


def rows_of(bench: Bench) -> list[Row]:
    """By collective, by size, and the library's own first; patterns are last."""
    import numpy as np

    from isochrone.files import NATIVE
    from isochrone.statistics import median_ci, ratio_ci
    from isochrone.tune.collectives import in_order

    order = in_order(bench.collectives)
    rows = []
    for case in sorted(bench.cases, key=lambda case: order.index(case.collective)):
        native = bench.slowest_s[case.key(NATIVE)]
        moved_bytes = bench.moved_bytes.get(case)
        for recipe in bench.recipes(case):
            times = bench.slowest_s[case.key(recipe)]
            median = median_ci(times)
            rows.append(
                Row(
                    case=case,
                    recipe=recipe,
                    mean_s=float(np.mean(times)),
                    min_s=float(np.min(times)),
                    max_s=float(np.max(times)),
                    median=median,
                    p95_s=float(np.quantile(times, 0.95)),
                    repetitions=len(times),
                    speedup=ratio_ci(native, times),
                    bytes_per_s=None if moved_bytes is None else moved_bytes / median.estimate,
                )
            )
    return rows


def print_rows(rows: Sequence[Row], ranks: int) -> None:
    """Prints a table for each collective and pattern; times are in microseconds."""
    from isochrone import _core
    from isochrone.tune.collectives import is_rooted, words
    from isochrone.units import number_of

    patterns = {row["name"]: row for row in _core.patterns()}
    for name, few in groupby(rows, key=lambda row: row.case.collective):
        of_one = list(few)
        is_pattern = of_one[0].bytes_per_s is not None
        title = patterns[name]["words"] if is_pattern else words(name)
        rooted = patterns[name]["rooted"] if is_pattern else is_rooted(name)
        root = f", root {of_one[0].case.root}" if rooted else ""
        measure = "of a message" if is_pattern else "until the last rank is done"
        typer.echo(f"# {title}, {number_of(ranks, 'rank')}{root}: µs {measure}")
        head, entries = (_PATTERN, _of_pattern) if is_pattern else (_COLLECTIVE, _of_collective)
        for line in columns([head, *map(entries, of_one)], _NUMBERS):
            typer.echo(line)


def _of_collective(row: Row) -> tuple[str, ...]:
    speedup = (f"{row.speedup.estimate:.2f}", f"[{row.speedup.low:.2f}, {row.speedup.high:.2f}]")
    return (*_times(row), *speedup, row.recipe)


def _of_pattern(row: Row) -> tuple[str, ...]:
    return (*_times(row), f"{(row.bytes_per_s or 0) / 1e6:.2f}")


def _times(row: Row) -> tuple[str, ...]:
    return (
        str(row.case.size_bytes),
        *(f"{1e6 * time_s:.2f}" for time_s in (row.mean_s, row.min_s, row.max_s, row.median.estimate)),
        f"[{1e6 * row.median.low:.2f}, {1e6 * row.median.high:.2f}]",
        f"{1e6 * row.p95_s:.2f}",
        str(row.repetitions),
    )
