# SPDX-License-Identifier: BSD-3-Clause
"""Advise: a program is run once, natively, with its collectives timed; what a plan would gain is said."""

from __future__ import annotations

import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from isochrone.advise import Advice, advice
from isochrone.errors import IsochroneError
from isochrone.export.tuning import told_rules
from isochrone.files import (
    NATIVE,
    LibraryTuning,
    Plan,
    Topology,
    is_compared,
    read_library,
    read_planned_topology,
)
from isochrone.files.profile import Profile, read_profile, write_profile
from isochrone.files.text import refuse_stream, refuse_to_replace
from isochrone.launch.library import normal_abi, parse_version
from isochrone.steps.folder import LIBRARY
from isochrone.steps.learn import read_plan_with_learned
from isochrone.steps.record import Run, observed
from isochrone.tune.collectives import timed

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Advised:
    """What came of it.

    Attributes:
        found: None if nothing was timed.
        exit_code: the launcher's.
        why_not: why nothing was timed.
    """

    found: Advice | None
    exit_code: int = 0
    why_not: IsochroneError | None = None


def advise(source: Run | Path, output: Path | None, plan_file: Path | None, quiet: bool = False) -> Advised:
    """Runs a program with its collectives timed, or reads what an earlier run took.

    Args:
        source: the program, or a ``profile.json``.
        output: where to keep the profile; None: it is not kept.
        plan_file: ``plan.json``, with its topology beside it; None: there is none.
        quiet: the program's standard output goes to standard error.

    Raises:
        IsochroneError: a file is damaged, or the program cannot be started with the preload.
    """
    if output is not None:
        refuse_stream(output)
        refuse_to_replace(output, "profile")
    made = None if plan_file is None else _plan(plan_file)
    exit_code = 0
    profile: Profile | IsochroneError
    if isinstance(source, Path):
        profile = _known(read_profile(source), source)
    elif output is not None:
        exit_code, profile = observed(source, output, "ISOCHRONE_PROFILE", read_profile, quiet)
    else:
        # In the working folder, which ranks on other hosts have too.
        with tempfile.TemporaryDirectory(prefix=".isochrone-advise.", dir=Path.cwd()) as folder:
            beside = Path(folder) / "profile.json"
            exit_code, profile = observed(source, beside, "ISOCHRONE_PROFILE", read_profile, quiet)
    if isinstance(profile, IsochroneError):
        return Advised(None, exit_code, profile)
    if output is not None:
        write_profile(output, profile)
    if made is not None and not _is_of(made[0], profile):
        _log.warning(
            "%s: the plan is for %s, and the program ran with %s; advising without it",
            plan_file,
            made[0].mpi.library,
            profile.mpi.library,
        )
        made = None
    if made is None:
        return Advised(advice(profile, None, None), exit_code)
    plan, topology, tuning = made
    return Advised(advice(profile, plan, topology, tuning and _told(tuning, profile)), exit_code)


def _known(profile: Profile, where: Path) -> Profile:
    """The profile. Raises IsochroneError for calls of what is no collective here."""
    for index, row in enumerate(profile.rows):
        if row.collective not in timed():
            raise IsochroneError(
                f"{row.collective!r} is no collective that is known here",
                f"{where}: rows[{index}]",
                "take the profile again with this version",
            )
    return profile


def _plan(plan_file: Path) -> tuple[Plan, Topology, LibraryTuning | None]:
    """A plan with its topology, and what was found of the library beside it."""
    plan = read_plan_with_learned(plan_file)
    topology = read_planned_topology(plan, plan_file)
    path = plan_file.with_name(LIBRARY)
    if not path.exists():
        return plan, topology, None
    tuning = read_library(path)
    # Gains of recipes that were held against something else do not add up with what the library gains.
    adds_up = is_compared(plan, tuning) or all(rule.recipe == NATIVE for rule in plan.rules)
    if tuning.topology.fingerprint != topology.fingerprint or not adds_up:
        return plan, topology, None
    return plan, topology, tuning


def _told(tuning: LibraryTuning, profile: Profile) -> LibraryTuning | None:
    """What of it the library would be told in a job like that; None: it is another library's."""
    if not _is_of(tuning, profile):
        return None
    vendor, _ = parse_version(tuning.mpi.library) or ("", "")
    return replace(tuning, rules=tuple(told_rules(tuning, vendor, profile.ranks)))


def _is_of(made: Plan | LibraryTuning, profile: Profile) -> bool:
    known = parse_version(made.mpi.library)
    ran = parse_version(profile.mpi.library)
    same = known == ran if known and ran else made.mpi.library == profile.mpi.library
    return same and normal_abi(made.mpi.abi) == normal_abi(profile.mpi.abi)
