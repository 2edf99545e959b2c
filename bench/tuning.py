#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a tuning finds beside a search through the whole space of recipes, and what either costs.

Usage: tuning.py RESULT.json sim NAME|FILE [--collectives NAME,...] [--sizes BYTES,...]
       tuning.py RESULT.json lab NAME MPI [--budget TIME] [--repetitions N] [--space N] ...
       tuning.py RESULT.json --table

A result has a row for each place; one that is measured again takes the place of its row.

The space is every recipe of the grammar over all levels of the tree, flat ones too, in every segment
size. For each size --space of them stand for it, drawn at random with a seed, and those that the tuning
measured. All are timed in one run, in turn; where times have noise, the best of all, the best of the model's
first 8 and what the tuning chose are timed once more, and that counts. For each collective and size: how
much slower than the best what the tuning chose is (its loss; what is native counts as native), how much
slower the best of the model's first 8 is, and how the model ranks all of them (Spearman). Calls and seconds
are those of all of the tuning's rounds, and of the search.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import read_rows, write_rows
from scipy import stats

from isochrone import _core
from isochrone.cli.target import TargetOptions, open_target
from isochrone.files import Bench, Case, merged, provenance, read_bench, read_topology
from isochrone.launch.target import Target
from isochrone.statistics import geometric_mean
from isochrone.steps.folder import TUNING
from isochrone.steps.rounds import Rounds
from isochrone.steps.survey import probe_and_detect
from isochrone.steps.tune import TuneOptions, tune
from isochrone.tune.candidates import candidates
from isochrone.tune.collectives import grids
from isochrone.tune.forms import Form, dividing_levels, level_algorithms, segments_for
from isochrone.tune.layout import layout_of
from isochrone.units import format_bytes

MODEL_FIRST = 8
SIMULATED = 16
"""Recipes of a size in one launch."""
FINAL_REPETITIONS = 25


class Space(Sequence[str]):
    """Every recipe of the grammar over all levels, and every flat one, without a list of them: there are
    millions. Some cannot run on this layout.
    """

    def __init__(self, collective: str, layout: _core.Layout, size_bytes: int) -> None:
        across, inner = (level_algorithms(collective, outermost) for outermost in (True, False))
        levels = dividing_levels(layout)
        self._segments = segments_for(collective, size_bytes)
        # Of each set of levels, what there is to choose from on each of them.
        self._choices: list[tuple[tuple[str, ...], list[list[tuple[str, ...]]]]] = [
            ((), [list(itertools.product(*across))])
        ]
        for count in range(1, len(levels)):
            for kept in itertools.combinations(levels[1:], count):
                inside = [list(itertools.product(*inner)) for _ in kept]
                self._choices.append(((levels[0], *kept), [list(itertools.product(*across)), *inside]))
        self._counts = [math.prod(len(few) for few in choices) for _, choices in self._choices]

    def __len__(self) -> int:
        return sum(self._counts) * len(self._segments)

    def __getitem__(self, index: Any) -> Any:
        index, segment = divmod(index, len(self._segments))
        for (levels, choices), count in zip(self._choices, self._counts, strict=True):
            if index < count:
                chosen = []
                for few in choices:
                    index, at = divmod(index, len(few))
                    chosen.append(few[at])
                return Form(levels, tuple(chosen), self._segments[segment]).text()
            index -= count
        raise IndexError(index)


def drawn(
    recipes: Sequence[str], most: int, seed: int, collective: str, layout: _core.Layout, size_bytes: int
) -> list[str]:
    """Up to so many of the recipes that can run."""
    random_ = random.Random(seed)  # noqa: S311 - for repetition, not for secrets
    found: list[str] = []
    # Of those that cannot run there are few.
    for index in random_.sample(range(len(recipes)), min(len(recipes), 20 * most)):
        if len(found) == most:
            break
        recipe = recipes[index]
        try:
            _core.predict(collective, layout, recipe, 0, size_bytes)
        except ValueError:
            continue  # not on this number of ranks, or not in segments
        found.append(recipe)
    return found


def searched(
    target: Target, topology: Path, work: dict[tuple[str, int], Sequence[str]], repetitions: int, folder: Path
) -> Bench:
    """Times of all recipes of each collective and size: in one launch, but in several where it is simulated,
    each with a few of the recipes, as simulations of many calls get slow.
    """
    few = SIMULATED if target.simulated else max(1, *map(len, work.values()))
    cases = [
        [
            Case(size, 0, ("native", *recipes[begin : begin + few]), name)
            for (name, size), recipes in work.items()
            if recipes[begin : begin + few]
        ]
        for begin in range(0, max(map(len, work.values())), few)
    ]
    rounds = Rounds(target, read_topology(topology), topology, folder / "space")
    return merged([rounds.measure("searching", some, repetitions, 1) for some in cases])


