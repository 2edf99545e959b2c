# SPDX-License-Identifier: BSD-3-Clause
"""Configuration files of Intel MPI: a line for each run of ranks on one host."""

from __future__ import annotations

from isochrone.errors import UsageError
from isochrone.files.text import quoted
from isochrone.mapping.emitters.job import Job


def write_config(job: Job) -> str:
    """Lines such as ``-n 5 -host mic0 /path/to/application``, with the extra options before.

    Raises:
        UsageError: there is no program, or a word of it cannot be written.
    """
    program = " ".join(_word(word) for word in job.needed_program("intel-configfile"))
    extra = "".join(f"{_word(word)} " for word in job.extra)
    return "".join(f"{extra}-n {count} -host {host} {program}\n" for host, count in job.runs())


def launch(job: Job, file: str) -> list[str]:
    """The launch line: all else is in the file."""
    return ["mpirun", "-configfile", file]


def _word(word: str) -> str:
    """A word as Intel MPI 2021 reads it back.

    It knows double quotes around whole words, nothing in them, and takes a ``#`` for a comment in them too.
    """
    if not word or word[0] == '"' or "#" in word or word == ":" or not word.isprintable():
        raise UsageError(
            f"{quoted(word)} would be read otherwise from a configuration file",
            todo="use intel-machinefile, or start the program by a script",
        )
    if " " not in word:
        return word
    if '"' in word:
        raise UsageError(
            f"{quoted(word)} has blanks and quotes, of which a configuration file takes one",
            todo="use intel-machinefile, or start the program by a script",
        )
    return f'"{word}"'
