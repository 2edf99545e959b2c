# SPDX-License-Identifier: BSD-3-Clause
"""Host files of MPICH, which takes a host that comes again for another one: ranks run where they should, but
do not share memory with those of the line before.
"""

from __future__ import annotations

from isochrone.mapping.emitters.job import Job


def launch(job: Job, file: str) -> list[str]:
    """The launch line."""
    return ["mpirun", "-f", file, *job.count_words(), *job.program]