def medians_s(bench: Bench, collective: str, size_bytes: int) -> dict[str, float]:
    """Of each recipe of a case; empty where it was not timed."""
    return {
        key.recipe: float(np.median(values))
        for key, values in bench.slowest_s.items()
        if (key.collective, key.size_bytes) == (collective, size_bytes)
    }


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
            found = Space(name, layout, size)
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
    rooted = {row["name"]: row["rooted"] for row in _core.collectives()}
    picked = {}
    for name, size in work:
        times = medians_s(bench, name, size)
        first = [*candidates(name, layout, (0,), size, MODEL_FIRST), "native"]
        picked[name, size] = (
            plan.recipe(layout.shape(0 if rooted[name] else None), size, name) or "native",
            min(times, key=lambda recipe: times[recipe]),
            min(times.keys() & set(first), key=lambda recipe: times[recipe]),
        )
    final = bench
    if not target.exact:
        # The least of many times amid noise is less than what it is the time of.
        again = {case: [r for r in dict.fromkeys(few) if r != "native"] for case, few in picked.items()}
        final = searched(target, topology, again, FINAL_REPETITIONS, folder)
    rows = []
    for (name, size), recipes in work.items():
        times = medians_s(bench, name, size)
        ours = [recipe for recipe in recipes if recipe in times]
        prices = [_core.predict(name, layout, recipe, 0, size) for recipe in ours]
        ranks = stats.spearmanr(prices, [times[recipe] for recipe in ours]) if len(ours) > 2 else None
        chosen, best, best_of_first = picked[name, size]
        final_s = medians_s(final, name, size) or times
        rows.append(
            {
                "collective": name,
                "size_bytes": size,
                "recipes": len(times),
                "best": best,
                "best_s": final_s[best],
                "chosen": chosen,
                "chosen_s": final_s[chosen],
                "native_s": final_s["native"],
                "loss": final_s[chosen] / final_s[best] - 1,
                "best_of_first_loss": final_s[best_of_first] / final_s[best] - 1,
                "rank_correlation": None if ranks is None else float(ranks.statistic),
            }
        )
    return {
        "target": target.name,
        "ranks": layout.size,
        "cases": rows,
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
    """The figures of one place in Markdown."""
    rows = result["cases"]
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


def summary(results: Sequence[dict[str, Any]]) -> list[str]:
    """A line of Markdown for each place."""
    lines = [
        "| place | ranks | recipes of all sizes | calls of the tuning | of the search | "
        "seconds of the tuning | of the search | mean loss | greatest loss | loss of the model's first 8 | "
        "rank correlation | plan over the library's own | best over it |",
        "| --- |" + " ---: |" * 12,
    ]
    for result in results:
        rows = result["cases"]
        losses, first = (
            geometric_mean([1 + row[name] for row in rows]) - 1 for name in ("loss", "best_of_first_loss")
        )
        most = max(rows, key=lambda row: row["loss"])
        ranks = [row["rank_correlation"] for row in rows if row["rank_correlation"] is not None]
        gains = [
            geometric_mean([row["native_s"] / row[name] for row in rows]) for name in ("chosen_s", "best_s")
        ]
        # A simulated program's clock is not the user's.
        seconds = [
            "" if "simulated" in result["target"] else f"{result[name]['elapsed_s']:.0f}"
            for name in ("tuning", "search")
        ]
        lines.append(
            f"| {result['target'].split(', 16 ranks')[0].removeprefix('lab ')} | {result['ranks']} | "
            f"{result['space']:,} | {result['tuning']['calls']:,} | {result['search']['calls']:,} | "
            f"{seconds[0]} | {seconds[1]} | {losses:.1%} | {most['loss']:.1%} "
            f"({most['collective']}, {format_bytes(most['size_bytes'])}) | {first:.1%} | "
            f"{min(ranks):.2f} to {max(ranks):.2f} | {gains[0]:.2f} | {gains[1]:.2f} |"
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
            row = compared(target, options, given.space, repetitions, Path(folder))
        others = [other for other in read_rows(given.result) if other["target"] != row["target"]]
        write_rows(given.result, {"command": "bench/tuning.py"}, [*others, row])
    rows = read_rows(given.result)
    for row in rows:
        print("\n".join([*table(row), ""]))
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
