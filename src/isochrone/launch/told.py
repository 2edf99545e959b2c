# SPDX-License-Identifier: BSD-3-Clause
"""The variables that tell an MPI library its tuning, and the files that they name.

The files are in the folder of the survey, which all ranks read anyway. They follow from ``library.json``, so
whoever writes them again writes the same.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files import Plan, is_to_be_compared, read_library, read_plan
from isochrone.files.text import write_text
from isochrone.launch.library import MpiLibrary, normal_abi
from isochrone.launch.target import Target
from isochrone.steps.folder import LIBRARY
from isochrone.units import number_of

FILES = "library"
"""The folder of these files, in that of the survey."""
_log = logging.getLogger(__name__)
_TELLING = {
    "MPICH": re.compile(r"MPIR_CVAR_(COLL_SELECTION_TUNING_JSON_FILE$|\w+_INTRA_ALGORITHM$)"),
    "Intel MPI": re.compile(r"I_MPI_ADJUST_"),
}
"""Variables that tell a library what to use; of Open MPI's see `_given`."""
_OPEN_MPI = ("OMPI_MCA_coll_tuned_", "OMPI_MCA_coll_han_")
_MOST_PARAMETERS = 1 << 20
"""Characters of a user's file of parameters that are looked at."""


@dataclass(frozen=True)
class Told:
    """What a library is told.

    Attributes:
        variables: of the ranks; empty where it is told nothing.
        rules: how many of library.json it can be told.
        refusal: why it is told nothing although there is a library.json; None where it is, or there is none.
        left_out: what it cannot be told, a line for each.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    rules: int = 0
    refusal: str | None = None
    left_out: Sequence[str] = ()

    @property
    def words(self) -> str:
        """For people."""
        return f"the MPI library is told {number_of(self.rules, 'rule')}: " + " ".join(
            f"{name}={value}" for name, value in self.variables.items()
        )


def variables_for(folder: Path, target: Target, plan: Path | None = None) -> Mapping[str, str]:
    """The variables that tell the target's library what the ``library.json`` of a survey's folder says, so
    that its own choice is the best that it can do; none for a simulated library. What stands against it is
    logged. `plan`: as `told` takes it.
    """
    if target.library is None:
        return {}
    found = told(folder, target.library, target.rank_count, target.launch_words, plan)
    if found.refusal is not None:
        _log.warning("%s", found.refusal)
    return found.variables


def told(
    folder: Path,
    library: MpiLibrary,
    ranks: int | None = None,
    line: Sequence[str] = (),
    plan: Path | None = None,
) -> Told:
    """What a library is told by the ``library.json`` of a survey's folder. Whatever stands against it costs
    one line, and nothing is told.

    Args:
        ranks: of the job; None: not known. Variables cannot be for communicators of one size alone.
        line: words of the launch line, except the program's: what the user sets there counts as his
            variables do.
        plan: that programs run on then. Its recipes must have been compared with the library that is told.
    """
    path = folder / LIBRARY
    try:
        found = _told(folder, library, ranks, line) if path.is_file() else Told()
        if plan is not None and plan.is_file() and found.variables:
            _check_compared(read_plan(plan), path)
        return found
    except IsochroneError as error:
        refusal = str(error)
    except OSError as error:
        refusal = f"{error.filename or path}: {error.strerror}"
    return Told(refusal=f"{refusal}; the MPI library chooses as it does by itself")


def _check_compared(plan: Plan, library_file: Path) -> None:
    if is_to_be_compared(plan, read_library(library_file)):
        raise IsochroneError(
            "the plan's recipes were not compared with what it says",
            str(library_file),
            "run isochrone tune with this launcher",
        )


def _told(folder: Path, library: MpiLibrary, ranks: int | None, line: Sequence[str]) -> Told:
    # Loaded here, because every program that is started waits for it, and most have no library.json.
    from isochrone.export.tuning import read_material, told_forms, told_rules

    material = read_material(folder, library=library, with_plan=False)
    tuning = material.needed_tuning
    vendor, version = material.version
    if (vendor, version) != (library.vendor, library.version) or normal_abi(tuning.mpi.abi) != library.abi:
        raise IsochroneError(
            f"is for {vendor} {version} ({tuning.mpi.abi}), and the launcher is of {library.title} "
            f"({library.abi})",
            str(folder / LIBRARY),
            "run isochrone library tune with this launcher",
        )
    rules = told_rules(tuning, vendor)
    given = _given(os.environ, line)
    if not rules:
        return Told()
    if vendor == "Open MPI" and given:
        raise IsochroneError("collectives are set already", given[0], "leave it away")
    variables: dict[str, str] = {}
    left_out: list[str] = []
    for form in told_forms(vendor):
        exported = form.write(material)
        if exported.is_file_read:
            file = folder / FILES / form.file
            if file.exists() and not file.is_file():
                raise IsochroneError("is in the way of what the library reads", str(file), "remove it")
            if not _holds(file, exported.text):
                write_text(file, exported.text)
            variables |= exported.variables(file)
        elif form.is_for_any_size and exported.settings and ranks != tuning.ranks:
            raise IsochroneError(
                f"is for {tuning.ranks} ranks, and the job has {ranks or 'an unknown number'}",
                str(folder / LIBRARY),
            )
        else:
            variables |= exported.settings
        left_out += exported.left_out
    words = set(os.environ) | {word.partition("=")[0] for word in line}
    return Told(
        {name: value for name, value in variables.items() if name not in words},
        len(rules),
        left_out=tuple(left_out),
    )


def _holds(file: Path, text: str) -> bool:
    """Whether a file is there with that text."""
    data = text.encode()
    return file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data


def check_untold(target: Target) -> None:
    """Raises IsochroneError where the user tells the target's library already what it is to be timed with: a
    file of rules, and on some communicators a variable, counts for more than what the benchmark says.
    """
    if target.library is None:
        return
    vendor = target.library.vendor
    if vendor == "Open MPI":
        given = _given(os.environ, target.launch_words)
    else:
        names = [*os.environ, *(word.partition("=")[0] for word in target.launch_words)]
        given = [name for name in names if vendor in _TELLING and _TELLING[vendor].match(name)]
    if given:
        raise IsochroneError(
            f"{target.library.title} is told already what to use, and would be timed with that",
            given[0],
            "unset it",
        )


def _given(environment: Iterable[str], line: Sequence[str]) -> list[str]:
    """Where the user has set something of Open MPI's collectives, whose variables belong together: in the
    environment, on the launch line, or in the file of parameters that Open MPI reads in each user's home.
    """
    names = [word.partition("=")[0] for word in line]
    found = [name for name in (*environment, *names) if name == "OMPI_MCA_coll" or name.startswith(_OPEN_MPI)]
    return found + [name for name in names if _is_parameter(name)] + _given_in_file()


def _given_in_file() -> list[str]:
    try:
        file = Path("~/.openmpi/mca-params.conf").expanduser()
        if not file.is_file():
            return []
        with file.open(encoding="utf-8", errors="replace") as opened:
            lines = opened.read(_MOST_PARAMETERS).splitlines()
    # Without a home there is no file in it.
    except (OSError, RuntimeError):
        return []
    set_there = [line.partition("=")[0].strip() for line in lines]
    return [f"{file}:{number}" for number, name in enumerate(set_there, 1) if _is_parameter(name)]


def _is_parameter(name: str) -> bool:
    return name == "coll" or name.startswith(("coll_tuned_", "coll_han_"))
