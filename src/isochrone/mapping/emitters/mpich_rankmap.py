# SPDX-License-Identifier: BSD-3-Clause
"""A host file of MPICH 5.0.2 and newer with each host once, and the map of ranks to them on the launch line.

Hydra has the map since 4.2. Before 5.0.2 it only counts the ranks of each host by it, and numbers them in the
order of hosts (pmodels/mpich, pull request 7801).
"""

from __future__ import annotations

from isochrone.errors import IsochroneError
from isochrone.mapping.emitters.job import MOST_WORD_BYTES, Job

SINCE = (5, 0, 2)
"""The first version that puts each rank where the map says."""


def rank_map(job: Job) -> str:
    """The number of the host of each rank, hosts numbered in order of first appearance."""
    numbers = {host: number for number, host in enumerate(job.counts)}
    return ",".join(str(numbers[host]) for host in job.hosts)


def write_hosts(job: Job) -> str:
    """Lines such as ``node1:4``: so many ranks run there."""
    return "".join(f"{host}:{count}\n" for host, count in job.counts.items())


def launch(job: Job, file: str) -> list[str]:
    """The launch line. Raises IsochroneError where the map does not fit into it."""
    ranks = rank_map(job)
    if len(ranks) >= MOST_WORD_BYTES:
        raise IsochroneError("the ranks are too many for a command line", todo="use mpich-hostfile")
    return ["mpirun", "-f", file, "-rankmap", ranks, *job.count_words(), *job.program]
