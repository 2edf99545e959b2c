# SPDX-License-Identifier: BSD-3-Clause
"""Rankfiles of Open MPI: a host and CPUs for each rank.

Version 4 is told to take the system's numbers of CPUs, and binds a rank to the cores that they are in.
Version 5 knows no such option: it takes hwloc's logical numbers, ``L#`` of lstopo, which are the same where
the system numbers CPUs in the order of sockets and cores. Either may refuse a line without CPUs, so all ranks
need them.
"""

from __future__ import annotations

import itertools

from isochrone.errors import IsochroneError
from isochrone.files.place import parse_cpus
from isochrone.mapping.emitters.job import MOST_WORD_BYTES, Job

# Open MPI copies them into so many bytes, with an end of one.
_MOST_CPUS_CHARACTERS = 63


def write_rankfile(job: Job) -> str:
    """Lines such as ``rank 0=node1 slot=0-3``.

    Raises:
        IsochroneError: a rank has no CPUs, or too long a list of them.
    """
    lines = []
    for rank, (host, place) in enumerate(zip(job.hosts, job.places, strict=True)):
        if place.cpus is None:
            raise IsochroneError(
                f"a rankfile needs CPUs, and rank {rank} has none", todo="use the form openmpi-sequential"
            )
        cpus = _ranges(place.cpus)
        if len(cpus) > _MOST_CPUS_CHARACTERS:
            raise IsochroneError(
                f"the list of CPUs of rank {rank} is too long for Open MPI", todo="use openmpi-sequential"
            )
        lines.append(f"rank {rank}={host} slot={cpus}\n")
    return "".join(lines)


def launch_version_4(job: Job, file: str) -> list[str]:
    """The launch line."""
    return [
        *("mpirun", "--mca", "rmaps_rank_file_physical", "1", "--rankfile", file),
        *(*job.count_words(), *job.program),
    ]


def launch_version_5(job: Job, file: str) -> list[str]:
    """The launch line, with hosts: version 5 takes none of them from the rankfile.

    Raises:
        IsochroneError: the hosts do not fit into a command line, or the file's name into an option.
    """
    if ":" in file:
        raise IsochroneError(
            "Open MPI 5 takes no rankfile with a colon in its path",
            file,
            "write it elsewhere: --emit openmpi5-rankfile=FILE",
        )
    hosts = ",".join(f"{host}:{count}" for host, count in job.counts.items())
    if len(hosts) >= MOST_WORD_BYTES:
        raise IsochroneError("the hosts are too many for a command line", todo="use openmpi-sequential")
    # Ranks may share CPUs: without leave to, they are refused, or put on all CPUs in silence.
    bind = job.unless_given("--bind-to", "hwthread:overload-allowed")
    map_by = f"rankfile:file={file}:hwtcpus"
    return ["mpirun", "--host", hosts, "--map-by", map_by, *bind, *job.count_words(), *job.program]


def _ranges(cpus: str) -> str:
    """The same CPUs, as few ranges as can be."""
    found = []
    for _, group in itertools.groupby(enumerate(sorted(parse_cpus(cpus))), lambda pair: pair[1] - pair[0]):
        run = [cpu for _, cpu in group]
        found.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(found)
