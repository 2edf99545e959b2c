#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times hierarchical recipes beside SimGrid's own collectives on simulated clusters, or prints the tables.

Usage: collectives.py RESULT.json [--systems NAME,...] [--placements NAME,...] [--ranks N,...]
                      [--collectives NAME,...] [--sizes BYTES,...] [--selectors NAME,...] [--again]
       collectives.py RESULT.json --tables

For each cluster, placement and number of ranks the simulated job is probed and its levels are detected. For
each collective and size the model then ranks recipes without any measuring. The cheapest hierarchical ones
are timed, and one flat one, beside the library's own under each of SimGrid's selectors. Cases that
RESULT.json has are measured again only with --again, so that the same command goes on with one that was
interrupted, and several may run at once. --tables prints the tables of docs/collectives.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from pathlib import Path

from collectives_cases import MOST_EXCHANGED, RANKS, SELECTORS, SIZES_BYTES, SYSTEMS, is_exchange
from collectives_tables import tables
from collectives_times import Result, key_of, rows_of, surveyed

from isochrone.sim.system import PLACEMENTS
from isochrone.tune.collectives import grids, parse_collectives, timed


def options() -> argparse.Namespace:
    """What the command line says."""

    def names(text: str) -> tuple[str, ...]:
        return tuple(text.split(","))

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split(",")))

    parser = argparse.ArgumentParser(
        description="Times hierarchical recipes beside SimGrid's own collectives."
    )
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("--systems", type=names, default=SYSTEMS)
    parser.add_argument("--placements", type=names, default=PLACEMENTS)
    parser.add_argument("--ranks", type=numbers, default=RANKS)
    parser.add_argument("--sizes", type=numbers, default=SIZES_BYTES)
    parser.add_argument("--selectors", type=names, default=SELECTORS)
    parser.add_argument("--collectives", type=parse_collectives, default=timed())
    parser.add_argument("--again", action="store_true", help="measure what the result has too")
    parser.add_argument("--tables", action="store_true", help="print the tables of a result")
    return parser.parse_args()


def main() -> int:
    wanted = options()
    if wanted.tables:
        print("\n".join(tables(json.loads(wanted.result.read_text(encoding="utf-8")))).rstrip())
        return 0
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    result = Result(wanted.result)
    # So that a run that is interrupted early has something of each.
    for turn in range(len(wanted.placements)):
        for ranks in wanted.ranks:
            for at, system in enumerate(wanted.systems):
                placement = wanted.placements[(at + turn) % len(wanted.placements)]
                measure(result, system, placement, ranks, wanted)
    return 0


def measure(result: Result, system: str, placement: str, ranks: int, wanted: argparse.Namespace) -> None:
    """Adds the rows of one job that are missing."""
    done = set() if wanted.again else {key_of(row) for row in result.rows()}
    missing = [
        (collective, size)
        for collective in wanted.collectives
        if ranks <= MOST_EXCHANGED or not is_exchange(collective)
        for size in grids([collective], wanted.sizes, ranks)[collective]
        if not {(system, placement, ranks, each, collective, size) for each in wanted.selectors} <= done
    ]
    if missing:
        with tempfile.TemporaryDirectory(prefix="isochrone-collectives.") as folder:
            place = surveyed(system, placement, ranks, Path(folder))
            result.add(rows_of(place, missing, wanted.selectors))


if __name__ == "__main__":
    sys.exit(main())
