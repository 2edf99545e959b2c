# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries at hand: those that the user added and those that are found."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.launch.discover import discover, launcher_beside, library_beside
from isochrone.launch.folders import config_folder
from isochrone.launch.launcher import LaunchLine
from isochrone.launch.library import MpiLibrary, identify
from isochrone.launch.lock import locked
from isochrone.launch.options import Family

_KIND = "mpi-libraries"
_VENDORS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "mvapich": "MVAPICH"}


def registry_file() -> Path:
    """The file of the libraries that the user added."""
    return config_folder() / "mpi.json"


def added_libraries() -> list[MpiLibrary]:
    """The libraries that the user added.

    Raises:
        IsochroneError: when the file is damaged.
    """
    path = registry_file()
    todo = "mend or delete the file"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise IsochroneError(f"the list of MPI libraries cannot be read: {error}", str(path), todo) from None
    if (
        not isinstance(content, dict)
        or content.get("isochrone") != _KIND
        or content.get("schema_version") != 1
    ):
        raise IsochroneError("not a list of MPI libraries of this version", str(path), todo)
    libraries = content.get("libraries")
    if not isinstance(libraries, list):
        raise IsochroneError("the list of MPI libraries is damaged", str(path), todo)
    return [MpiLibrary.from_json(entry, str(path)) for entry in libraries]


def all_libraries() -> tuple[list[MpiLibrary], list[str]]:
    """The libraries that the user added, then those that are found, and a line for each ``mpicc`` that does
    not work.

    Names are unique: the second ``mpich-4.0.2`` is ``mpich-4.0.2-2``.
    """
    added = added_libraries()
    found, broken = discover()
    known = {os.path.realpath(library.library_path) for library in added}
    named: dict[str, MpiLibrary] = {}
    for library in [*added, *(other for other in found if os.path.realpath(other.library_path) not in known)]:
        name, number = library.name, 1
        while name in named:
            number += 1
            name = f"{library.name}-{number}"
        named[name] = replace(library, name=name)
    return list(named.values()), broken


def add_library(mpicc: Path, name: str | None = None, launcher: Path | None = None) -> MpiLibrary:
    """Adds the library that `mpicc` compiles for, under its own name unless one is given.

    Raises:
        IsochroneError: when the wrapper does not work or the name is taken.
    """
    if not mpicc.is_file() or not os.access(mpicc, os.X_OK):
        raise UsageError("not an executable file", str(mpicc), "give the path of the library's mpicc")
    if launcher is not None and not os.access(launcher, os.X_OK):
        raise UsageError("not an executable file", str(launcher), "give the path of the library's mpiexec")
    library = identify(mpicc.absolute(), "added", None if launcher is None else launcher.absolute())
    if launcher is None:
        beside = launcher_beside(library)
        library = replace(library, launcher=None if beside is None else str(beside))
    library = replace(library, name=name or library.name)
    with _changing():
        others = [other for other in added_libraries() if other.mpicc != library.mpicc]
        if any(other.name == library.name for other in others):
            raise UsageError(
                f"an MPI library named {library.name!r} was added before", todo="give another with --name"
            )
        _write([*others, library])
    return library


def remove_library(name: str) -> MpiLibrary:
    """Forgets a library that was added.

    Raises:
        UsageError: when none of that name was added.
    """
    with _changing():
        libraries = added_libraries()
        for library in libraries:
            if library.name == name:
                _write([other for other in libraries if other is not library])
                return library
    raise UsageError(f"no MPI library named {name!r} was added", todo="see: isochrone mpi list")


@contextmanager
def _changing() -> Iterator[None]:
    """From reading the list until it is written again, since others may change it too."""
    path = registry_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_suffix(".lock")):
            yield
    except OSError as error:
        raise IsochroneError(f"the list of MPI libraries cannot be written: {error}", str(path)) from None


def _write(libraries: list[MpiLibrary]) -> None:
    path = registry_file()
    content = {
        "isochrone": _KIND,
        "schema_version": 1,
        "libraries": [library.to_json() for library in libraries],
    }
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


def library_of(line: LaunchLine) -> MpiLibrary:
    """The MPI library that a launch line's ranks will use.

    That is the one that ``ISOCHRONE_MPI`` names (as in ``find_library``, or by the path of an ``mpicc``);
    else one that was added with this launcher; else the one beside the launcher. For ``srun``, which belongs
    to no MPI library, it is the only one that was added, or else that of the ``mpicc`` on the PATH.

    Raises:
        IsochroneError: when none is found.
    """
    named = os.environ.get("ISOCHRONE_MPI", "")
    if named:
        return _named(named, line)
    launcher = os.path.realpath(line.executable)
    added = added_libraries()
    for library in added:
        if library.launcher is not None and os.path.realpath(library.launcher) == launcher:
            return library
    if line.family is not Family.SLURM:
        return library_beside(line)
    if len(added) == 1:
        return added[0]
    mpicc = shutil.which("mpicc")
    if added or mpicc is None:
        raise IsochroneError(
            "srun does not say which MPI library its programs use",
            str(line.executable),
            "set ISOCHRONE_MPI to a name of: isochrone mpi list",
        )
    return identify(Path(mpicc).absolute(), "PATH", line.executable)


def library_like(vendor: str, version: str) -> MpiLibrary | None:
    """The library at hand of that vendor and version; None where there is none."""
    libraries, _ = all_libraries()
    return next((lib for lib in libraries if (lib.vendor, lib.version) == (vendor, version)), None)


def find_library(name: str | None, where: str = "--mpi") -> MpiLibrary:
    """The library at hand that a name stands for: a name of ``isochrone mpi list``, or ``openmpi``, ``mpich``
    or ``intel`` for the newest of those. Without a name, the first.

    Raises:
        UsageError: there is none.
    """
    libraries, _ = all_libraries()
    if name is None and libraries:
        return libraries[0]
    for library in libraries:
        if library.name == name:
            return library
    fitting = [library for library in libraries if library.vendor == _VENDORS.get(name or "")]
    if not fitting:
        what = "no MPI library is at hand" if name is None else f"no MPI library {name!r} is at hand"
        raise UsageError(what, where, "see: isochrone mpi list, and isochrone mpi add")
    return max(fitting, key=lambda library: [int(n) for n in re.findall(r"\d+", library.version)])


def _named(name: str, line: LaunchLine) -> MpiLibrary:
    if os.sep in name:
        return identify(Path(name).absolute(), "added", line.executable)
    return replace(find_library(name, "ISOCHRONE_MPI"), launcher=str(line.executable))
