# SPDX-License-Identifier: BSD-3-Clause
"""Builds for SimGrid: the native programs with its compiler, and the platform that its simulator loads."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import isochrone
from isochrone.errors import IsochroneError
from isochrone.launch.build import native_source_folder
from isochrone.launch.cached import DIGEST_LENGTH, Commands, built_once, ninja, tool
from isochrone.launch.folders import cache_folder

_INSTALL_SIMGRID = "install SimGrid: apt install libsimgrid-dev"
# Each rank loads a copy of the program, so it should be small.
_COMPILER_FLAGS = "-ffunction-sections -fdata-sections"
_LINKER_FLAGS = "-Wl,--gc-sections -Wl,--strip-all"


@dataclass(frozen=True)
class Tools:
    """SimGrid's compiler and launcher."""

    smpicxx: str
    smpirun: str
    version: str


def find_tools() -> Tools:
    """SimGrid's tools on the PATH.

    Raises:
        IsochroneError: SimGrid is not installed.
    """
    smpicxx, smpirun = shutil.which("smpicxx"), shutil.which("smpirun")
    if smpicxx is None or smpirun is None:
        missing = "smpirun" if smpirun is None else "smpicxx"
        raise IsochroneError(
            f"{missing}, which simulated clusters need, was not found", todo=_INSTALL_SIMGRID
        )
    shown = subprocess.run([smpirun, "-version"], capture_output=True, text=True, errors="replace")
    match = re.search(r"SimGrid version v?([0-9]+(?:\.[0-9]+)+)", shown.stdout)
    if match is None:
        raise IsochroneError("is not SimGrid's: it tells no version", where=smpirun, todo=_INSTALL_SIMGRID)
    return Tools(smpicxx, smpirun, match[1])


def build_programs(tools: Tools) -> Path:
    """The folder of ``isochrone-probe`` and ``isochrone-bench``, from the cache or built now.

    Raises:
        IsochroneError: a tool is missing or the code does not compile; the message has the first error and
            where the log is.
    """
    sources = native_source_folder()
    visible_main = sources / "sim" / "visible_main.hpp"

    def commands(work: Path, stage: Path) -> list[list[str]]:
        cmake = tool("cmake")
        configure = [
            *(cmake, "-S", str(sources), "-B", str(work), "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            f"-DCMAKE_CXX_COMPILER={tools.smpicxx}",
            f"-DCMAKE_CXX_FLAGS={_COMPILER_FLAGS} -include '{visible_main}'",
            f"-DCMAKE_EXE_LINKER_FLAGS={_LINKER_FLAGS}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DISOCHRONE_MPI=ON",
            "-DCMAKE_INSTALL_BINDIR=.",
        ]
        install = [cmake, "--install", str(work), "--prefix", str(stage), "--component", "mpi"]
        return [configure, ninja(work), install]

    built_from = [visible_main, *(sources / name for name in ("CMakeLists.txt", "cmake", "core", "mpi"))]
    return _cached("programs", tools, built_from, commands)


def build_platform(tools: Tools) -> Path:
    """The shared object that smpirun takes as platform, from the cache or built now.

    Raises:
        IsochroneError: it does not compile; the message has the first error and where the log is.
    """
    sources = native_source_folder()
    bundled = sources / "third_party" / "include"

    def commands(work: Path, stage: Path) -> list[list[str]]:
        return [
            [
                *(tools.smpicxx, "-std=c++20", "-O2", "-shared", "-fPIC"),
                *(["-isystem", str(bundled)] if bundled.is_dir() else []),
                *(str(path) for path in sorted((sources / "sim").glob("*.cpp"))),
                *("-o", str(stage / "platform.so")),
            ]
        ]

    # With that variable smpicxx is the compiler that SimGrid was built with, with SimGrid's paths and no MPI.
    environment = {"SMPI_PRETEND_CC": "1"}
    return _cached("platform", tools, [sources / "sim"], commands, environment) / "platform.so"


def _cached(
    name: str,
    tools: Tools,
    built_from: Sequence[Path],
    commands: Commands,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """The folder of what is built; its name has SimGrid's version and a digest of compiler, flags and
    sources.
    """
    kind = f"{isochrone.__version__} {_COMPILER_FLAGS} {_LINKER_FLAGS} {tools}"
    folder = cache_folder() / "simgrid" / f"{name}-{tools.version}-{_digest(kind, built_from)}"
    # Kept, so that after a change of the sources only what depends on it is compiled.
    work = folder.with_name(f"{name}-work-{_digest(f'{kind} {built_from}', [])}")
    title = f"the {name} for SimGrid {tools.version}"
    return built_once(folder, title, commands, {**os.environ, **(environment or {})}, work)


def _digest(kind: str, built_from: Sequence[Path]) -> str:
    digest = hashlib.sha256(kind.encode())
    for root in built_from:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file():
                digest.update(f"\n{path.relative_to(root.parent)}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:DIGEST_LENGTH]
