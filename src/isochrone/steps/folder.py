# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a survey, and the names of the files in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.launch.lock import locked

DEFAULT = Path("isochrone-survey")
MEASUREMENTS = "measurements.jsonl"
TOPOLOGY = "topology.json"
PLAN = "plan.json"
LIBRARY = "library.json"
BENCH = "bench.jsonl"
SURVEY = "survey.json"
TUNING = "tuning"
"""A folder: what a tuning that is not done has measured, and the plan that it verifies."""
LIBRARY_TUNING = "library-tuning"
"""The same, of a tuning of the library."""
STUDY = "study.json"
MEASURED = "measured"
"""A folder: the times of a study, launch by launch, and the topologies of its arrangements."""
_LOCK = ".lock"


def arrangement_file(placement: str, ranks: int, per_node: int | None) -> str:
    """The name of the file in ``measured`` with the topology of an arrangement of a study."""
    spread = "" if per_node is None else f"-{per_node}"
    return f"{placement}-{ranks}{spread}.topology.json"


def open_folder(folder: Path) -> Path:
    """Makes the folder if it is missing. Raises IsochroneError if it can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsochroneError(
            f"cannot make the folder: {error.strerror}", str(folder), "choose another one"
        ) from None
    return folder


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps others from surveying and tuning into a folder: what one writes the other would replace. Raises
    IsochroneError while another does so.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / _LOCK, wait=False))
        except BlockingIOError:
            raise IsochroneError(
                "another isochrone surveys or tunes into it",
                str(folder),
                "wait for it, or choose another one",
            ) from None
        except OSError:
            pass  # without locks there, or without the folder: whoever writes into it says so
        yield


def in_folder(path: Path, name: str) -> Path:
    """The file itself, or the file of that name if `path` is a folder."""
    return path / name if path.is_dir() else path
