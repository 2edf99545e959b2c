# SPDX-License-Identifier: BSD-3-Clause
"""Limits for tests that read hostile files."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import MOST_BYTES


@pytest.fixture
def bounded() -> Iterator[None]:
    """What takes a minute or a gigabyte fails the test instead of the machine."""

    def hang(*_: object) -> None:
        raise TimeoutError("a file is not read within a minute")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, hang)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES, limits[1]))
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, limits)
