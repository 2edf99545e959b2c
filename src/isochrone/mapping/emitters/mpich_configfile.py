# SPDX-License-Identifier: BSD-3-Clause
"""Configuration files of MPICH 5.0.2 and newer: hosts, and which of them each rank runs on.

MPICH passes over the host of a part of a program, but knows a map of all ranks (see ``mpich_rankmap``).
Ranks that it puts on one host share memory, in whatever order they come.
"""

from __future__ import annotations

from isochrone.errors import UsageError
from isochrone.files.text import quoted
from isochrone.mapping.emitters.job import Job
from isochrone.mapping.emitters.mpich_rankmap import rank_map

# Of what is longer 5.0 loses the end, the program among it.
_MOST_BYTES = 16_000


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
                todo="use mpich-rankmap, or start the program by a script",
            )
    line = " ".join(["-hosts", ",".join(job.counts), "-rankmap", rank_map(job), *job.count_words(), *program])
    if len(line.encode()) > _MOST_BYTES:
        raise UsageError("MPICH reads no lines of over 16 KB from a file", todo="use mpich-rankmap")
    return line + "\n"


def launch(job: Job, file: str) -> list[str]:
    """The launch line: all else is in the file."""
    return ["mpirun", "-configfile", file]
