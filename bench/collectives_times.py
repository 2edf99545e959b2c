# SPDX-License-Identifier: BSD-3-Clause
"""Times the cases of `collectives.py` in the simulator, and keeps what they took."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from collectives_cases import (
    NATIVE,
    SELECTORS,
    SYSTEMS,
    Chosen,
    Job,
    choose,
    depends_on_library,
    is_exchange,
    job,
)
from result_rows import read_rows, write_rows

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import Bench, Case, provenance
from isochrone.files.bench import BenchCase
from isochrone.launch.lock import locked
from isochrone.sim.build import find_tools
from isochrone.sim.system import PLACEMENTS
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.survey import probe_and_detect
from isochrone.tune.collectives import in_order
from isochrone.tune.forms import SMALLEST_SEGMENTED_BYTES
from isochrone.tune.layout import layout_of
from isochrone.tune.prices import predicted_s

MESSAGES_OF_A_RANK = 64
"""More or less, in one run of the simulator: each buffered one makes all later ones slower."""
DIGITS = 7
"""Of times: a simulation repeats nine."""
Key = tuple[str, str, int, str, str, int]

_log = logging.getLogger("collectives")


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


class Result:
    """The file with the rows, which several processes may add to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> list[dict[str, Any]]:
        """Those that are there."""
        return read_rows(self._path)

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
        for launch in launches(cases, place.job.ranks):
            times |= measured(place, selector, launch)
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
