# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone bench``: times broadcasts by different recipes in turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.options import AsJson, parse_sizes, print_json
from isochrone.cli.target import on_target
from isochrone.errors import UsageError
from isochrone.launch.target import Target

if TYPE_CHECKING:
    from isochrone.statistics import Interval


@dataclass(frozen=True)
class _Row:
    """One recipe at one size; speedups are over the library's own."""

    size_bytes: int
    root: int
    recipe: str
    median: Interval
    speedup: Interval

    def document(self) -> dict[str, Any]:
        return {
            "size_bytes": self.size_bytes,
            "root": self.root,
            "recipe": self.recipe,
            "median_s": self.median.estimate,
            "ci_s": [self.median.low, self.median.high],
            "speedup": self.speedup.estimate,
            "speedup_ci": [self.speedup.low, self.speedup.high],
        }


@on_target
def bench(
    target: Target,
    recipes: Annotated[
        list[str] | None,
        typer.Option("--recipe", "-r", help="A recipe to time beside native; again for more."),
    ] = None,
    sizes: Annotated[str | None, typer.Option("--sizes", metavar="BYTES,...", help="Message sizes.")] = None,
    root: Annotated[int, typer.Option("--root", min=0, help="The rank that has the data.")] = 0,
    repetitions: Annotated[int, typer.Option("--repetitions", min=1, help="Timed calls of each.")] = 20,
    topology: Annotated[
        Path | None,
        typer.Option("--topology", "-t", help="topology.json, or its folder, for recipes that follow it."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="plan.json, or its folder: times the recipe 'plan' too.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")] = Path("bench.jsonl"),
    as_json: AsJson = False,
) -> None:
    """Time broadcasts by different recipes, each in turn in one run, against the MPI library's own."""
    from isochrone import _core
    from isochrone.files import BenchKey, Case, read_plan
    from isochrone.statistics import median_ci, ratio_ci
    from isochrone.steps.bench import SIZES_BYTES, run_bench
    from isochrone.steps.folder import PLAN, TOPOLOGY, in_folder

    wanted = ["native", *(recipes or [])]
    for recipe in recipes or []:
        if recipe != "plan" and not recipe.startswith("native:"):
            try:
                _core.parse_recipe(recipe)
            except ValueError as error:
                raise UsageError(str(error), "--recipe") from None
    plan_file = in_folder(plan, PLAN) if plan else None
    topology_file = in_folder(topology, TOPOLOGY) if topology else None
    if plan_file is not None:
        read_plan(plan_file)
        wanted = list(dict.fromkeys([*wanted, "plan"]))
        topology_file = topology_file or plan_file.with_name(TOPOLOGY)
    cases = [Case(size, root, tuple(wanted)) for size in (parse_sizes(sizes) if sizes else SIZES_BYTES)]
    found = run_bench(target, cases, output, topology_file, plan_file, repetitions)
    rows = []
    for size, from_root in found.cases:
        native = found.slowest_s[BenchKey(size, from_root, "native")]
        for recipe in found.recipes(size, from_root):
            times = found.slowest_s[BenchKey(size, from_root, recipe)]
            rows.append(_Row(size, from_root, recipe, median_ci(times), ratio_ci(native, times)))
    if as_json:
        print_json(
            {
                "bench": str(output),
                "ranks": found.ranks,
                "simulated": found.simulated,
                "results": [row.document() for row in rows],
            }
        )
        return
    for row in rows:
        low, high = row.speedup.low, row.speedup.high
        typer.echo(
            f"{row.size_bytes:>9} B  {row.median.estimate * 1e6:>11.2f} µs  "
            f"{row.speedup.estimate:6.2f}x [{low:.2f}, {high:.2f}]  {row.recipe}"
        )
