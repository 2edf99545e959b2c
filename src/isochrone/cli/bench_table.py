# SPDX-License-Identifier: BSD-3-Clause
"""What ``isochrone bench`` prints: a table for each collective, with the columns of other benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from isochrone.cli.options import columns

if TYPE_CHECKING:
    from isochrone.files import Bench, BenchCase
    from isochrone.statistics import Interval

_HEAD = ("bytes", "avg", "min", "max", "p50", "95 %", "p95", "calls", "speedup", "95 %", "recipe")


@dataclass(frozen=True)
class Row:
    """One recipe in one case, of the times of the slowest rank, in seconds; speedups are over the library's
    own, by the medians.
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

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "collective": self.case.collective,
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
        }


def rows_of(bench: Bench) -> list[Row]:
    """By collective, by size, and the library's own first."""
    from isochrone.statistics import median_ci, ratio_ci
    from isochrone.tune.collectives import in_order

    order = in_order(bench.collectives)
    rows = []
    for case in sorted(bench.cases, key=lambda case: order.index(case.collective)):
        native = bench.slowest_s[case.key("native")]
        for recipe in bench.recipes(case):
            times = bench.slowest_s[case.key(recipe)]
            rows.append(
                Row(
                    case=case,
                    recipe=recipe,
                    mean_s=float(np.mean(times)),
                    min_s=float(np.min(times)),
                    max_s=float(np.max(times)),
                    median=median_ci(times),
                    p95_s=float(np.quantile(times, 0.95)),
                    repetitions=len(times),
                    speedup=ratio_ci(native, times),
                )
            )
    return rows


def print_rows(rows: Sequence[Row], ranks: int) -> None:
    """Prints a table for each collective; times are in microseconds."""
    from isochrone.tune.collectives import is_rooted, words
    from isochrone.units import number_of

    for name, few in groupby(rows, key=lambda row: row.case.collective):
        of_one = list(few)
        root = f", root {of_one[0].case.root}" if is_rooted(name) else ""
        typer.echo(f"# {words(name)}, {number_of(ranks, 'rank')}{root}: µs until the last rank is done")
        entries = [_entries(row) for row in of_one]
        for line in columns([_HEAD, *entries], range(len(_HEAD) - 1)):
            typer.echo(line)


def _entries(row: Row) -> tuple[str, ...]:
    return (
        str(row.case.size_bytes),
        *(f"{1e6 * time_s:.2f}" for time_s in (row.mean_s, row.min_s, row.max_s, row.median.estimate)),
        f"[{1e6 * row.median.low:.2f}, {1e6 * row.median.high:.2f}]",
        f"{1e6 * row.p95_s:.2f}",
        str(row.repetitions),
        f"{row.speedup.estimate:.2f}",
        f"[{row.speedup.low:.2f}, {row.speedup.high:.2f}]",
        row.recipe,
    )
