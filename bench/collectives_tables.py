# SPDX-License-Identifier: BSD-3-Clause
"""The tables of what `collectives.py` has timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from collectives_cases import SELECTORS, SYSTEMS

from isochrone.sim.system import PLACEMENTS
from isochrone.tune.collectives import in_order, words

SLOWER = 0.999
"""A speedup below it is a loss: times differ by half of that with what was simulated before."""


@dataclass(frozen=True)
class Summary:
    """Speedups over the library's own, of some rows."""

    least: float
    median: float
    mean: float
    slower: float

    @staticmethod
    def of(speedups: Sequence[float]) -> Summary:
        """Of speedups."""
        values = np.array(speedups)
        return Summary(
            float(values.min()),
            float(np.median(values)),
            float(np.exp(np.log(values).mean())),
            float((values < SLOWER).mean()),
        )

    def cells(self) -> str:
        """Of a table."""
        return f"{self.least:.2f} | {self.median:.2f} | {self.mean:.2f} | {100 * self.slower:.0f} %"


def first(row: dict[str, Any]) -> float:
    """The speedup of the model's first hierarchical recipe."""
    return float(row["native_s"] / row["first_s"])


def best(row: dict[str, Any]) -> float:
    """The speedup of the best hierarchical recipe that was measured."""
    return float(row["native_s"] / row["best_s"])


def tuned(row: dict[str, Any]) -> float:
    """The speedup of the best recipe that was measured, the flat one too."""
    return float(row["native_s"] / min(row["best_s"], row["flat_s"] or np.inf))


def first_of_all(row: dict[str, Any]) -> float:
    """The speedup of the recipe that the model ranks first, be it hierarchical or flat."""
    is_flat = row["flat_s"] and row["flat_predicted_s"] < row["first_predicted_s"]
    return float(row["native_s"] / row["flat_s"]) if is_flat else first(row)


KINDS: tuple[Callable[[dict[str, Any]], float], ...] = (first, best, tuned)


def tables(document: dict[str, Any]) -> list[str]:
    """One for each selector with a line for each collective, and one by systems, placements, ranks and
    sizes.
    """
    lines = []
    whole = [row for row in document["rows"] if row["native_s"] and row["first_s"] and row["best_s"]]
    for selector in SELECTORS:
        rows = [row for row in whole if row["selector"] == selector]
        if rows:
            names = in_order({row["collective"] for row in rows})
            groups = [
                (named(name, rows), [row for row in rows if row["collective"] == name]) for name in names
            ]
            groups.append(("all hierarchical", layered(rows)))
            lines += [f"## Selector `{selector}`", "", *table("collective", groups)]
    lines += ["## First by the model, flat ones among them", "", *table_of_selectors(whole)]
    lines += ["## By kind of case", "", *table("all hierarchical", list(kinds(layered(whole))))]
    return lines


def table_of_selectors(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the model ranks first of all, under each selector."""
    there = [each for each in SELECTORS if any(row["selector"] == each for row in rows)]
    lines = [
        "| collective | " + " | ".join(f"`{each}`: least | median | mean | slower" for each in there) + " |",
        "| --- | " + " | ".join(["---:"] * 4 * len(there)) + " |",
    ]
    for name in in_order({row["collective"] for row in rows}):
        cells = [
            Summary.of(
                [first_of_all(row) for row in rows if (row["collective"], row["selector"]) == (name, each)]
            ).cells()
            for each in there
        ]
        lines.append(f"| {named(name, rows)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def named(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """A collective, and whether it had flat recipes only."""
    has_levels = any(row["collective"] == name for row in layered(rows))
    return words(name) if has_levels else f"{words(name)} (flat)"


def layered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that had hierarchical recipes."""
    return [row for row in rows if row["first"].startswith("hierarchical(")]


def kinds(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows that have something in common, and what."""
    for name in ("system", "placement", "ranks", "size_bytes"):
        for value in dict.fromkeys(sorted((row[name] for row in rows), key=order_of)):
            unit = {"ranks": " ranks", "size_bytes": " B"}.get(name, "")
            shown = f"{value:,}" if isinstance(value, int) else value
            yield f"{shown}{unit}", [row for row in rows if row[name] == value]


def order_of(value: str | int) -> int:
    """Of a name or number in a table."""
    names = (*SYSTEMS, *PLACEMENTS)
    return value if isinstance(value, int) else names.index(value) if value in names else len(names)


def table(title: str, groups: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> list[str]:
    """A line for each group of rows."""
    return [
        f"| {title} | cases | first: least | median | mean | slower | best: least | median | mean | slower "
        "| with flat: least | median | mean | slower |",
        "| --- | " + " | ".join(["---:"] * 13) + " |",
        *(
            f"| {name} | {len(rows)} | "
            + " | ".join(Summary.of([speedup(row) for row in rows]).cells() for speedup in KINDS)
            + " |"
            for name, rows in groups
        ),
        "",
    ]
