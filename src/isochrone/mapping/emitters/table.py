# SPDX-License-Identifier: BSD-3-Clause
"""The forms of launchers' files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone.errors import UsageError
from isochrone.files.place import Place
from isochrone.files.text import write_text
from isochrone.mapping.emitters import (
    intel_configfile,
    intel_machinefile,
    mpich_configfile,
    mpich_hostfile,
    mpich_rankmap,
    openmpi_rankfile,
    openmpi_sequential,
    slurm_hostfile,
)
from isochrone.mapping.emitters.job import Job

Version = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """A row of the table.

    Attributes:
        name: what the user calls it.
        words: what it is good for.
        vendors: whose launchers read it, as ``isochrone mpi list`` and Slurm name them.
        since: the first version that reads it, if not all do.
        before: the first version that does not any more.
        file: its usual name.
        binds: whether it says CPUs too, and not hosts alone.
        write: the text of the file.
        launch: the launch line for a job and the path of its file.
    """

    name: str
    words: str
    vendors: tuple[str, ...]
    since: Version
    before: Version | None
    file: str
    binds: bool
    write: Callable[[Job], str]
    launch: Callable[[Job, str], list[str]]

    @property
    def launchers(self) -> str:
        """Whose launchers, of which versions, for people."""
        versions = f" {_text(self.since)} and newer" if self.since else ""
        if self.before is not None:
            versions = f" before {_text(self.before)}"
        return " and ".join(self.vendors) + versions


FORMS = (
    Form(
        "openmpi-sequential",
        "a host for each rank, in order",
        ("Open MPI",),
        (),
        None,
        "hostfile",
        False,
        openmpi_sequential.write_hosts,
        openmpi_sequential.launch,
    ),
    Form(
        "openmpi4-rankfile",
        "a host and CPUs for each rank, as the system numbers them",
        ("Open MPI",),
        (),
        (5,),
        "rankfile",
        True,
        openmpi_rankfile.write_rankfile,
        openmpi_rankfile.launch_version_4,
    ),
    Form(
        "openmpi5-rankfile",
        "a host and CPUs for each rank, which are taken for hwloc's logical numbers (L# of lstopo)",
        ("Open MPI",),
        (5,),
        None,
        "rankfile",
        True,
        openmpi_rankfile.write_rankfile,
        openmpi_rankfile.launch_version_5,
    ),
    Form(
        "intel-machinefile",
        "hosts and numbers of ranks, in order; hosts may come again",
        ("Intel MPI",),
        (),
        None,
        "machinefile",
        False,
        intel_machinefile.write_machines,
        intel_machinefile.launch,
    ),
    Form(
        "intel-configfile",
        "a line of options and program for each run of ranks on one host",
        ("Intel MPI",),
        (),
        None,
        "configfile",
        False,
        intel_configfile.write_config,
        intel_configfile.launch,
    ),
    Form(
        "mpich-configfile",
        "hosts, a map of ranks to them, and the program",
        ("MPICH",),
        mpich_rankmap.SINCE,
        None,
        "configfile",
        False,
        mpich_configfile.write_config,
        mpich_configfile.launch,
    ),
    Form(
        "mpich-rankmap",
        "hosts in the file, the map of ranks to them on the launch line; for many ranks, and any program",
        ("MPICH",),
        mpich_rankmap.SINCE,
        None,
        "hostfile",
        False,
        mpich_rankmap.write_hosts,
        mpich_rankmap.launch,
    ),
    Form(
        "mpich-hostfile",
        "hosts and numbers of ranks, in order; ranks of a host that comes again do not share memory",
        ("MPICH", "MVAPICH"),
        (),
        None,
        "hostfile",
        False,
        intel_machinefile.write_machines,
        mpich_hostfile.launch,
    ),
    Form(
        "slurm-hostfile",
        "a host for each rank, in order",
        ("Slurm",),
        (),
        None,
        "hostfile",
        False,
        openmpi_sequential.write_hosts,
        slurm_hostfile.launch,
    ),
)


def find_form(name: str) -> Form:
    """The form of that name. Raises UsageError where there is none."""
    for form in FORMS:
        if form.name == name:
            return form
    names = ", ".join(form.name for form in FORMS)
    raise UsageError(f"{name!r} is no form of launchers' files", "--emit", f"use one of {names}")


def forms_of(vendor: str, version: Version = ()) -> list[Form]:
    """Forms that a launcher reads, the one that serves most first; all versions where none is given."""
    return [
        form
        for form in FORMS
        if vendor in form.vendors
        and (not version or (version >= form.since and (form.before is None or version < form.before)))
    ]


def check_words(form: Form, job: Job) -> None:
    """Looks at what the form has of a job that needs no places: the program, and more options.

    Raises:
        UsageError: the program is missing, or has words that the launcher would read otherwise.
    """
    anywhere = replace(job, places=(Place("host", "0", ""),))
    form.write(anywhere)
    form.launch(anywhere, form.file)


def emit(form: Form, job: Job, path: Path) -> list[str]:
    """Writes the file of a job, and returns the launch line to use with it.

    Raises:
        UsageError: the program is missing, or has words that the launcher would read otherwise.
        IsochroneError: the places are not what the form needs, or the file cannot be written.
    """
    line = form.launch(job, str(path))
    write_text(path, form.write(job))
    return line


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)
