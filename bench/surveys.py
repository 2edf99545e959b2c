#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what surveys of labs have found, and prints the table of docs/lab-plans.md.

Usage: surveys.py RESULT.json SURVEY ...
       surveys.py RESULT.json --table

SURVEY is the folder of a survey that has come to its end. The speedups are those of its own verification,
over the library as it comes. What RESULT.json has of the same place is replaced.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from result_rows import read_rows, write_rows

from isochrone.files import provenance, read_bench, read_survey
from isochrone.report import compare_all
from isochrone.report.comparison import is_proven_faster
from isochrone.steps.folder import BENCH, SURVEY
from isochrone.tune.collectives import WANTED


def main() -> int:
    parser = argparse.ArgumentParser(description="Keeps what surveys have found.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("surveys", type=Path, nargs="*", metavar="SURVEY")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        rows = [row_of(folder) for folder in wanted.surveys]
        places = {row["where"] for row in rows}
        others = [row for row in read_rows(wanted.result) if row["where"] not in places]
        head = {"command": "bench/surveys.py", "provenance": provenance()}
        write_rows(wanted.result, head, [*others, *rows])
    print("\n".join(table(read_rows(wanted.result))))
    return 0


def row_of(folder: Path) -> dict[str, Any]:
    """What a survey took, and of each collective the size from which on it is faster, and where it is."""
    survey = read_survey(folder / SURVEY)
    comparisons = compare_all(read_bench(folder / BENCH))
    collectives = {}
    for one in comparisons:
        speedups = [speedup for _, speedup in one.compared]
        collectives[one.collective] = {
            "sizes": len(speedups),
            "faster": sum(map(is_proven_faster, speedups)),
            "slower": sum(speedup.high < 1 for speedup in speedups),
            "faster_from": None if one.faster_from is None else list(one.faster_from),
        }
    return {
        "where": survey.target,
        "elapsed_s": survey.elapsed_s,
        "collectives": collectives,
        "provenance": survey.provenance,
    }


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        f"| where | survey | {' | '.join(WANTED)} | sizes | slower |",
        "| --- |" + " ---: |" * (3 + len(WANTED)),
    ]
    for row in rows:
        found = row["collectives"]
        where = ", ".join(row["where"].removeprefix("lab ").split(", ")[:2])
        sums = [sum(one[what] for one in found.values()) for what in ("sizes", "slower")]
        cells = [cell(found[name]) if name in found else "" for name in WANTED]
        took = "" if row["elapsed_s"] is None else f"{row['elapsed_s'] / 60:.1f} min"
        lines.append(f"| {where} | {took} | {' | '.join(cells)} | {sums[0]} | {sums[1]} |")
    return lines


def cell(found: dict[str, Any]) -> str:
    """The mean speedup at the sizes from which on the plan is faster, or at how many sizes it is."""
    if found["faster_from"] is not None:
        return f"{found['faster_from'][1]:.2f}"
    return f"{found['faster']} of {found['sizes']}" if found["faster"] else "-"


if __name__ == "__main__":
    sys.exit(main())
