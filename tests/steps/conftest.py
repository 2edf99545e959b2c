# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of the system, and a topology that is made up."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from libraries import missing

from isochrone.steps.detect import detect


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
    group = np.arange(12) // 4
    latency_ns = np.where(group[:, None] == group[None, :], 200.0, 2000.0)
    np.fill_diagonal(latency_ns, 0)
    np.save(tmp_path / "matrix.npy", latency_ns)
    detect(tmp_path / "matrix.npy", tmp_path / "topology.json")
    return tmp_path / "topology.json"
