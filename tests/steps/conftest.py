# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of the system."""

from __future__ import annotations

import shutil

import pytest
from libraries import missing


@pytest.fixture(params=["mpich", "openmpi"])
def library(request: pytest.FixtureRequest) -> str:
    """The name that its ``mpiexec`` ends in."""
    name: str = request.param
    if shutil.which(f"mpiexec.{name}") is None:
        missing(f"mpiexec.{name} is not installed")
    return name
