# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone bench``: times collectives by different recipes in turn."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isochrone.cli.bench_guidelines import print_guidelines
from isochrone.cli.bench_table import print_rows, rows_of
from isochrone.cli.options import (
    AsJson,
    Collectives,
    FabricServer,
    Patterns,
    parse_patterns,
    parse_sizes,
    print_json,
)
from isochrone.cli.target import TargetOptions, open_target, with_target_options
from isochrone.errors import IsochroneError, UsageError

if TYPE_CHECKING:
    from isochrone.lab.study import Outcome
    from isochrone.launch.target import Target

_REPETITIONS = 20
_log = logging.getLogger(__name__)


@with_target_options
def bench(
    options: TargetOptions,
    recipes: Annotated[
        list[str] | None,
        typer.Option("--recipe", "-r", help="A recipe to time beside native; again for more."),
    ] = None,
    sizes: Annotated[str | None, typer.Option("--sizes", metavar="SIZE,...", help="Message sizes.")] = None,
    collectives: Collectives = None,
    patterns: Patterns = None,
    fabric: FabricServer = None,
    root: Annotated[
        int, typer.Option("--root", min=0, max=2**20 - 1, help="Of collectives that have one.")
    ] = 0,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", min=1, max=10**6, help=f"Timed calls of each (default: {_REPETITIONS})."
        ),
    ] = None,
    guidelines: Annotated[
        bool,
        typer.Option(
            "--guidelines",
            help="Check that no collective takes longer than others that do the same together.",
        ),
    ] = False,
    topology: Annotated[
        Path | None,
        typer.Option(
            "--topology",
            "-t",
            help="topology.json, or its folder, for recipes that follow it; without, hosts alone are known.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            help="plan.json, or its folder: times the recipe 'plan' too, and tells the MPI library what the "
            "library.json beside it says.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write (default: bench.jsonl); of a lab, the folder (default: isochrone-bench).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Time collectives by different recipes, each in turn in one run, against the MPI library's own.

    Broadcasts, unless --collectives or --patterns name others. With --guidelines, what MPI libraries should
    keep, and a plan too: an allreduce takes no longer than a reduction and a broadcast, and so on; --sizes
    are then totals of bytes.

    In a lab and without recipes: survey it with each library of --mpi (names with commas between them) and in
    each placement, or the one that is given, and set the plans beside the libraries and the links' bound. The
    same command goes on with one that was interrupted.
    """
    if guidelines and (collectives or patterns or recipes or root):
        raise UsageError(
            "checks collectives of its own, from rank 0", "--guidelines", "give it alone, or with --plan"
        )
    if patterns is not None and collectives is None and (recipes or plan is not None):
        what = "are the MPI library's own, whatever the recipe and the plan"
        raise UsageError(what, "--patterns", "name --collectives for those")
    if options.lab is not None and not recipes and plan is None and not guidelines and patterns is None:
        for option, given in (
            ("--collectives", collectives is not None),
            ("--repetitions", repetitions is not None),
            ("--root", bool(root)),
            ("--topology", topology is not None),
            ("--fabric", fabric is not None),
        ):
            if given:
                what = "is nothing for the survey of a lab, which times broadcasts"
                raise UsageError(what, option, "add --recipe or --plan, or leave it away")
        _bench_lab(options, output or Path("isochrone-bench"), sizes, as_json)
        return
    output = output or Path("bench.jsonl")
    repetitions = repetitions or _REPETITIONS
    from isochrone import _core
    from isochrone.files import BCAST, NATIVE, PLAN_RECIPE, TOLD, Case, read_plan, read_planned_topology
    from isochrone.files.text import refuse_to_replace
    from isochrone.progress import part
    from isochrone.steps.bench import guideline_bench, run_bench, work_for
    from isochrone.steps.folder import BENCH, PLAN, TOPOLOGY, in_folder
    from isochrone.tune.collectives import is_rooted, parse_collectives, sizes_of
    from isochrone.tune.sizes import SIZES_BYTES

    refuse_to_replace(output, "bench")
    if output.name == BENCH and output.exists() and output.with_name(PLAN).exists():
        what = f"{PLAN} beside it is verified by this file"
        raise IsochroneError(what, str(output), "choose another with -o")
    wanted = list(dict.fromkeys([NATIVE, *(recipes or [])]))
    for recipe in recipes or []:
        if recipe != PLAN_RECIPE and not recipe.startswith(TOLD):
            try:
                _core.parse_recipe(recipe)
            except ValueError as error:
                raise UsageError(str(error), "--recipe") from None
    plan_file = in_folder(plan, PLAN) if plan else None
    topology_file = in_folder(topology, TOPOLOGY) if topology else None
    if plan_file is not None:
        known = read_plan(plan_file)
        wanted = list(dict.fromkeys([*wanted, PLAN_RECIPE]))
        topology_file = topology_file or plan_file.with_name(known.topology.file)
        read_planned_topology(known, plan_file, topology_file)
    if guidelines:
        totals = parse_sizes(sizes) if sizes is not None else None
        with open_target(options) as place, part("timing collectives"):
            target = _at_its_best(place, plan_file, recipes)
            checked = guideline_bench(
                target, totals, wanted, repetitions, output, topology_file, plan_file, fabric
            )
        print_guidelines(checked, output, as_json)
        return
    sizes_bytes = parse_sizes(sizes) if sizes is not None else SIZES_BYTES
    names = parse_collectives(collectives) if collectives is not None else (() if patterns else (BCAST,))
    messages = parse_patterns(patterns) if patterns is not None else []
    if root and not any(map(is_rooted, names)) and not any(row["rooted"] for row in messages):
        raise UsageError("nothing that is timed has a root", "--root", "leave it away")
    cases = [
        Case(size, root if is_rooted(name) else 0, tuple(wanted), name)
        for name in names
        for size in sizes_of(name, sizes_bytes)
    ] + [
        Case(size, root if row["rooted"] else 0, (NATIVE,), row["name"], is_pattern=True)
        for row in messages
        for size in sizes_bytes
    ]
    with open_target(options) as place, part("timing collectives"):
        target = _at_its_best(place, plan_file, recipes)
        work = work_for(target, cases, repetitions, fabric=fabric)
        found = run_bench(target, work, output, topology_file, plan_file)
    rows = rows_of(found)
    if as_json:
        print_json(
            {
                "bench": str(output),
                "ranks": found.ranks,
                "simulated": found.simulated,
                "results": [row.document() for row in rows],
            }
        )
    else:
        print_rows(rows, found.ranks)


def _at_its_best(target: Target, plan_file: Path | None, recipes: list[str] | None) -> Target:
    """The place to run, whose MPI library is told what a library.json beside the plan says. Not where it is
    told its algorithms one by one.
    """
    from isochrone.files import TOLD
    from isochrone.launch.told import variables_for

    one_by_one = any(recipe.startswith(TOLD) for recipe in recipes or [])
    if plan_file is None or one_by_one:
        return target
    variables = variables_for(plan_file.parent, target)
    return target.with_variables(variables) if variables else target


def _bench_lab(options: TargetOptions, folder: Path, sizes: str | None, as_json: bool) -> None:
    from isochrone.files import provenance
    from isochrone.files.text import read_object, write_object
    from isochrone.lab.launch import PLACEMENTS
    from isochrone.lab.study import study
    from isochrone.lab.target import Ranks, open_lab
    from isochrone.launch.registry import find_library
    from isochrone.tune.sizes import SIZES_BYTES

    options.check()
    libraries = [find_library(name) for name in (options.mpi.split(",") if options.mpi else [None])]
    sizes_bytes = parse_sizes(sizes) if sizes is not None else SIZES_BYTES
    path = folder / "results.json"
    with open_lab(options.lab or "") as lab:
        placements = [
            Ranks.on(lab.network, options.ranks, options.per_host, placement, options.seed)
            for placement in ([options.placement] if options.placement else PLACEMENTS)
        ]
        document: dict[str, Any] = {
            "lab": lab.network.name,
            "description": lab.network.description,
            "ranks": len(placements[0].hosts),
            "cores": os.cpu_count(),
            "sizes_bytes": list(sizes_bytes),
            "seed": options.seed,
            "idle_wait": options.idle_wait,
            "surveys": [],
            "results": [],
            "provenance": provenance(),
        }
        if path.exists():
            document = _gone_on_with(read_object(path), document, path)
        done = {(survey["mpi"], survey["placement"]) for survey in document["surveys"]}
        if not as_json:
            typer.echo(f"{lab.network.name}: {lab.network.description}")
        for outcome in study(lab, libraries, placements, folder, options.idle_wait, sizes_bytes, done):
            document["surveys"].append(outcome.to_json())
            document["results"] += [row.to_json() for row in outcome.rows]
            # After each, so that nothing is lost if the next one fails.
            write_object(path, document)
            if not as_json:
                for line in _lab_lines(outcome):
                    typer.echo(line)
    if as_json:
        print_json(document)
    else:
        typer.echo(f"Results: {path}")


def _gone_on_with(earlier: dict[str, Any], fresh: dict[str, Any], path: Path) -> dict[str, Any]:
    """The results of an earlier run of the same benchmark, which had not come to its end."""
    for key in ("lab", "description", "ranks", "cores", "sizes_bytes", "seed", "idle_wait"):
        if earlier.get(key) != fresh[key]:
            raise IsochroneError(
                f"has results of another benchmark: {key} is {earlier.get(key)!r}, not {fresh[key]!r}",
                str(path),
                "choose another folder with -o",
            )
    for key in ("surveys", "results"):
        if not isinstance(earlier.get(key), list):
            raise IsochroneError(f"has no list of {key}", str(path), "choose another folder with -o")
    if any(
        not isinstance(each, dict) or not {"mpi", "placement"} <= set(each) for each in earlier["surveys"]
    ):
        what = "has a survey without a library or placement"
        raise IsochroneError(what, str(path), "choose another folder with -o")
    return earlier


def _lab_lines(outcome: Outcome) -> list[str]:
    right = ", ".join(f"{level} {share:g}" for level, share in outcome.accuracy.items())
    idle = "idle ranks wait" if outcome.idle_wait else "idle ranks poll"
    lines = [
        f"{outcome.mpi}, {outcome.placement} placement, {idle}: accuracy {right}; "
        f"probed in {outcome.probe_s:.0f} s",
        f"{'bytes':>9}{'native':>12}{'isochrone':>12}{'speedup':>22}{'best native':>13}{'bound':>11}"
        f"{'ours/bound':>11}",
    ]
    for row in outcome.rows:
        low, high = row.speedup.low, row.speedup.high
        over = row.over_bound(row.isochrone)
        ours = "-" if over is None else f"{over:.2f}"
        lines.append(
            f"{row.size_bytes:>9}{row.native.estimate * 1e3:>9.2f} ms{row.isochrone.estimate * 1e3:>9.2f} ms"
            f"{row.speedup.estimate:>8.2f} [{low:5.2f},{high:6.2f}]{row.best_native[1] * 1e3:>10.2f} ms"
            f"{row.bound_s * 1e3:>8.2f} ms{ours:>10}  {row.best_native[0]}"
        )
    for link, directions in outcome.uplinks.items():
        for direction, by in directions.items():
            if max(by.values()) > 0:
                lines.append(
                    f"  {link} {direction}: native {by['native'] / 2**20:.2f}, isochrone "
                    f"{by['isochrone'] / 2**20:.2f} MiB for each broadcast of {outcome.uplink_bytes} bytes"
                )
    return lines
