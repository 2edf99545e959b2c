# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of simulated clusters share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PING_PONG = Path(__file__).parent / "ping_pong.cpp"


@pytest.fixture(scope="session")
def ping_pong(simgrid: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of ping_pong.cpp: arguments are the size and the file for its times."""
    program = tmp_path_factory.mktemp("programs") / "ping_pong"
    subprocess.run(["smpicxx", "-std=c++20", "-O2", str(PING_PONG), "-o", str(program)], check=True)
    return program


@pytest.fixture
def write_system(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the text of a description and returns its file."""

    def write(text: str) -> Path:
        path = tmp_path / "system.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
