# SPDX-License-Identifier: BSD-3-Clause
"""bench/lab_library.py: what it makes of times, and its table."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from bench_script import load


@pytest.fixture(scope="module")
def lab_library() -> ModuleType:
    return load("lab_library")


def test_launches_are_put_together_and_the_best_is_one_that_can_be_told(lab_library: ModuleType) -> None:
    times = {
        "native": [np.full(9, 3e-3), np.full(9, 1e-3), np.full(9, 3e-3)],
        "native:ring": [np.full(9, 2e-3)] * 3,
        "native:chain": [np.full(9, 4e-3)] * 3,
        "files": [np.full(9, 1.5e-3)] * 3,
    }
    found = lab_library.figures(times)
    assert (found["default_s"], found["best"], found["best_s"]) == (3e-3, "ring", 2e-3)
    assert (found["files_s"], found["speedup"][0]) == (1.5e-3, 2.0)
    row = {"mpi": "mpich-5.0.2", "collective": "bcast", "size_bytes": 64, **found}
    last = lab_library.table([row])[-1]
    assert last.startswith("| mpich-5.0.2 | bcast | 64 | 3.00 | 2.00 (ring) | 1.50 | 2.00 [")
