# SPDX-License-Identifier: BSD-3-Clause
"""Configuration files of MPICH 4.2 and newer: hosts, and which of them each rank runs on.

MPICH passes over the host of a part of a program, but knows a map of all ranks since 4.2. Ranks that it
puts on one host share memory, in whatever order they come.
"""

from __future__ import annotations

from isochrone.errors import UsageError
from isochrone.files.text import quoted
from isochrone.mapping.emitters.job import Job


def write_config(job: Job) -> str:
    """One line, such as ``-hosts a,b -rankmap 0,1,0 -n 3 ./program``.

    Raises:
        UsageError: there is no program, or a word of it cannot be written.
    """
    program = job.needed_program("mpich-configfile")
    for word in (*job.extra, *program):
        if not word or word == ":" or word != "".join(word.split()) or not word.isprintable():
            raise UsageError(
                f"{quoted(word)} would be read otherwise from a configuration file, which knows no quotes",
                todo="use mpich-hostfile, or start the program by a script",
            )
    numbers = {host: number for number, host in enumerate(job.counts)}
    ranks = ",".join(str(numbers[host]) for host in job.hosts)
    words = ["-hosts", ",".join(numbers), "-rankmap", ranks, *job.count_words(), *program]
    return " ".join(words) + "\n"


def launch(job: Job, file: str) -> list[str]:
    """The launch line: all else is in the file."""
    return ["mpirun", "-configfile", file]
