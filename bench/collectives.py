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
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from isochrone import _core
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import Bench, Case, provenance
from isochrone.files.bench import BenchCase
from isochrone.files.text import write_text
from isochrone.launch.lock import locked
from isochrone.sim.build import find_tools
from isochrone.sim.description import load_system
from isochrone.sim.system import PLACEMENTS, System
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.racing import SIMULATED_MESSAGES
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.candidates import candidates
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.collectives import grids, in_order, parse_collectives, timed, words
from isochrone.tune.forms import MOST_SEGMENTS, SMALLEST_SEGMENTED_BYTES
from isochrone.tune.layout import layout_of
from isochrone.tune.prices import predicted_s

SYSTEMS = ("fram", "betzy", "idun")
RANKS = (32, 31)
MOST_EXCHANGED = 32
"""Ranks beyond which nothing is timed in which all have something for all others: a single call may take ten
seconds to simulate.
"""
SELECTORS = ("default", "ompi", "mpich")
SIZES_BYTES = (1, 1024, 65536, 4194304)
HIERARCHICAL = 3
"""Recipes of a case that are timed, beside the cheapest flat one. The last of them has the library's own
inside groups, where it may.
"""
CANDIDATES = 12
"""That the model passes on, for these to be among them."""
MESSAGES_OF_A_RANK = 64
"""More or less, in one run of the simulator: each buffered one makes all later ones slower."""
NATIVE = "native"
SLOWER = 0.999
"""A speedup below it is a loss: times differ by half of that with what was simulated before."""
DIGITS = 7
"""Of times: a simulation repeats nine."""
Key = tuple[str, str, int, str, str, int]

_log = logging.getLogger("collectives")


@dataclass(frozen=True)
class Job(System):
    """A shipped cluster with equally many ranks on each of its sockets, but for a few that the last node has
    fewer. A socket's other cores are idle, so that they are none here.
    """

    left_out: int = 0

    @property
    def ranks(self) -> int:
        """Of the whole job."""
        return self.nodes * self.cores_per_node - self.left_out


