# SPDX-License-Identifier: BSD-3-Clause
"""What tests of several rooms share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says nothing about it: machines are busy.
settings.register_profile("isochrone", deadline=None)
settings.load_profile("isochrone")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser, for pages that people look at."""
    from browsers import start

    driver = start(tmp_path_factory.mktemp("browser"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def simgrid() -> None:
    """SimGrid; where it is missing tests are skipped, but not by CI."""
    if shutil.which("smpicxx") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("smpicxx is missing: apt install libsimgrid-dev")
        pytest.skip("SimGrid is not installed")
