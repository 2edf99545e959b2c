# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics that tests of several files ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from fat_trees import Net, mixed, two_level


@pytest.fixture
def small() -> Net:
    """16 hosts at four leaves and two spines, of mixed speeds."""
    return two_level(4, 4, 2, speed=mixed)


@pytest.fixture
def dumped(tmp_path: Path, small: Net) -> Path:
    """Its dumps."""
    return small.dump(tmp_path / "dumps")
