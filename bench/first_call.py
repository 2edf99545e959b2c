#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a process spends, by itself, on the first call of a collective, on another one, and on another root.

Usage: first_call.py RESULT.json
       first_call.py RESULT.json --table

The measuring is that of `isochrone study order` (src/isochrone/studies/setup.py), at more leaders.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from result_rows import read_rows, write_rows

from isochrone.files import provenance
from isochrone.studies.setup import THEIRS_MS, first_call_s, measured

LEADERS = (8, 16, 32, 64, 128, 512)


def main() -> int:
    parser = argparse.ArgumentParser(description="Times what a first call costs each rank.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        rows = [measured(leaders) for leaders in LEADERS]
        write_rows(wanted.result, {"command": "bench/first_call.py", "provenance": provenance()}, rows)
    print("\n".join(table(read_rows(wanted.result))))
    return 0


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        "| leaders | ranks | places, ms | plan, ms | schedule, ms | ... of a laid tree | first call, ms | "
        "same root | other root, ms | ... of a laid tree | theirs: first, ms | same root | other root, ms |",
        "| ---: | ---: |" + " ---: |" * 11,
    ]
    for row in rows:
        places, plan, schedule, laid, other, other_laid = (
            row[name][0] * 1e3
            for name in ("places_s", "plan_s", "schedule_s", "laid_s", "other_root_s", "laid_other_root_s")
        )
        theirs = THEIRS_MS.get(row["leaders"])
        said = ("", "", "") if theirs is None else (str(theirs[0]), "0", str(theirs[1]))
        lines.append(
            f"| {row['leaders']} | {row['ranks']} | {places:.3f} | {plan:.3f} | {schedule:.3f} | {laid:.3f} "
            f"| {first_call_s(row) * 1e3:.2f} | kept | {other:.3f} | {other_laid:.3f} | {' | '.join(said)} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
