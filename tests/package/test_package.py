# SPDX-License-Identifier: BSD-3-Clause
"""Programs build on an installed isochrone by CMake and by pkg-config, follow a plan without a preload, and
ask what it says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from interposed import launched
from planned import RANKS, Bench, said, write_plan_of_recipes

import isochrone
from isochrone.files import read_measurements
from isochrone.launch.build import native_source_folder
from isochrone.launch.cached import tool
from isochrone.launch.target import LocalTarget

_LAUNCHERS = ("mpiexec.mpich", "mpiexec.openmpi")
_HERE = Path(__file__).parent
_BUILD_S = 1800


@dataclass(frozen=True)
class Installed:
    """An installation for one MPI library, and a plan with a recipe for every broadcast."""

    bench: Bench
    prefix: Path
    plan: Path

    def variables(self) -> dict[str, str]:
        """By which a program follows the plan."""
        topology = self.plan.with_name("topology.json")
        return {"ISOCHRONE_PLAN": str(self.plan), "ISOCHRONE_TOPOLOGY": str(topology)}


def _call(*words: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_BUILD_S,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module", params=_LAUNCHERS)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    launcher = request.param
    compiler = launcher.replace("mpiexec", "mpicc")
    tools = (launcher, compiler, "cmake", "ninja", "pkg-config")
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing} are missing")
        pytest.skip(f"{missing} are not installed")
    folder = tmp_path_factory.mktemp("package")
    build, prefix = folder / "build", folder / "prefix"
    options = [f"-DMPI_C_COMPILER={compiler}", "-DISOCHRONE_MPI=ON", f"-DCMAKE_INSTALL_PREFIX={prefix}"]
    # CMake and the flags of `launch.build`, so that a compiler's cache knows the objects.
    options += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    cmake = tool("cmake")
    _call(cmake, "-S", native_source_folder(), "-B", build, "-G", "Ninja", *options)
    _call(cmake, "--build", build, "--target", "isochrone_core", "isochrone_mpi")
    _call(cmake, "--install", build, "--component", "devel")
    measured = folder / "m.jsonl"
    target = LocalTarget([launcher, "-n", str(RANKS)])
    target.run("isochrone-probe", ["--output", str(measured), "--repetitions", "1", "--sizes", "0"])
    plan = write_plan_of_recipes(folder, read_measurements(measured), "binomial")
    return Installed(Bench(launcher, compiler, Path(), folder, plan), prefix, folder / "plan.json")


@pytest.fixture(scope="module", params=["cmake", "pkg-config"])
def consumer(request: pytest.FixtureRequest, installed: Installed) -> Path:
    """A program in C that is built on the installation."""
    folder = installed.bench.folder / request.param
    if request.param == "cmake":
        options = [f"-DCMAKE_PREFIX_PATH={installed.prefix}", f"-DMPI_C_COMPILER={installed.bench.compiler}"]
        _call("cmake", "-S", _HERE, "-B", folder, "-G", "Ninja", *options)
        _call("cmake", "--build", folder)
    else:
        folder.mkdir()
        (found,) = installed.prefix.rglob("isochrone_mpi.pc")
        flags = _call(
            *("pkg-config", "--cflags", "--libs", "isochrone_mpi"), PKG_CONFIG_PATH=str(found.parent)
        ).split()
        strict = ["-std=c99", "-pedantic-errors", "-Wall", "-Werror"]
        _call(installed.bench.compiler, *strict, "-o", folder / "consumer", _HERE / "consumer.c", *flags)
    return folder / "consumer"


def _told(active: bool) -> list[str]:
    """What the program says from its first levels on."""
    none = "no plan is followed"
    if not active:
        return [
            *(f"{what}: {none}" for what in ("levels", "no such level", "no room")),
            "room for ",
        ]
    return [
        "levels: success",
        "level 0: node",
        "no such level: wrong argument",
        "no room: the text is longer than the buffer",
        "room for nod",
        "group: success",
        "group 0 of 3 ranks, led by 0, on all ranks 0",
        "group of one: success",
        "1 rank",
        "recipe: success",
        "binomial: measured 2.00x faster than native for 3 ranks in one node",
        "recipe of one: success",
        "native: there is one rank only",
        "no such collective: wrong argument",
        "no such root: wrong argument",
        "counters: success",
        "20 calls, time 1, saved 1",
        "0 barriers",
        f"after the end: {none}",
    ]


def test_a_linked_program_follows_the_plan_of_the_environment(installed: Installed, consumer: Path) -> None:
    done = launched(installed.bench, ("-n", "3", consumer), **installed.variables())
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert done.stdout.splitlines() == [
        "open again: MPI does not run, or a plan is followed already",
        f"version {isochrone.__version__}, open 1",
        *_told(active=True),
    ]


def test_a_linked_program_loads_a_plan_itself(installed: Installed, consumer: Path) -> None:
    paths = installed.variables().values()
    done = launched(installed.bench, ("-n", "3", consumer, *paths))
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert done.stdout.splitlines() == [
        "counters before: no plan is followed",
        "open: success",
        "open again: MPI does not run, or a plan is followed already",
        f"version {isochrone.__version__}, open 1",
        *_told(active=True),
    ]


def test_a_linked_program_whose_plan_does_not_hold_runs_on_the_library(
    installed: Installed, consumer: Path
) -> None:
    done = launched(installed.bench, ("-n", "2", consumer, "/nowhere", "/nowhere"))
    assert done.returncode == 0, done.stderr
    assert "open: no plan is followed" in done.stdout.splitlines()
    assert said(done)[0] == "isochrone: /nowhere cannot be read: the MPI library's own collectives run"
