#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a tuning finds beside a search through the whole space of recipes, and what either costs.

Usage: tuning.py RESULT.json sim NAME|FILE [--collectives NAME,...] [--sizes BYTES,...]
       tuning.py RESULT.json lab NAME MPI [--budget TIME] [--repetitions N] [--space N] ...
       tuning.py RESULT.json --table

The space is every recipe of the grammar over all levels of the tree, flat ones too, in every segment
size. For each size --space of them stand for it, drawn at random with a seed, and those that the tuning
measured. All are timed in one run, in turn. For each collective and size: how much slower than the best
of them what the tuning chose is (its loss; what is native counts as native), how much slower the best of
the model's first 8 is, and how the model ranks all of them (Spearman). Calls and seconds are those of all
of the tuning's rounds, and of the search.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from isochrone import _core
from isochrone.cli.target import TargetOptions, open_target
from isochrone.files import Bench, Case, provenance, read_bench
from isochrone.launch.target import Target
from isochrone.statistics import geometric_mean
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.folder import TUNING
from isochrone.steps.survey import probe_and_detect
from isochrone.steps.tune import TuneOptions, tune
from isochrone.tune.candidates import candidates
from isochrone.tune.collectives import grids
from isochrone.tune.forms import Form, dividing_levels, level_algorithms, segments_for
from isochrone.tune.layout import layout_of

MODEL_FIRST = 8


def space(collective: str, layout: _core.Layout, size_bytes: int) -> list[str]:
    """Every recipe of the grammar over all levels, and every flat one. Some cannot run on this layout."""
    across, inner = (level_algorithms(collective, outermost) for outermost in (True, False))
    levels = dividing_levels(layout)
    forms: list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]
    forms = [((), (ways,)) for ways in itertools.product(*across)]
    inside = list(itertools.product(*inner))
    for count in range(1, len(levels)):
        for kept in itertools.combinations(levels[1:], count):
            for ways in itertools.product(itertools.product(*across), *([inside] * count)):
                forms.append(((levels[0], *kept), ways))
    segments = segments_for(collective, size_bytes)
    return [Form(*form, segment).text() for form, segment in itertools.product(forms, segments)]


def drawn(
    recipes: Sequence[str], most: int, seed: int, collective: str, layout: _core.Layout, size_bytes: int
) -> list[str]:
    """Up to so many of the recipes that can run."""
    order = list(recipes)
    random.Random(seed).shuffle(order)  # noqa: S311 - for repetition, not for secrets
    found: list[str] = []
    for recipe in order:
        if len(found) == most:
            break
        try:
            _core.predict(collective, layout, recipe, 0, size_bytes)
        except ValueError:
            continue  # not on this number of ranks, or not in segments
        found.append(recipe)
    return found


def searched(
    target: Target, topology: Path, work: dict[tuple[str, int], Sequence[str]], repetitions: int, folder: Path
) -> Bench:
    """Times of all recipes of each collective and size, in one run."""
    cases = [Case(size, 0, ("native", *recipes), name) for (name, size), recipes in work.items()]
    return run_bench(target, work_for(target, cases, repetitions), folder / "space.jsonl", topology)


