# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def is_stream(path: Path) -> bool:
    """Whether a path is a device, a pipe or the like: what may be written into, but neither replaced nor read
    again.
    """
    return path.exists() and not path.is_file() and not path.is_dir()


def write_whole(path: Path, data: bytes) -> None:
    """Writes beside `path` and puts that in its place: whoever reads it finds the old file or the new one.
    Nothing else stays, whatever goes wrong. A device or a pipe is written into, and stays what it is. Raises
    OSError, which names `path`, where it cannot be written.
    """
    # /dev/stdout is a link, and stays one; so do a user's own.
    at = Path(os.path.realpath(path))
    unfinished = at.with_name(f".{at.name}.{os.getpid()}.tmp")
    try:
        if is_stream(path):
            path.write_bytes(data)
            return
        unfinished.write_bytes(data)
        unfinished.replace(at)
    except OSError as error:
        # A disk that is full has no name of its own, and the user knows nothing of the other one.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
