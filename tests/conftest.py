# SPDX-License-Identifier: BSD-3-Clause
"""What tests of several rooms share."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def simgrid() -> None:
    """SimGrid; where it is missing tests are skipped, but not by CI."""
    if shutil.which("smpicxx") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("smpicxx is missing: apt install libsimgrid-dev")
        pytest.skip("SimGrid is not installed")