def job(name: str, placement: str, ranks: int) -> Job:
    """So many ranks on all nodes of a shipped cluster.

    Raises:
        UsageError: they do not fill its nodes, or its nodes have not so many cores.
    """
    system = load_system(name, placement)
    socket = next(group.cores for group in system.core_groups if group.name == "socket")
    inner = system.core_groups[0].cores
    per_socket = -(-ranks * socket // system.ranks)
    if inner < socket:
        per_socket = -(-per_socket // inner) * inner
    if per_socket > socket:
        raise UsageError(f"{name} has {system.ranks} cores, not {ranks}", "--ranks")
    groups = tuple(
        replace(group, cores=group.cores // socket * per_socket if group.cores >= socket else group.cores)
        for group in system.core_groups
    )
    left_out = system.nodes * groups[-1].cores - ranks
    if left_out >= groups[-1].cores:
        raise UsageError(f"{ranks} ranks leave a node of {name} without any", "--ranks")
    values = {field.name: getattr(system, field.name) for field in fields(System)}
    return Job(**{**values, "core_groups": groups}, left_out=left_out)


def key_of(row: dict[str, Any]) -> Key:
    """What a row is of."""
    return (
        row["system"],
        row["placement"],
        row["ranks"],
        row["selector"],
        row["collective"],
        row["size_bytes"],
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a result; none where there is no file yet."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def write_rows(path: Path, head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
    """A result: what is known of all rows, and a line for each."""
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n  '
    text += ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows) + "\n ]\n}\n"
    write_text(path, text)


class Result:
    """The file with the rows, which several processes may add to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> list[dict[str, Any]]:
        """Those that are there."""
        if not self._path.exists():
            return []
        rows: list[dict[str, Any]] = json.loads(self._path.read_text(encoding="utf-8"))["rows"]
        return rows

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Writes the file with these rows too; in the place of those of the same cases."""
        with locked(Path(tempfile.gettempdir()) / f"isochrone-collectives-{os.getuid()}.lock"):
            merged = {key_of(row): row for row in (*self.rows(), *rows)}
            order = in_order({row["collective"] for row in merged.values()})
            ordered = sorted(
                merged.values(),
                key=lambda row: (
                    SYSTEMS.index(row["system"]) if row["system"] in SYSTEMS else len(SYSTEMS),
                    PLACEMENTS.index(row["placement"]),
                    -row["ranks"],
                    SELECTORS.index(row["selector"]),
                    order.index(row["collective"]),
                    row["size_bytes"],
                ),
            )
            head = {
                "command": "bench/collectives.py RESULT.json",
                "provenance": provenance(),
                "simulated": {
                    "simulator": f"SimGrid {find_tools().version}",
                    "noise": 0,
                    "repetitions": 1,
                    "root": 0,
                    "seed_of_random_placement": 1,
                },
            }
            write_rows(self._path, head, ordered)


@dataclass(frozen=True)
class Chosen:
    """What the model chose for a case, before anything was measured: the cheapest first.

    Attributes:
        hierarchical: without the library's own.
        inside: with the library's own inside groups, of which the model knows only what it takes at least.
        flat: of the whole job.
    """

    hierarchical: tuple[str, ...]
    inside: tuple[str, ...]
    flat: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Of all kinds."""
        return self.hierarchical + self.inside + self.flat


def choose(layout: _core.Layout, collective: str, size_bytes: int) -> Chosen:
    """The recipes of a case that are timed."""
    segments = min(MOST_SEGMENTS, max(16, SIMULATED_MESSAGES // layout.size))
    found = candidates(collective, layout, (0,), size_bytes, CANDIDATES, segments)
    layered = [recipe for recipe in found if recipe.startswith("hierarchical(")]
    inside = [recipe for recipe in layered if depends_on_library(recipe)][:1]
    hierarchical = [recipe for recipe in layered if not depends_on_library(recipe)]
    flat = [recipe for recipe in found if recipe not in layered]
    return Chosen(tuple(hierarchical[: HIERARCHICAL - len(inside)]), tuple(inside), tuple(flat[:1]))


def depends_on_library(recipe: str) -> bool:
    """Whether its time is another under each selector."""
    return recipe == NATIVE or "=native" in recipe


@dataclass(frozen=True)
class Place:
    """A job, and what was found out about it."""

    system: str
    placement: str
    job: Job
    topology: Path
    layout: _core.Layout

    @property
    def title(self) -> str:
        """For progress."""
        return f"{self.system}, {self.placement}, {self.job.ranks} ranks"


def surveyed(system: str, placement: str, ranks: int, folder: Path) -> Place:
    """Probes a job and detects its levels."""
    described = job(system, placement, ranks)
    target = SimTarget(described)
    topology = folder / "topology.json"
    found = probe_and_detect(target, folder)
    _log.info("%s, %s, %d ranks: accuracy %s", system, placement, ranks, found.accuracy)
    return Place(system, placement, described, topology, layout_of(found, topology))


def measured(place: Place, selector: str, cases: Sequence[Case]) -> dict[tuple[BenchCase, str], float | None]:
    """The time of each recipe in each case; None for one in which the simulation fails."""
    target = SimTarget(place.job, selector)
    with tempfile.TemporaryDirectory(prefix="isochrone-collectives.") as folder:
        try:
            bench: Bench = run_bench(
                target,
                work_for(target, cases, 1, ranks=place.job.ranks),
                Path(folder) / "bench.jsonl",
                place.topology,
            )
        except IsochroneError as error:
            if len(cases) == 1 and len(cases[0].recipes) == 1:
                _log.warning("%s, %s: %s fails: %s", place.title, selector, cases[0], error)
                return {(case_of(cases[0]), cases[0].recipes[0]): None}
            halves = halved(cases)
        else:
            return {(key.case, key.recipe): float(times[0]) for key, times in bench.slowest_s.items()}
    return {name: time_s for half in halves for name, time_s in measured(place, selector, half).items()}


def halved(cases: Sequence[Case]) -> tuple[Sequence[Case], Sequence[Case]]:
    """The cases, or the recipes of a single one, in two halves."""
    if len(cases) > 1:
        return cases[: len(cases) // 2], cases[len(cases) // 2 :]
    recipes = cases[0].recipes
    middle = len(recipes) // 2
    return [replace(cases[0], recipes=recipes[:middle])], [replace(cases[0], recipes=recipes[middle:])]


def case_of(case: Case) -> BenchCase:
    """What a benchmark calls it."""
    return BenchCase(case.size_bytes, case.root, case.collective)


def launches(cases: Sequence[Case], ranks: int) -> Iterator[list[Case]]:
    """The cases of each run of the simulator, or some recipes of them."""
    few: dict[BenchCase, Case] = {}
    sent = 0
    for case in cases:
        for recipe in case.recipes:
            messages = messages_of_a_rank(case, ranks)
            if few and sent + messages > MESSAGES_OF_A_RANK:
                yield list(few.values())
                few, sent = {}, 0
            there = few.get(case_of(case), replace(case, recipes=()))
            few[case_of(case)] = replace(there, recipes=(*there.recipes, recipe))
            sent += messages
    if few:
        yield list(few.values())


def messages_of_a_rank(case: Case, ranks: int) -> int:
    """How many a rank sends in one call, very roughly: to all others, or in many segments, or a few."""
    if is_exchange(case.collective):
        return ranks
    return 16 if case.size_bytes >= SMALLEST_SEGMENTED_BYTES else 4


def is_exchange(name: str) -> bool:
    """Whether all ranks have something for all others."""
    row = table_row(name)
    return row["has_blocks"] and not row["rooted"]


def rows_of(
    place: Place, wanted: Sequence[tuple[str, int]], selectors: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows of some collectives and sizes in one place. What is no library's own takes as long under each
    selector, and is timed under the first.
    """
    begin = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The model leaves Python's lock to others while it works.
        found = pool.map(lambda each: choose(place.layout, *each), wanted)
        chosen = dict(zip(wanted, found, strict=True))
    _log.info("%s: %d cases priced in %.0f s", place.title, len(chosen), time.monotonic() - begin)
    times: dict[tuple[BenchCase, str], float | None] = {}
    rows = []
    for selector in selectors:
        begin = time.monotonic()
        cases = [
            Case(
                size,
                0,
                tuple(
                    recipe
                    for recipe in (NATIVE, *few.all)
                    if selector == selectors[0] or depends_on_library(recipe)
                ),
                collective,
            )
            for (collective, size), few in chosen.items()
        ]
        for few in launches(cases, place.job.ranks):
            times |= measured(place, selector, few)
        for (collective, size), few in chosen.items():
            case = BenchCase(size, 0, collective)
            here = {recipe: times[case, recipe] for recipe in (NATIVE, *few.all)}
            rows.append(row_of(place, selector, collective, size, few, here))
        _log.info("%s, %s: timed in %.0f s", place.title, selector, time.monotonic() - begin)
    return rows


def row_of(
    place: Place,
    selector: str,
    collective: str,
    size_bytes: int,
    chosen: Chosen,
    times: dict[str, float | None],
) -> dict[str, Any]:
    """One row. Where a collective has no hierarchical recipes, the flat one stands for them."""

    def told(recipe: str | None) -> float | None:
        return rounded(None if recipe is None else times[recipe])

    def predicted(recipe: str | None) -> float | None:
        if recipe is None:
            return None
        return rounded(predicted_s(collective, place.layout, recipe, 0, size_bytes))

    ranked = chosen.hierarchical or chosen.flat
    ran = [recipe for recipe in (*ranked, *chosen.inside) if times[recipe] is not None]
    best = min(ran, key=lambda recipe: times[recipe] or np.inf, default=None)
    flat = chosen.flat[0] if chosen.flat else None
    inside = chosen.inside[0] if chosen.inside else None
    return {
        "system": place.system,
        "placement": place.placement,
        "ranks": place.job.ranks,
        "selector": selector,
        "collective": collective,
        "size_bytes": size_bytes,
        "native_s": told(NATIVE),
        "first": ranked[0],
        "first_predicted_s": predicted(ranked[0]),
        "first_s": told(ranked[0]),
        "best": best,
        "best_s": told(best),
        "flat": flat,
        "flat_predicted_s": predicted(flat),
        "flat_s": told(flat),
        **({} if inside is None else {"inside": inside, "inside_s": told(inside)}),
    }


def rounded(time_s: float | None) -> float | None:
    """To the digits that a simulation repeats, and fewer."""
    return None if time_s is None else float(f"{time_s:.{DIGITS}g}")


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
