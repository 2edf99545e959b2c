# SPDX-License-Identifier: BSD-3-Clause
"""The executor's own tests, which `make test-mpi` runs under the system's libraries, pass under others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from interposed import launched
from libraries import wrapper_of
from planned import Bench

from isochrone.files import LibraryReference, Plan, PlannedTopology
from isochrone.launch.cached import tool
from isochrone.launch.library import identify

pytestmark = pytest.mark.long

_SOURCES = Path(__file__).parents[2]
_MOST_S = 900


@pytest.fixture(scope="module", params=["mpich", "openmpi", "intel"])
def built(request: pytest.FixtureRequest) -> tuple[Bench, Mapping[str, str]]:
    """The tests, built for a library of the package index, and the variables that this needs."""
    wrapper = wrapper_of(request.param)
    variables = identify(wrapper, "").environment
    folder = _SOURCES / "build" / f"{request.param}-from-pypi"
    configure = [
        *("--preset", "mpich", "-B", str(folder)),
        *(f"-DMPI_C_COMPILER={wrapper}", f"-DMPIEXEC_EXECUTABLE={wrapper.with_name('mpiexec')}"),
    ]
    for words in (configure, ["--build", str(folder), "--target", "isochrone_mpi_tests"]):
        done = subprocess.run(
            [tool("cmake"), *words],
            cwd=_SOURCES,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    program = next(folder.rglob("isochrone_mpi_tests"))
    nothing = Plan(topology=PlannedTopology("", ""), mpi=LibraryReference("", ""), rules=())
    return Bench(str(wrapper.with_name("mpiexec")), str(wrapper), program, folder, nothing), variables


@pytest.mark.parametrize("ranks", range(1, 10))
def test_the_executors_tests_pass(built: tuple[Bench, Mapping[str, str]], ranks: int) -> None:
    bench, variables = built
    done = launched(bench, ("-n", str(ranks), bench.program), most_s=_MOST_S, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ]" in done.stdout
