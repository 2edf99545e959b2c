# SPDX-License-Identifier: BSD-3-Clause
"""Files that several processes of Isochrone take turns to hold."""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger(__name__)


@contextmanager
def locked(path: Path, waiting: str | None = None, *, wait: bool = True) -> Iterator[None]:
    """Holds a file, which is made if it is not there. Whoever has to wait for another says so on the log with
    ``waiting``. Raises OSError where the file cannot be made, and BlockingIOError where another holds it that
    is not to be waited for.
    """
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise
            if waiting is not None:
                _log.info("%s", waiting)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
