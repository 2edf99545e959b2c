# SPDX-License-Identifier: BSD-3-Clause
"""Builds for SimGrid: the native programs with its compiler, and the platform that its simulator loads."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import isochrone
from isochrone.errors import IsochroneError
from isochrone.launch.build import native_source_folder
from isochrone.launch.folders import cache_folder
from isochrone.launch.lock import locked

_INSTALL_SIMGRID = "install SimGrid: apt install libsimgrid-dev"
# Each rank loads a copy of the program, so it should be small.
_COMPILER_FLAGS = "-ffunction-sections -fdata-sections"
_LINKER_FLAGS = "-Wl,--gc-sections -Wl,--strip-all"
_log = logging.getLogger(__name__)


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
        cmake = _tool("cmake")
        configure = [
            *(cmake, "-S", str(sources), "-B", str(work), "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}",
            f"-DCMAKE_CXX_COMPILER={tools.smpicxx}",
            f"-DCMAKE_CXX_FLAGS={_COMPILER_FLAGS} -include '{visible_main}'",
            f"-DCMAKE_EXE_LINKER_FLAGS={_LINKER_FLAGS}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DISOCHRONE_MPI=ON",
            "-DCMAKE_INSTALL_BINDIR=.",
        ]
        jobs = str(len(os.sched_getaffinity(0)))
        return [
            configure,
            [cmake, "--build", str(work), "--parallel", jobs],
            [cmake, "--install", str(work), "--prefix", str(stage), "--component", "mpi"],
        ]

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


Commands = Callable[[Path, Path], list[list[str]]]
"""The command lines that build something, from a folder to work in, which may hold what earlier builds left
there, and the folder for what is built.
"""


def _cached(
    name: str,
    tools: Tools,
    built_from: Sequence[Path],
    commands: Commands,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """The folder of what is built; its name has SimGrid's version and a digest of compiler, flags and
    sources. Processes that ask at the same time wait for the one that builds.
    """
    kind = f"{isochrone.__version__} {_COMPILER_FLAGS} {_LINKER_FLAGS} {tools}"
    folder = cache_folder() / "simgrid" / f"{name}-{tools.version}-{_digest(kind, built_from)}"
    if folder.is_dir():
        return folder
    # Kept, so that after a change of the sources only what depends on it is compiled.
    work = folder.with_name(f"{name}-work-{_digest(f'{kind} {built_from}', [])}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / f"{name}.lock"):
            if not folder.is_dir():
                _log.info("building the %s for SimGrid %s, once, into %s", name, tools.version, folder)
                _build(folder, work, commands, {**os.environ, **(environment or {})})
    except OSError as error:
        raise IsochroneError(f"the {name} for SimGrid cannot be built: {error}", where=str(folder)) from None
    return folder


def _digest(kind: str, built_from: Sequence[Path]) -> str:
    digest = hashlib.sha256(kind.encode())
    for root in built_from:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file():
                digest.update(f"\n{path.relative_to(root.parent)}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _build(folder: Path, work: Path, commands: Commands, environment: Mapping[str, str]) -> None:
    log = folder.with_name(f"{folder.name}.log")
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
        stage = Path(temporary) / "stage"
        stage.mkdir()
        with log.open("wb") as output:
            for command in commands(work, stage):
                done = subprocess.run(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
                if done.returncode != 0:
                    raise IsochroneError(f"building for SimGrid failed: {_reason(log)}", todo=f"see {log}")
        # Only a whole build gets the name that others look for.
        stage.rename(folder)
    log.unlink(missing_ok=True)


def _reason(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    errors = [line for line in lines if "error:" in line or line.startswith("CMake Error")]
    return (errors or lines[-1:] or ["no message"])[0]


def _tool(name: str) -> str:
    # A wheel's own tool comes first: it is new enough whatever the system has.
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise IsochroneError(
            f"{name} was not found", todo=f"install it, for example with: pip install {name}"
        )
    return found
