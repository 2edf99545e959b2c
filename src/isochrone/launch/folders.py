# SPDX-License-Identifier: BSD-3-Clause
"""Where Isochrone keeps what it builds and what it was told, after the XDG Base Directory Specification."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder of what can be made again: native builds, identities of MPI libraries, logs. It may not
    exist yet.
    """
    return _base("XDG_CACHE_HOME", ".cache") / "isochrone"


def config_folder() -> Path:
    """The folder of what the user said, such as ``isochrone mpi add``. It may not exist yet."""
    return _base("XDG_CONFIG_HOME", ".config") / "isochrone"


def _base(variable: str, default: str) -> Path:
    # The specification tells programs to ignore relative paths here.
    value = os.environ.get(variable, "")
    return Path(value) if value.startswith("/") else Path.home() / default
