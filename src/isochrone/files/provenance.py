# SPDX-License-Identifier: BSD-3-Clause
"""Where a file comes from: enough to repeat it, and nothing about the person who made it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import isochrone
from isochrone.files.text import Json

_JOB_VARIABLES = (
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "OAR_JOB_ID",
    "COBALT_JOBID",
    "JOB_ID",
)


def provenance(command: Sequence[str] | None = None) -> Json:
    """Command, time (UTC), host, version, commit of Isochrone where known, and the batch job where there is
    one.

    Args:
        command: what the user typed; ``sys.argv`` with the program's bare name unless given.
    """
    if command is None:
        command = [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv else []
    record: Json = {
        "command": list(command),
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "host": socket.gethostname(),
        "version": isochrone.__version__,
    }
    if (found := commit()) is not None:
        record["commit"] = found
    for variable in _JOB_VARIABLES:
        if job := os.environ.get(variable):
            record["job"] = job
            break
    return record


def made_before(one: Json, other: Json) -> bool:
    """Whether one file is older than another by their provenances; not where one of these has no time."""
    times = (one.get("time"), other.get("time"))
    return all(isinstance(time, str) for time in times) and str(times[0]) < str(times[1])


@cache
def commit() -> str | None:
    """The commit that this copy of Isochrone runs from; None where it is no git work tree of its own."""
    package = Path(isochrone.__file__).resolve().parent
    root = package.parent.parent
    if package.parent.name != "src" or not (root / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--verify", "HEAD"],
            capture_output=True, text=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
