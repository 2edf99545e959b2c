# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI library of the system with a program that uses MPI_COMM_WORLD in every way."""

from __future__ import annotations

import pytest
from libraries import LAUNCHERS
from recorded import Library, with_program
from reordered import PROGRAMS


@pytest.fixture(scope="session", params=sorted(LAUNCHERS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    return with_program(request.param, tmp_path_factory.mktemp("reorder"), PROGRAMS / "world.c")
