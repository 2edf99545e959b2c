# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that only say who they are, real MPI libraries, and a native part that builds at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

VERSIONS = {
    "openmpi4": "mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/",
    "openmpi5": "mpiexec (Open MPI) 5.0.11\n",
    "hydra": "HYDRA build details:\n    Version:                                 4.0.2\n    CC:   gcc",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.13 Build 20240515",
    "slurm": "slurm 22.05.8",
    "simgrid": "SimGrid version 3.32",
}
DEBIAN = {"Open MPI": "openmpi", "MPICH": "mpich"}

MakeLauncher = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache and settings, nor is led astray by them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in list(os.environ):
        if name.startswith(("ISOCHRONE_", "SLURM_", "OMPI_", "PRTE_")) or name == "LD_PRELOAD":
            monkeypatch.delenv(name)


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeLauncher:
    """launcher(kind, name): an executable on the PATH that answers to --version like that launcher."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(kind: str, name: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{VERSIONS[kind]}\nEND\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture(params=sorted(DEBIAN))
def vendor(request: pytest.FixtureRequest) -> str:
    """Each MPI library that Debian has; a machine without it skips, but CI does not."""
    name: str = request.param
    if shutil.which(f"mpiexec.{DEBIAN[name]}") is None or shutil.which(f"mpicc.{DEBIAN[name]}") is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"mpiexec.{DEBIAN[name]} and mpicc.{DEBIAN[name]} are missing")
        pytest.skip(f"{name} is not installed")
    return name


_CMAKE = """\
cmake_minimum_required(VERSION 3.24)
project(tiny LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(isochrone-probe core/probe.c)
add_library(isochrone_mpi SHARED core/preload.c)
add_library(isochrone_idle SHARED core/idle.c)
target_link_libraries(isochrone-probe PRIVATE MPI::MPI_C)
target_link_libraries(isochrone_mpi PRIVATE MPI::MPI_C)
install(TARGETS isochrone-probe isochrone_mpi isochrone_idle COMPONENT mpi
    RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
"""
_PROBE = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int rank, size;
    const char* preload = getenv("LD_PRELOAD");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        FILE* file = fopen(argv[1], "w");
        fprintf(stderr, "progress 1 1\\n");
        fprintf(file, "%d%s", size, preload != NULL ? preload : "");
        fclose(file);
    }
    MPI_Finalize();
    return 0;
}
"""
_PRELOAD = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    printf("on plan %s\\n", getenv("ISOCHRONE_PLAN"));
    return PMPI_Bcast(data, count, type, root, comm);
}
"""


@pytest.fixture
def tiny_native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A native part of four small files in place of the real one, so that building it takes a second."""
    folder = tmp_path / "native"
    (folder / "core").mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(_CMAKE, encoding="utf-8")
    (folder / "core" / "probe.c").write_text(_PROBE, encoding="utf-8")
    (folder / "core" / "idle.c").write_text("int idle;\n", encoding="utf-8")
    (folder / "core" / "preload.c").write_text(_PRELOAD, encoding="utf-8")
    monkeypatch.setattr("isochrone.launch.build.native_source_folder", lambda: folder)
    return folder
