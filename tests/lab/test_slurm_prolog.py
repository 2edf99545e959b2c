# SPDX-License-Identifier: BSD-3-Clause
"""What each task of Slurm reads before it starts, as a shell reads it."""

from __future__ import annotations

import subprocess

import pytest

from isochrone.lab import slurm
from isochrone.launch.library import MpiLibrary


def test_values_of_variables_reach_a_task_of_slurm_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "it's \\n $HOME `id`"
    monkeypatch.setattr(slurm, "network_variables", lambda _: {"FOLDER": value})
    mpich = MpiLibrary("m", "MPICH", "4.0.2", "libmpi.so.12", "/l", "/mpicc", None, "added")
    prolog = slurm._prolog(mpich, idle_wait=False)
    done = subprocess.run(["sh", "-c", prolog], capture_output=True, text=True, check=True)
    assert f"export FOLDER={value}" in done.stdout.splitlines()
