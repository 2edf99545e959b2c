# SPDX-License-Identifier: BSD-3-Clause
"""Hostfiles for Open MPI's sequential mapper: a line for each rank, with its host."""

from __future__ import annotations

from isochrone.mapping.emitters.job import Job


def write_hosts(job: Job) -> str:
    """The host of each rank on a line of its own, as Slurm wants them too."""
    return "".join(f"{host}\n" for host in job.hosts)


def launch(job: Job, file: str) -> list[str]:
    """The launch line; version 4 does not count the lines by itself."""
    # Without leave to share cores version 5 ends with code 0 and starts nothing, where ranks outnumber cores.
    bind = job.unless_given("--bind-to", ":overload-allowed")
    return ["mpirun", "--hostfile", file, "--map-by", "seq", *bind, *job.count_words(), *job.program]
