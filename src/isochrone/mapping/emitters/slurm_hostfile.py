# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's arbitrary distribution, of the hosts in the file that ``SLURM_HOSTFILE`` names."""

from __future__ import annotations

from isochrone.mapping.emitters.job import Job


def launch(job: Job, file: str) -> list[str]:
    """The launch line."""
    return ["env", f"SLURM_HOSTFILE={file}", "srun", "-m", "arbitrary", *job.count_words(), *job.program]
