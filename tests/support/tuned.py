# SPDX-License-Identifier: BSD-3-Clause
"""Surveys with a library.json of given rules, and libraries that are told them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from libraries import FROM_PYPI, LAUNCHERS, missing, wrapper_of
from msgspec import structs
from planned import EVIDENCE, LINKS

from isochrone.export.tuning import Exported, find_form, read_material
from isochrone.files import (
    Level,
    LibraryEvidence,
    LibraryReference,
    LibraryRule,
    LibraryTuning,
    Place,
    Topology,
    TopologyFileReference,
    write_library,
    write_topology,
)
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT, read_launch_line
from isochrone.launch.library import MpiLibrary
from isochrone.launch.registry import library_of

OPEN_MPI, MPICH, INTEL = (
    "Open MPI v4.1.4, package: x",
    "MPICH Version:\t4.0.2",
    "Intel(R) MPI Library 2021.18",
)
Rules = Sequence[tuple[str, int, int, str]]


def topology_of(hosts: Sequence[str]) -> Topology:
    """Ranks on these hosts, each with a CPU of its own."""
    names = list(dict.fromkeys(hosts))
    places = tuple(Place(host, str(i), "tuned") for i, host in enumerate(hosts))
    levels = [Level("machine", (tuple(range(len(hosts))),), 1.0, LINKS)]
    if len(names) > 1:
        groups = tuple(tuple(i for i, host in enumerate(hosts) if host == name) for name in names)
        levels.append(Level("node", groups, 1.0, LINKS))
    return Topology(places, tuple(range(len(hosts))), tuple(levels))


def write_survey_of(
    folder: Path,
    rules: Rules,
    ranks: int = 5,
    library: MpiLibrary | str = OPEN_MPI,
    hosts: Sequence[str] | None = None,
) -> LibraryTuning:
    """A topology of ranks on one host, or on those named, and a library.json for it.

    Args:
        rules: collective, first and last size, and algorithm; `a=b`: the default, to which b is equal.
    """
    folder.mkdir(parents=True, exist_ok=True)
    topology = topology_of(hosts or ["h0"] * ranks)
    write_topology(folder / "topology.json", topology)
    found = []
    for at, (name, low, high, algorithm) in enumerate(rules):
        own, _, equal = algorithm.partition("=")
        # No two sizes that were measured have the same times.
        evidence = LibraryEvidence.of(structs.replace(EVIDENCE, repetitions=EVIDENCE.repetitions + at))
        found.append(LibraryRule(name, low, high, own, evidence, equal or None))
    text, abi = (library, "libmpi.so.40") if isinstance(library, str) else (version_of(library), library.abi)
    tuning = LibraryTuning(
        topology=TopologyFileReference(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(text, abi),
        ranks=len(topology.ranks),
        rules=tuple(found),
    )
    write_library(folder / "library.json", tuning)
    return tuning


def version_of(library: MpiLibrary) -> str:
    """What the library says of itself, in short."""
    says = {"Open MPI": "Open MPI v", "MPICH": "MPICH Version: ", "Intel MPI": "Intel(R) MPI Library "}
    return says[library.vendor] + library.version


@dataclass(frozen=True)
class Real:
    """An MPI library that is there, and a folder for what it compiles."""

    library: MpiLibrary
    launcher: str
    compiler: str
    folder: Path

    def compiled(self, source: Path, *words: str) -> Path:
        """A program."""
        program = self.folder / source.stem
        environment = os.environ | self.library.environment
        subprocess.run(
            [self.compiler, "-O1", "-o", str(program), str(source), *words], check=True, env=environment
        )
        return program

    def run(
        self, ranks: int, program: Sequence[str | Path], variables: Mapping[str, str] | None = None
    ) -> str:
        """What a program prints that is started with these variables."""
        words = ["--oversubscribe"] if self.library.vendor == "Open MPI" else []
        done = subprocess.run(
            [self.launcher, *words, "-n", str(ranks), *map(str, program)],
            env={**os.environ, **OPEN_MPI_AS_ROOT, **self.library.environment, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


def real(name: str, folder: Path) -> Real:
    """A library of LAUNCHERS, or one `from PyPI`. Skips where it is not there."""
    import shutil

    if name in LAUNCHERS:
        launcher = LAUNCHERS[name]
        compiler = launcher.replace("mpiexec", "mpicc")
        if shutil.which(launcher) is None or shutil.which(compiler) is None:
            missing(f"{launcher} and {compiler} are not installed")
    else:
        wrapper = wrapper_of(name.removesuffix(FROM_PYPI))
        launcher, compiler = str(wrapper.with_name("mpiexec")), str(wrapper)
    library = library_of(read_launch_line([launcher, "-n", "1", "true"]))
    return Real(library, launcher, compiler, folder)


def counting(folder: Path) -> dict[str, str]:
    """Variables by which Open MPI counts the messages that its ranks send, its own too, for messages_to."""
    return {
        "OMPI_MCA_pml_monitoring_enable": "1",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(folder / "messages"),
    }


def messages_to(folder: Path, rank: int) -> int:
    """How many messages rank 0 of a program sent to another, by what the library wrote at its end."""
    text = (folder / "messages.0.prof").read_text()
    return sum(int(count) for count in re.findall(rf"^[EI]\t0\t{rank}\t\d+ bytes\t(\d+) msgs", text, re.M))


def exported(folder: Path, form: str, given: Real | None = None) -> Exported:
    """The survey of a folder in a form, for a library that is there."""
    found = find_form(form)
    material = read_material(folder, found.vendors)
    return found.write(replace(material, library=given.library if given else None))
