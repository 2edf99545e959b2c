# SPDX-License-Identifier: BSD-3-Clause
"""What needs a simulator is skipped where there is none, but not by CI."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def simgrid_cache() -> None:
    """SimGrid is there."""
    if shutil.which("smpicxx") is None and os.environ.get("CI") != "true":
        pytest.skip("smpicxx is not installed")