def compared(
    target: Target, options: TuneOptions, most: int, repetitions: int, folder: Path
) -> dict[str, Any]:
    """Tunes, searches the space, and holds the one against the other."""
    topology = folder / "topology.json"
    layout = layout_of(probe_and_detect(target, folder), topology)
    plan, _ = tune(target, topology, folder / "plan.json", folder / "bench.jsonl", options)
    rounds = [read_bench(file) for file in (folder / TUNING).glob("*.jsonl")]
    sizes = grids(options.collectives, options.sizes_bytes, layout.size)
    work: dict[tuple[str, int], Sequence[str]] = {}
    whole = 0
    for name in options.collectives:
        for size in sizes[name]:
            found = space(name, layout, size)
            whole += len(found)
            some = drawn(found, most, options.seed, name, layout, size)
            known = {
                key.recipe
                for each in rounds
                for key in each.slowest_s
                if (key.collective, key.size_bytes, key.members) == (name, size, "")
            }
            work[name, size] = list(dict.fromkeys([*some, *sorted(known - {"native", "plan"})]))
    bench = searched(target, topology, work, repetitions, folder)
    rows = []
    for (name, size), recipes in work.items():
        times = {
            key.recipe: float(np.median(values))
            for key, values in bench.slowest_s.items()
            if (key.collective, key.size_bytes) == (name, size)
        }
        best = min(times, key=lambda recipe: times[recipe])
        rooted = _core.collectives()
        is_rooted = next(row["rooted"] for row in rooted if row["name"] == name)
        chosen = plan.recipe(layout.shape(0 if is_rooted else None), size, name) or "native"
        first = candidates(name, layout, (0,), size, MODEL_FIRST)
        ours = [recipe for recipe in recipes if recipe in times]
        prices = [_core.predict(name, layout, recipe, 0, size) for recipe in ours]
        ranks = stats.spearmanr(prices, [times[recipe] for recipe in ours]) if len(ours) > 2 else None
        rows.append(
            {
                "collective": name,
                "size_bytes": size,
                "recipes": len(times),
                "best": best,
                "best_s": times[best],
                "chosen": chosen,
                "chosen_s": times[chosen],
                "native_s": times["native"],
                "loss": times[chosen] / times[best] - 1,
                "best_of_first_loss": min(times.get(recipe, np.inf) for recipe in [*first, "native"])
                / times[best]
                - 1,
                "rank_correlation": None if ranks is None else float(ranks.statistic),
            }
        )
    return {
        "target": target.name,
        "ranks": layout.size,
        "rows": rows,
        "space": whole,
        "tuning": {
            "calls": sum(each.calls or 0 for each in rounds),
            "elapsed_s": sum(each.elapsed_s or 0 for each in rounds),
        },
        "search": {"calls": bench.calls, "elapsed_s": bench.elapsed_s},
        "seed": options.seed,
        "provenance": provenance(["python3", "tuning.py", *sys.argv[1:]]),
    }


def table(result: dict[str, Any]) -> list[str]:
    """The figures in Markdown."""
    rows = result["rows"]
    loss = geometric_mean([1 + row["loss"] for row in rows]) - 1
    gain = geometric_mean([row["native_s"] / row["chosen_s"] for row in rows])
    most = geometric_mean([row["native_s"] / row["best_s"] for row in rows])
    share = result["tuning"]["calls"] / result["search"]["calls"]
    lines = [
        f"{result['target']}, {result['ranks']} ranks: mean loss {loss:.1%}; "
        f"{gain:.2f} times as fast as native, where the best of all are {most:.2f} times; "
        f"{result['tuning']['calls']:,} calls of "
        f"{result['search']['calls']:,} that the search made ({share:.0%}), of {result['space']:,} recipes.",
        "",
        "| collective | bytes | chosen | loss | loss of the model's first 8 | rank correlation |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        correlation = row["rank_correlation"]
        lines.append(
            f"| {row['collective']} | {row['size_bytes']} | `{row['chosen']}` | {row['loss']:.1%} | "
            f"{row['best_of_first_loss']:.1%} | {'' if correlation is None else f'{correlation:.2f}'} |"
        )
    return lines


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("place", nargs="*")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--collectives", default="bcast,allreduce")
    parser.add_argument("--sizes", default="8,2048,65536,1048576")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds")
    parser.add_argument("--repetitions", type=int, default=5, help="of the search; 1 where there is no noise")
    parser.add_argument("--space", type=int, default=150, help="recipes a size")
    given = parser.parse_args()
    if not given.table:
        places = {"sim": lambda name: {"sim": name}, "lab": lambda name, mpi: {"lab": name, "mpi": mpi}}
        options = TuneOptions(
            sizes_bytes=tuple(map(int, given.sizes.split(","))),
            collectives=tuple(given.collectives.split(",")),
            budget_s=given.budget,
        )
        kind, *names = given.place
        with (
            open_target(TargetOptions(**places[kind](*names))) as target,
            tempfile.TemporaryDirectory() as folder,
        ):
            repetitions = 1 if target.exact else given.repetitions
            result = compared(target, options, given.space, repetitions, Path(folder))
        given.result.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(json.loads(given.result.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
