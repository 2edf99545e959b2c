# SPDX-License-Identifier: BSD-3-Clause
"""Files that were damaged or made to do harm are read as what they say, or refused in one line: no crash, no
hang, no more memory than they are worth.
"""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mutations import Mutate

from isochrone.errors import IsochroneError

# A file of a few kilobytes takes milliseconds and kilobytes. These tell a hang and a flood, on any machine.
MOST_S = 60
MOST_BYTES = 1 << 30


def read_or_refused(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read, or None for a file that is refused in one line with its name. All else fails."""
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    try:
        with warnings.catch_warnings():
            # A warning is a second line on stderr.
            warnings.simplefilter("error")
            return read(path)
    except IsochroneError as error:
        refused = str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert str(path) in refused
    assert len(refused.splitlines()) == 1
    assert len(refused) < 1000
    return None


def all_of(
    path: Path, whole: bytes, mutate: Mutate, read: Callable[[Path], Any], numbers: range
) -> Iterator[Any]:
    """What is read of each mutation, those that are refused left out. Its number is its seed."""
    for number in numbers:
        path.write_bytes(mutate(random.Random(number), whole))
        try:
            found = read_or_refused(read, path)
        except BaseException as error:
            error.add_note(f"mutation {number}, kept in {path}")
            raise
        if found is not None:
            yield found
