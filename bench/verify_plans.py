#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the plan of a survey against the MPI library once more, in launches that had no part in making it.

Usage: verify_plans.py RESULT.json SURVEY [--sizes BYTES,...] [--launches N] -- TARGET...
       verify_plans.py RESULT.json --table

SURVEY is the folder of a survey, TARGET what `isochrone survey` was given to say where: --lab two-racks --mpi
mpich. The library is told what the survey's library.json says. In each launch the plan and the library's own
run in turn, from root 0, at sizes that the plan was tuned at and at some between. A plan is slower where the
whole 95 % interval of its speedup is below 1 in every launch. Since that asks for much, the table also says
in how many cases the median was below 1 in every launch, and how low the middle one of the launches was at
worst. Where plan and library are equal, one case of eight is so of three launches, by chance. What
RESULT.json has of a survey is replaced.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import read_rows, write_rows

from isochrone.files import provenance, read_plan
from isochrone.statistics import geometric_mean
from isochrone.tune.collectives import has_blocks, in_order

SIZES_BYTES = (8, 64, 1024, 8193, 50000, 131071, 700000, 1 << 20, 4 << 20)
MOST_BLOCK_BYTES = 1 << 16
"""An exchange of larger blocks takes seconds over slow links."""


def main() -> int:
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description="Holds plans against libraries once more.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("survey", type=Path, nargs="?", metavar="SURVEY")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args(words[:at])
    if wanted.table:
        print("\n".join(table(read_rows(wanted.result))))
        return 0
    target = words[at + 1 :]
    if wanted.survey is None or not target:
        parser.error("the survey, or where it was made, is missing")
    row = measured(wanted.survey, target, [int(size) for size in wanted.sizes.split(",")], wanted.launches)
    others = [other for other in read_rows(wanted.result) if other["where"] != row["where"]]
    head = {"command": "bench/verify_plans.py", "provenance": provenance()}
    write_rows(wanted.result, head, [*others, row])
    print("\n".join(table([row])))
    return 0


def measured(survey: Path, target: Sequence[str], sizes: Sequence[int], launches: int) -> dict[str, Any]:
    """All launches of one survey's plan."""
    names = in_order({rule.collective for rule in read_plan(survey / "plan.json").rules})
    speedups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    ranks = 0
    for launch in range(launches):
        for few in (
            [name for name in names if not has_blocks(name)],
            [name for name in names if has_blocks(name)],
        ):
            most = MOST_BLOCK_BYTES if few and has_blocks(few[0]) else max(sizes)
            found = benched(survey, target, few, [size for size in sizes if size <= most], launch)
            ranks = found["ranks"]
            for each in found["results"]:
                if each["recipe"] == "plan":
                    speedups.setdefault((each["collective"], each["size_bytes"]), []).append(each)
    facts = json.loads((survey / "survey.json").read_text(encoding="utf-8"))
    kinds = [
        {
            "collective": name,
            "size_bytes": size,
            "speedup": float(np.median([one["speedup"] for one in each])),
            "launches": [[one["speedup"], *one["speedup_ci"]] for one in each],
            "slower": all(one["speedup_ci"][1] < 1 for one in each),
            "faster": all(one["speedup_ci"][0] > 1 for one in each),
        }
        for (name, size), each in speedups.items()
    ]
    return {"where": " ".join(target), "ranks": ranks, "survey": facts, "launches": launches, "kinds": kinds}


def benched(
    survey: Path, target: Sequence[str], names: Sequence[str], sizes: Sequence[int], launch: int
) -> dict[str, Any]:
    """One launch."""
    if not names:
        return {"ranks": 0, "results": []}
    output = survey / f"again-{launch}.jsonl"
    line = ["isochrone", "bench", *target, "--plan", str(survey), "--collectives", ",".join(names)]
    line += ["--sizes", ",".join(map(str, sizes)), "-o", str(output), "--json"]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    output.unlink()
    return json.loads(done.stdout)


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    names = list(dict.fromkeys(kind["collective"] for row in rows for kind in row["kinds"]))
    lines = [
        f"| where | ranks | survey | {' | '.join(names)} | sizes | slower | below 1 | lowest | faster |",
        "| --- | ---: | ---: |" + " ---: |" * (len(names) + 5),
    ]
    for row in rows:
        means = []
        for name in names:
            each = [kind["speedup"] for kind in row["kinds"] if kind["collective"] == name]
            means.append(f"{geometric_mean(each):.2f}" if each else "")
        counts = [sum(kind[key] for kind in row["kinds"]) for key in ("slower", "faster")]
        # Older results have not each launch.
        known = [kind["launches"] for kind in row["kinds"] if "launches" in kind]
        below = sum(all(median < 1 for median, *_ in launches) for launches in known) if known else ""
        lowest = min(kind["speedup"] for kind in row["kinds"])
        minutes = row["survey"].get("elapsed_s", 0) / 60
        lines.append(
            f"| {row['where']} | {row['ranks']} | {minutes:.1f} min | {' | '.join(means)} | "
            f"{len(row['kinds'])} | {counts[0]} | {below} | {lowest:.2f} | {counts[1]} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
