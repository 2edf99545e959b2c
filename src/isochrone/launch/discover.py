# SPDX-License-Identifier: BSD-3-Clause
"""Finding the ``mpicc`` that belongs to a launcher, and the MPI libraries of this machine."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.launch.launcher import LaunchLine, read_launch_line
from isochrone.launch.library import MpiLibrary, identify
from isochrone.launch.options import Family

_LAUNCHER_BASE = re.compile(r"^(?:mpiexec|mpirun|orterun|prterun)(?:\.hydra)?")
_VENDORS = {
    Family.OPENMPI: frozenset({"Open MPI"}),
    Family.HYDRA: frozenset({"MPICH", "MVAPICH", "Intel MPI"}),
}
_FAMILY_SUFFIXES = {Family.OPENMPI: (".openmpi", ""), Family.HYDRA: (".mpich", ".mvapich", "")}


def library_beside(line: LaunchLine) -> MpiLibrary:
    """The MPI library that a launcher belongs to, found through the ``mpicc`` in the launcher's own folder.

    Debian tells its MPI libraries apart by suffixes (``mpiexec.mpich``, ``mpicc.mpich``) behind links that
    may point to either, so each link on the way to the launcher's file is looked at, and what a wrapper
    compiles for must fit.

    Raises:
        IsochroneError: when there is none, or none that compiles.
        UsageError: the launcher is SimGrid's.
    """
    if line.family is Family.SIMGRID:
        raise UsageError(
            "a launcher of simulated programs, which belongs to no MPI library",
            str(line.executable),
            "leave it away, and name a simulated cluster with --sim",
        )
    vendors = _VENDORS[line.family]
    failures = []
    fallback = None
    for mpicc in _wrappers(line):
        try:
            library = identify(mpicc, "launcher", line.executable)
        except IsochroneError as error:
            failures.append(error)
            continue
        if library.vendor in vendors:
            if library.version == line.version:
                return library
            fallback = fallback or library
    if fallback:
        return fallback
    if failures:
        first = failures[0]
        raise IsochroneError(
            first.what if first.where is None else f"{first.where}: {first.what}",
            str(line.executable),
            first.todo or "mend it, or name another with: isochrone mpi add MPICC",
        )
    raise IsochroneError(
        f"no mpicc that belongs to this {line.family.value} launcher was found",
        str(line.executable),
        "install its development package, or name it with: isochrone mpi add MPICC",
    )


def _wrappers(line: LaunchLine) -> Iterator[Path]:
    """The files that may be the launcher's ``mpicc``, the most telling first."""
    links = list(_links(line.executable))
    candidates = []
    for link in reversed(links):
        base = _LAUNCHER_BASE.match(link.name)
        suffix = link.name[base.end() :] if base else ""
        if suffix:
            candidates.append(link.parent / f"mpicc{suffix}")
    for suffix in _FAMILY_SUFFIXES[line.family]:
        candidates += [link.parent / f"mpicc{suffix}" for link in links]
    yield from dict.fromkeys(c for c in candidates if os.access(c, os.X_OK) and c.is_file())


def _links(path: Path) -> Iterator[Path]:
    """The path, then what it links to, and so on to a file that is no link."""
    seen: set[Path] = set()
    while path not in seen:
        seen.add(path)
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def discover() -> tuple[list[MpiLibrary], list[str]]:
    """The MPI libraries of this machine, and a line for each ``mpicc`` that does not work.

    Looked at are the folders of the PATH, and of the Python that runs this, where the wheels of Open MPI,
    MPICH and Intel MPI install themselves. A library with several wrappers is listed once. Names may repeat.
    """
    found: dict[str, MpiLibrary] = {}
    broken = []
    for mpicc, source in _all_wrappers():
        try:
            library = identify(mpicc, source)
        except IsochroneError as error:
            broken.append(str(error))
            continue
        key = os.path.realpath(library.library_path)
        # A wrapper with a suffix names its library whatever the alternatives point to.
        if key not in found or (mpicc.suffix and not Path(found[key].mpicc).suffix):
            found[key] = identify(mpicc, source, launcher_beside(library))
    return list(found.values()), broken


def _all_wrappers() -> Iterator[tuple[Path, str]]:
    python = Path(sys.prefix) / "bin"
    folders = {python: "python"}
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        # /bin and /usr/bin are one folder on many systems.
        with contextlib.suppress(OSError, RuntimeError):
            folders.setdefault(Path(entry).resolve(), "PATH")
    for folder, source in folders.items():
        # As shells do, it passes over folders that cannot be looked into.
        with contextlib.suppress(OSError):
            wrappers = [folder / "mpicc", *sorted(folder.glob("mpicc.*"))]
            yield from [(each, source) for each in wrappers if each.is_file() and os.access(each, os.X_OK)]


def launcher_beside(library: MpiLibrary) -> Path | None:
    """The launcher in the folder of a library's ``mpicc`` that belongs to the same library; None where there
    is none.
    """
    mpicc = Path(library.mpicc)
    for base in ("mpiexec", "mpirun", "mpiexec.hydra"):
        launcher = mpicc.with_name(base + mpicc.name.removeprefix("mpicc"))
        if not launcher.is_file():
            continue
        try:
            line = read_launch_line([str(launcher)])
        except UsageError:
            continue
        if library.vendor in _VENDORS.get(line.family, ()):
            return launcher
    return None
