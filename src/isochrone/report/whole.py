# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Writes beside `path` and puts that in its place: whoever reads it finds the old file or the new one.
    Nothing else stays, whatever goes wrong. Raises OSError where it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
