# SPDX-License-Identifier: BSD-3-Clause
"""Machine files of Intel MPI, which takes their hosts in order, one that comes again among them."""

from __future__ import annotations

from isochrone.mapping.emitters.job import Job


def write_machines(job: Job) -> str:
    """Lines such as ``node1:4``: the next so many ranks run there. MPICH reads the same."""
    return "".join(f"{host}:{count}\n" for host, count in job.runs())


def launch(job: Job, file: str) -> list[str]:
    """The launch line. With ``-f`` in place of ``-machinefile`` Intel MPI would pass over the counts."""
    return ["mpirun", "-machinefile", file, *job.count_words(), *job.program]
