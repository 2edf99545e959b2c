#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts on the thesis's systems and numbers of ranks, simulated, beside the speedups that it measured.

Usage: marks.py RESULT.json [--places NAME:NODES,...] [--sizes BYTES,...] [--recipes N]
       marks.py RESULT.json --table

Reinfjell (2023), tables 6.3 and 6.5 and figure 6.10, on Fram, Betzy and Idun, against Open MPI's own
broadcast. Here each system is simulated with as many nodes, probed, and its levels are detected; then the
model's cheapest recipes are timed beside SimGrid's model of Open MPI's choice, once each, as times are
exact there. The speedup is that of the fastest recipe, or 1 where the library's own is faster. What
RESULT.json has is not timed again.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import read_rows, write_rows

from isochrone.files import BCAST, BenchKey, Case, provenance
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.statistics import geometric_mean
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.candidates import candidates
from isochrone.tune.layout import layout_of
from isochrone.units import format_bytes

MEBI = 1 << 20
PLACES = "fram:4,fram:8,idun:16,betzy:4,betzy:8,betzy:16"
SIZES_BYTES = (16, 4096, 65536, MEBI, 8 * MEBI, 32 * MEBI, 128 * MEBI, 256 * MEBI)
THEIRS = {
    ("fram", 128): "about 2",
    ("fram", 256): "1.4 or more",
    ("idun", 448): "near 2",
    ("betzy", 512): "2.0 or more",
    ("betzy", 1024): "1.2 or more",
    ("betzy", 2048): "1.1",
}
"""Of its broadcast function over Open MPI's."""
_log = logging.getLogger("marks")


def main() -> int:
    parser = argparse.ArgumentParser(description="Times broadcasts on the thesis's systems, simulated.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("--places", default=PLACES)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--recipes", type=int, default=8, help="of the model's cheapest")
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        for place in wanted.places.split(","):
            name, nodes = place.split(":")
            measure(wanted, name, int(nodes))
    print("\n".join(table(read_rows(wanted.result))))
    return 0


def measure(wanted: argparse.Namespace, name: str, nodes: int) -> None:
    """Adds the sizes of one system that are missing."""
    target = SimTarget(replace(load_system(name), nodes=nodes))
    ranks = target.rank_count
    done = {
        row["size_bytes"]
        for row in read_rows(wanted.result)
        if (row["system"], row["ranks"]) == (name, ranks)
    }
    sizes = [size for size in map(int, wanted.sizes.split(",")) if size not in done]
    if not sizes:
        return
    with tempfile.TemporaryDirectory(prefix="isochrone-marks.") as folder:
        topology = Path(folder) / "topology.json"
        begin = time.monotonic()
        found = probe_and_detect(target, Path(folder))
        _log.info("%s, %d ranks: probed in %.0f s", name, ranks, time.monotonic() - begin)
        layout = layout_of(found, topology)
        # One launch for all: to set up the communicator of some thousand ranks takes minutes.
        chosen = {size: candidates(BCAST, layout, [0], size, wanted.recipes) for size in sizes}
        cases = [Case(size, 0, ("native", *recipes)) for size, recipes in chosen.items()]
        begin = time.monotonic()
        bench = run_bench(target, work_for(target, cases, 1), Path(folder) / "bench.jsonl", topology)
        _log.info("%s, %d ranks: timed in %.0f s", name, ranks, time.monotonic() - begin)
    rows = []
    for size, recipes in chosen.items():
        took = {
            recipe: float(np.median(bench.slowest_s[BenchKey(size, 0, recipe, BCAST)]))
            for recipe in ("native", *recipes)
        }
        best = min(recipes, key=lambda recipe: took[recipe])
        rows.append(
            {
                "system": name,
                "ranks": ranks,
                "size_bytes": size,
                "native_s": took["native"],
                "first_s": took[recipes[0]],
                "best": best,
                "best_s": took[best],
                "accuracy": min(found.accuracy.values(), default=1.0),
            }
        )
    head = {"command": "bench/marks.py", "provenance": provenance()}
    write_rows(wanted.result, head, [*read_rows(wanted.result), *rows])


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    sizes = sorted({row["size_bytes"] for row in rows})
    lines = [
        f"| system | ranks | {' | '.join(map(format_bytes, sizes))} | mean | thesis, measured |",
        "| --- | ---: |" + " ---: |" * (len(sizes) + 2),
    ]
    for system, ranks in dict.fromkeys((row["system"], row["ranks"]) for row in rows):
        of = {row["size_bytes"]: row for row in rows if (row["system"], row["ranks"]) == (system, ranks)}
        speedups = {size: max(1.0, row["native_s"] / row["best_s"]) for size, row in of.items()}
        cells = [f"{speedups[size]:.2f}" if size in speedups else "" for size in sizes]
        mean = f"{geometric_mean(list(speedups.values())):.2f}" if len(speedups) > 1 else ""
        lines.append(
            f"| {system} | {ranks} | {' | '.join(cells)} | {mean} | {THEIRS.get((system, ranks), '')} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
