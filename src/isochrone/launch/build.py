# SPDX-License-Identifier: BSD-3-Clause
"""Building the MPI part of Isochrone for one MPI library, once, into the user's cache folder."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import isochrone
from isochrone.errors import IsochroneError
from isochrone.launch.folders import cache_folder
from isochrone.launch.library import MpiLibrary
from isochrone.launch.lock import locked

_SOURCES = ("CMakeLists.txt", "cmake", "core", "mpi")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class NativeBuild:
    """The MPI part, built for one library."""

    folder: Path

    def program(self, name: str) -> Path:
        """``isochrone-probe`` or ``isochrone-bench``.

        Raises:
            IsochroneError: when there is no such program.
        """
        return self._existing(self.folder / "bin" / name)

    @property
    def preload(self) -> Path:
        """``libisochrone_mpi.so``."""
        return self._existing(self.folder / "lib" / "libisochrone_mpi.so")

    @property
    def idle(self) -> Path:
        """``libisochrone_idle.so``, which lets waiting ranks leave their core to others."""
        return self._existing(self.folder / "lib" / "libisochrone_idle.so")

    def _existing(self, path: Path) -> Path:
        if not path.is_file():
            raise IsochroneError(
                f"{path.name} is missing from the build", str(self.folder), "delete the folder"
            )
        return path


def native_source_folder() -> Path:
    """The folder of the native sources: of the source tree that this package is in, or inside the installed
    package.

    Raises:
        IsochroneError: when the package is installed without them.
    """
    package = Path(isochrone.__file__).resolve().parent
    for folder in (package.parent.parent / "native", package / "native"):
        if (folder / "CMakeLists.txt").is_file() and (folder / "core").is_dir():
            return folder
    raise IsochroneError("the native sources are missing", str(package), "install isochrone again")


def build_for(library: MpiLibrary) -> NativeBuild:
    """The MPI part for a library, built now if it has not been built before. Says on the log when it builds.

    The folder's name has a digest of the library's identity and ABI, the version of Isochrone and the
    sources, so that a change of any makes a new build. Processes that ask at the same time wait for the one
    that builds.

    Raises:
        IsochroneError: when CMake, Ninja or a compiler is missing or fails.
    """
    sources = native_source_folder()
    folder = cache_folder() / "native" / f"{_slug(library)}-{_key(library, sources)}"
    if folder.is_dir():
        return NativeBuild(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(
            folder.with_name(f"{folder.name}.lock"), "waiting for another isochrone that builds the same"
        ):
            if not folder.is_dir():
                _build(library, sources, folder)
    except OSError as error:
        raise IsochroneError(f"the MPI part cannot be built: {error}", str(folder)) from None
    return NativeBuild(folder)


def _slug(library: MpiLibrary) -> str:
    return f"{library.vendor.lower().replace(' ', '')}-{library.version}"


def _key(library: MpiLibrary, sources: Path) -> str:
    digest = hashlib.sha256()
    for text in (library.vendor, library.version, library.abi, library.library_path, library.mpicc):
        digest.update(f"{text}\n".encode())
    digest.update(f"{isochrone.__version__}\n{os.environ.get('CXX', '')}\n".encode())
    for path in _source_files(sources):
        digest.update(f"{path.relative_to(sources)}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _source_files(sources: Path) -> Iterator[Path]:
    for name in _SOURCES:
        root = sources / name
        yield from sorted(path for path in ([root] if root.is_file() else root.rglob("*")) if path.is_file())


def _build(library: MpiLibrary, sources: Path, folder: Path) -> None:
    _log.info("building the MPI part for %s, once, into %s (about a minute)", library.title, folder)
    cmake, ninja = _tool("cmake"), _tool("ninja")
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
        log = folder.with_name(f"{folder.name}.log")
        tree, stage = Path(temporary) / "build", Path(temporary) / "stage"
        configure = [
            *(cmake, "-S", str(sources), "-B", str(tree), "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
            "-DISOCHRONE_MPI=ON",
            f"-DMPI_C_COMPILER={library.mpicc}",
            f"-DCMAKE_INSTALL_PREFIX={stage}",
            "-DCMAKE_INSTALL_BINDIR=bin",
            "-DCMAKE_INSTALL_LIBDIR=lib",
        ]
        jobs = str(len(os.sched_getaffinity(0)))
        environment = os.environ | library.environment
        if shutil.which("ccache"):
            # The core is the same for every MPI library.
            environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
        with log.open("w", encoding="utf-8") as output:
            for argv in (
                configure,
                [cmake, "--build", str(tree), "--parallel", jobs],
                [cmake, "--install", str(tree), "--component", "mpi"],
            ):
                done = subprocess.run(
                    argv, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment
                )
                if done.returncode != 0:
                    output.flush()
                    raise IsochroneError(
                        f"building the MPI part for {library.title} failed: {_first_error(log)}",
                        todo=f"see {log}",
                    )
        # Only a whole build gets the name that others look for.
        stage.rename(folder)
    log.unlink(missing_ok=True)


def _tool(name: str) -> str:
    # The wheel's own tool comes first: it is new enough whatever the system has.
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise IsochroneError(
            f"{name} was not found", todo=f"install it, for example with: pip install {name}"
        )
    return found


def _first_error(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for at, line in enumerate(lines):
        if line.startswith("CMake Error") and at + 1 < len(lines):
            return lines[at + 1].strip() or line
        if "error:" in line or "undefined reference" in line:
            return line.strip()
    return lines[-1].strip() if lines else "no message"
