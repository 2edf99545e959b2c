# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that programs are run under: those of the system, and those of the package index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from interposed import launched, on_plan
from planned import RANKS, Bench, said, write_plan_for, write_plan_of_recipes

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import read_measurements
from isochrone.launch.target import LocalTarget
from isochrone.launch.wheels import install

LAUNCHERS = {"openmpi": "mpiexec.openmpi", "mpich": "mpiexec.mpich"}
FROM_PYPI = " from PyPI"

# For each collective, what the first row of its table does not show: rounds, pieces, and several groups.
_RECIPES = {"bcast": "binomial", "reduce": "knomial/3@4096", "allreduce": "rabenseifner@8192"}
_COUNTER = re.compile(r"isochrone: (\w[\w ]*)s on rank 0: (\d+) by the plan's recipes")


def missing(what: str) -> NoReturn:
    """Ends a test for which something is not there: on CI it must be."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def wrapper_of(name: str) -> Path:
    """The ``mpicc`` of a library from the package index, which is installed where it is not yet."""
    try:
        return install(name)
    except IsochroneError as error:
        missing(str(error))


def bench_of(name: str, folder: Path) -> Bench:
    """A library of LAUNCHERS, or one `from PyPI`, with a plan and no program yet."""
    if name in LAUNCHERS:
        launcher = LAUNCHERS[name]
        compiler = launcher.replace("mpiexec", "mpicc")
        if shutil.which(launcher) is None or shutil.which(compiler) is None:
            missing(f"{launcher} and {compiler} are not installed")
    else:
        wrapper = wrapper_of(name.removesuffix(FROM_PYPI))
        launcher, compiler = str(wrapper.with_name("mpiexec")), str(wrapper)
    target = LocalTarget([launcher, "-n", str(RANKS)])
    target.run("isochrone-probe", ["--output", str(folder / "m.jsonl"), "--repetitions", "1", "--sizes", "0"])
    plan = write_plan_for(folder, read_measurements(folder / "m.jsonl"))
    return Bench(launcher, compiler, Path(), folder, plan)


def plan_of_all(bench: Bench, folder: Path) -> Path:
    """A plan with a recipe for every call of every collective that there are recipes for."""
    recipes: dict[str, str] = {}
    for algorithm in _core.algorithms():
        recipes.setdefault(algorithm["collective"], algorithm["name"])
    write_plan_of_recipes(folder, read_measurements(bench.folder / "m.jsonl"), recipes | _RECIPES)
    return folder / "plan.json"


def run_twice(
    bench: Bench,
    plan: Path,
    line: Sequence[str | Path],
    most_s: float = 600,
    environment: Mapping[str, str] | None = None,
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """Runs a launch line natively and on a plan, where it says what it did; both must end well."""
    settings = dict(environment or {})
    plain = launched(bench, line, most_s=most_s, **settings)
    assert plain.returncode == 0, f"natively: {plain.stdout}{plain.stderr}"
    settings |= {"ISOCHRONE_EXPLAIN": "1"}
    planned = launched(bench, line, before=on_plan(plan), most_s=most_s, **settings)
    assert planned.returncode == 0, f"on a plan: {planned.stdout}{planned.stderr}"
    return plain, planned


def recipes_run(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """How many calls of each collective ran by the plan's recipes on rank 0, as it says at the end."""
    return {found[1]: int(found[2]) for line in said(done) if (found := _COUNTER.match(line))}
