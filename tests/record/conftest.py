# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI library of the system with a program that sends in every way."""

from __future__ import annotations

import shutil

import pytest
from libraries import LAUNCHERS, missing
from recorded import PROGRAMS, Library


@pytest.fixture(scope="session", params=sorted(LAUNCHERS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    launcher = LAUNCHERS[request.param]
    if shutil.which(launcher) is None:
        missing(f"{launcher} is not installed")
    output = tmp_path_factory.mktemp("record") / "kinds"
    without = Library(launcher, output)
    options = [] if without.is_openmpi else ["-DPERSISTENT"]
    return Library(launcher, without.compiled(output, PROGRAMS / "kinds.c", *options))
