# SPDX-License-Identifier: BSD-3-Clause
"""Building the MPI part of Isochrone for one MPI library, once, into the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import isochrone
from isochrone.errors import IsochroneError
from isochrone.launch.cached import DIGEST_LENGTH, built_once, ninja, tool
from isochrone.launch.folders import cache_folder
from isochrone.launch.library import MpiLibrary

_SOURCES = ("CMakeLists.txt", "cmake", "core", "mpi")


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
    def recorder(self) -> Path:
        """``libisochrone_record.so``."""
        return self._existing(self.folder / "lib" / "libisochrone_record.so")

    @property
    def reorder(self) -> Path:
        """``libisochrone_reorder.so``."""
        return self._existing(self.folder / "lib" / "libisochrone_reorder.so")

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


def behind(others: str, *preloads: Path) -> str:
    """LD_PRELOAD with more libraries, behind those that it has.

    Raises:
        IsochroneError: a path cannot be in LD_PRELOAD.
    """
    for path in preloads:
        # The dynamic loader parts the list at both, knows no quotes, and passes over what it does not find.
        if re.search(r"[\s:]", str(path)):
            raise IsochroneError(
                "a library cannot be preloaded from a path with blanks or ':'",
                str(path),
                "set XDG_CACHE_HOME to a folder whose path has neither",
            )
    return ":".join([*([others] if others else []), *map(str, preloads)])


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
    environment = os.environ | library.environment
    if shutil.which("ccache"):
        # The core is the same for every MPI library.
        environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")

    def commands(work: Path, stage: Path) -> list[list[str]]:
        cmake = tool("cmake")
        configure = [
            *(cmake, "-S", str(sources), "-B", str(work), "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
            "-DISOCHRONE_MPI=ON",
            f"-DMPI_C_COMPILER={library.mpicc}",
            f"-DCMAKE_INSTALL_PREFIX={stage}",
            "-DCMAKE_INSTALL_BINDIR=bin",
            "-DCMAKE_INSTALL_LIBDIR=lib",
        ]
        return [configure, ninja(work), [cmake, "--install", str(work), "--component", "mpi"]]

    folder = cache_folder() / "native" / f"{_slug(library)}-{_key(library, sources)}"
    return NativeBuild(built_once(folder, f"the MPI part for {library.title}", commands, environment))


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
    return digest.hexdigest()[:DIGEST_LENGTH]


def _source_files(sources: Path) -> Iterator[Path]:
    for name in _SOURCES:
        root = sources / name
        yield from sorted(path for path in ([root] if root.is_file() else root.rglob("*")) if path.is_file())
