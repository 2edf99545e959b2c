# SPDX-License-Identifier: BSD-3-Clause
"""Commands as they are typed, in the tests' own process: most take less time than Python takes to start."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

from isochrone.cli.main import main


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def typed(folder: Path, *words: str | Path) -> Done:
    """Runs ``isochrone WORDS`` in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return Done(code, out.getvalue(), err.getvalue())
