# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics that tests of several files ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fat_trees import Net, mixed, two_level
from served import Server, serving

from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes


@pytest.fixture
def small() -> Net:
    """16 hosts at four leaves and two spines, of mixed speeds."""
    return two_level(4, 4, 2, speed=mixed)


@pytest.fixture
def dumped(tmp_path: Path, small: Net) -> Path:
    """Its dumps."""
    return small.dump(tmp_path / "dumps")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dumps of a fabric like it, for all tests of a file."""
    return two_level(4, 4, 2, speed=mixed).dump(tmp_path_factory.mktemp("fabric"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """That serves them."""
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def routes(folder: Path) -> Routes:
    """What its answers should be."""
    return Routes(read_fabric(folder))
