#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How soon programs leave a plan that is wrong, and what the same looks cost where it is right.

Usage: wrong.py RESULT.json NAME MPI [--launches N] [--calls N]
       wrong.py RESULT.json --table

A lab is surveyed for the kinds of calls that are timed, for a minute. The wrong plan is that plan with
another recipe in each of its rules, one that sends all from the root or in tiny segments, said to be twice as
fast as the library's own. A program (calls.c) makes calls of one kind natively, on the plan and on the wrong
one in turn, 16 ranks on eight hosts. How many calls ran by the plan's recipes, and how many by the library's
own to have a look, is what rank 0 counts (ISOCHRONE_EXPLAIN). What looks cost is their number times how much
longer the library's own took than the plan, of the time of all calls. What RESULT.json has of a lab and
library is replaced.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from of_labs import run
from travel import KINDS, compiled, surveyed, times_in, words_of

from isochrone.files import Plan, provenance, write_plan
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.preload import settings_for
from isochrone.launch.registry import find_library
from isochrone.tune.collectives import words
from isochrone.units import format_bytes

SLOW_BELOW_BYTES = 65536
"""Of smaller messages tiny segments take many times as long, of longer ones copies of all."""
TIMES = 2.0
"""How fast the wrong plan is said to be."""
_PLANNED = re.compile(r"isochrone: (.*)s on rank 0: (\d+) by the plan's recipes")
_LOOKS = re.compile(r", (\d+) by the MPI library's own on trial or found live")


def main() -> int:
    return run("Runs a program on a wrong plan.", "bench/travel/wrong.py", measured, table, 3, 400)


def measured(wanted: argparse.Namespace) -> dict[str, Any]:
    """One lab and library."""
    library = find_library(wanted.mpi)
    with open_lab(wanted.name) as lab, tempfile.TemporaryDirectory(prefix="isochrone-wrong.") as name:
        folder = Path(name)
        program = compiled(library, folder)
        target = LabTarget(lab, library, Ranks.on(lab.network, None, 2, "block", 1))
        plan, _ = surveyed(target, folder / "right", 60.0)
        (folder / "wrong").mkdir()
        write_plan(folder / "wrong" / "plan.json", wrong(plan))
        (folder / "wrong" / "topology.json").write_bytes((folder / "right" / "topology.json").read_bytes())
        ways: dict[str, Mapping[str, str]] = {"native": {}}
        for which in ("right", "wrong"):
            told = settings_for(library, folder / which / "plan.json", [str(program)])
            ways[which] = told | {"ISOCHRONE_EXPLAIN": "1"}
        kinds = []
        for kind in KINDS:
            found: dict[str, list[tuple[list[float], int, int]]] = {way: [] for way in ways}
            for _ in range(wanted.launches):
                for way, variables in ways.items():
                    found[way].append(launched(target, program, variables, kind, wanted.calls))
            kinds.append(kind_row(kind, found))
            print(*table([{"where": "", "kinds": kinds[-1:]}])[2:], file=sys.stderr)
    return {
        "where": f"{wanted.name}, {library.title}",
        "launches": wanted.launches,
        "calls": wanted.calls,
        "kinds": kinds,
        "provenance": provenance(),
    }


def wrong(plan: Plan) -> Plan:
    """The plan with slow recipes that are said to be fast."""
    rules = []
    for rule in plan.rules:
        recipe = "chain@64" if rule.max_bytes < SLOW_BELOW_BYTES else "flat"
        evidence = structs.replace(rule.evidence, speedup=TIMES, speedup_ci=(TIMES, TIMES))
        rules.append(structs.replace(rule, recipe=recipe, evidence=evidence))
    return structs.replace(plan, rules=tuple(rules))


def launched(
    target: LabTarget, program: Path, variables: Mapping[str, str], kind: tuple[str, int], calls: int
) -> tuple[list[float], int, int]:
    """Seconds of each call, how many of them ran by recipes of the plan, and how many by the library's own
    on trial or as found live.
    """
    with target.launching(variables) as launch:
        line = target.command(launch.line([str(program), *words_of([kind], calls)]))
        done = subprocess.run(
            line, env=target.environment(), check=True, capture_output=True, text=True, timeout=600
        )
    counts = (0, 0)
    for said in done.stderr.splitlines():
        planned, looks = _PLANNED.search(said), _LOOKS.search(said)
        if planned and planned[1] == words(kind[0]):
            counts = int(planned[2]), int(looks[1]) if looks else 0
    return times_in(done.stdout)[kind], *counts


def kind_row(
    kind: tuple[str, int], found: Mapping[str, Sequence[tuple[list[float], int, int]]]
) -> dict[str, Any]:
    """How much slower the wrong plan was and how many calls ran on it; how much faster the right one, how
    many looks were had, and what they cost.
    """
    half = len(found["native"][0][0]) // 2
    native_s = [float(np.median(times[half:])) for times, _, _ in found["native"]]
    right_s = [float(np.median(times[half:])) for times, _, _ in found["right"]]
    # Before the first look, which is after 32 calls at the soonest.
    wrong_s = [float(np.median(times[5:30])) for times, _, _ in found["wrong"]]
    lost = [
        looks * max(0.0, own_s - plan_s) / sum(times)
        for (times, planned, looks), own_s, plan_s in zip(found["right"], native_s, right_s, strict=True)
        if planned > looks
    ]
    return {
        "collective": kind[0],
        "size_bytes": kind[1],
        "native_s": native_s,
        "right_s": right_s,
        "wrong_s": wrong_s,
        "by_wrong_recipe": [planned for _, planned, _ in found["wrong"]],
        "looks": [looks for _, _, looks in found["right"]],
        "by_right_recipe": [planned for _, planned, _ in found["right"]],
        "lost": lost,
    }


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        "| where | collective | size | wrong plan over native | calls on it "
        "| plan over native | looks | lost |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        for kind in row["kinds"]:
            native_s, right_s, wrong_s = (np.median(kind[way]) for way in ("native_s", "right_s", "wrong_s"))
            lost = f"{100 * max(kind['lost']):.1f} %" if kind["lost"] else "-"
            lines.append(
                f"| {row['where']} | {kind['collective']} | {format_bytes(kind['size_bytes'])} | "
                f"{native_s / wrong_s:.2f} | {_span(kind['by_wrong_recipe'])} | "
                f"{native_s / right_s:.2f} | {_span(kind['looks']) if kind['lost'] else '-'} | {lost} |"
            )
    return lines


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])


if __name__ == "__main__":
    sys.exit(main())
