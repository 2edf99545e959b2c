# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of the system, and a topology that is made up."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from grouped import grouped
from libraries import missing


@pytest.fixture(params=["mpich", "openmpi"])
def library(request: pytest.FixtureRequest) -> str:
    """The name that its ``mpiexec`` ends in."""
    name: str = request.param
    if shutil.which(f"mpiexec.{name}") is None:
        missing(f"mpiexec.{name} is not installed")
    return name


@pytest.fixture
def topology_file(tmp_path: Path) -> Path:
    """Three groups of four ranks, each ten times as near as the others."""
    return grouped(tmp_path, 12, 4, 200.0, 2000.0)
