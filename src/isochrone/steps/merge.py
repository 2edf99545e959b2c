# SPDX-License-Identifier: BSD-3-Clause
"""Merge: surveys of one machine, from their folders into one."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

import isochrone
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import (
    LibraryReference,
    Measurements,
    MessageCost,
    Plan,
    PlannedTopology,
    Survey,
    Topology,
    TopologyReference,
    provenance,
    read_measurements,
    read_plan,
    read_planned_topology,
    read_survey,
    write_measurements,
    write_plan,
    write_survey,
    write_topology,
)
from isochrone.files.library import read_library
from isochrone.files.plan import as_surveyed
from isochrone.files.provenance import made_before
from isochrone.files.survey import Part
from isochrone.files.text import Json, read_object, write_object
from isochrone.launch.folders import cache_folder
from isochrone.launch.library import normal_abi, parse_version
from isochrone.launch.preload import refusal_for
from isochrone.merge import Merged, Source, merged_measurements, merged_rules, merged_topology
from isochrone.steps.folder import (
    BENCH,
    LIBRARY,
    MEASUREMENTS,
    PLAN,
    SURVEY,
    TOPOLOGY,
    in_folder,
    open_folder,
)
from isochrone.steps.learn import LEARNED, last_changed, with_learned

_NOTES = "notes.json"
"""What there was to say of a plan that is kept."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Addition:
    """What came of a merge.

    Attributes:
        topology, plan: of all.
        notes: lines for people: what is not known, what was left out, and where plans differ.
    """

    topology: Topology
    plan: Plan
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Given:
    """A plan with its topology, and the folder that they are in."""

    folder: Path
    plan: Plan
    topology: Topology

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def made(self) -> str:
        """When all but the live rules was, in an order of texts; empty: not known."""
        return str(self.plan.provenance.get("time", ""))

    def sources(self, level_of: Sequence[int]) -> list[Source]:
        """Its rules, and those of them that were learned later."""
        rules = self.plan.rules
        live = tuple(structs.replace(rule, surveyed=None) for rule in rules if rule.basis == "live")
        # What a live rule has taken along is as old as what was measured.
        measured = tuple(found for rule in rules if (found := as_surveyed(rule)) is not None)
        parts = [(self.made, measured), *([(last_changed(self.plan), live)] if live else [])]
        return [
            Source(self.name, time, structs.replace(self.plan, rules=rules), self.topology, level_of)
            for time, rules in parts
        ]


def merge(folders: Sequence[Path], output: Path) -> Addition:
    """Writes the survey that several make together: their topology, plan and measurements.

    A verification of one of them is none of the whole, and is not taken over.

    Args:
        folders: of surveys of one machine with one MPI library; at least two.
        output: none of these; an earlier merge there is replaced.

    Raises:
        IsochroneError: a file is missing or damaged, or the surveys are of different libraries or contradict
            each other.
        UsageError: there are too few, or what is in the output folder would be lost.
    """
    if len({folder.absolute().resolve() for folder in folders}) < len(folders):
        raise UsageError("a survey is given twice", None, "give each folder once")
    if len(folders) < 2:
        raise UsageError("one survey alone is given", None, "give two or more folders of surveys")
    _check_output(folders, output)
    given = [_read(in_folder(folder, PLAN)) for folder in folders]
    measured = [_measured(each) for each in given]
    merged, addition = _merged(given, [each.simulated for each in measured])
    surveys = [read_survey(path) if (path := each.folder / SURVEY).exists() else None for each in given]
    cores = {survey.cores for survey in surveys if survey is not None}
    # Surveys of one host each are of several machines; hosts of a lab are one.
    on_hosts = [len({place.host for place in each.topology.places}) for each in given]
    is_one = max(on_hosts) > 1 or len({place.host for place in merged.topology.places}) == 1
    parts = tuple(
        Part(
            each.folder.absolute().name,
            TopologyReference(each.topology.fingerprint),
            len(each.topology.ranks),
            last_changed(each.plan),
        )
        for each in given
    )
    targets = dict.fromkeys(survey.target for survey in surveys if survey is not None)
    # A tuning after a probe makes no measurement newer.
    probed = [
        str(found.provenance.get("time", each.made)) for found, each in zip(measured, given, strict=True)
    ]
    earliest_first = sorted(range(len(given)), key=lambda s: (probed[s], s))
    places = [merged.topology.places[place] for place in merged.topology.ranks]
    every_pair = merged_measurements(
        [measured[s] for s in earliest_first], [merged.rank_of[s] for s in earliest_first], places
    )
    made_by = provenance()
    open_folder(output)
    # The first, so that a merge that was stopped may be replaced by the next.
    write_survey(
        output / SURVEY,
        Survey(
            topology=TopologyReference(addition.topology.fingerprint),
            target=" + ".join(targets) or "merged surveys",
            command=made_by["command"],
            cores=cores.pop() if is_one and len(cores) == 1 else None,
            merged=parts,
            provenance=made_by,
        ),
    )
    write_measurements(output / MEASUREMENTS, every_pair)
    _write(output, addition)
    # Of what a merge that is replaced was verified by later.
    (output / BENCH).unlink(missing_ok=True)
    return replace(addition, notes=(*addition.notes, *_forget_tuning(output, addition.topology)))


def _forget_tuning(output: Path, topology: Topology) -> list[str]:
    """Removes what the library was told after an earlier merge, of another topology; says so in a line."""
    file = output / LIBRARY
    try:
        if not file.exists() or read_library(file).topology.fingerprint == topology.fingerprint:
            return []
    except IsochroneError:
        pass  # nothing could be told by it
    file.unlink()
    return [f"{LIBRARY} was of what was merged before, and is removed; isochrone library tune makes it again"]


def merged_plan(plan_files: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """The ``plan.json`` that several make together, with its topology beside it, and what there is to say
    of it.

    It is in the user's cache folder, by a digest of what it is made of, so that ranks on other hosts find it
    where they find the preload.

    Raises:
        IsochroneError: as `merge`.
    """
    given = [_read(path) for path in plan_files]
    # Another version may merge them otherwise.
    digest = hashlib.sha256(f"{isochrone.__version__}\n".encode())
    for each, path in zip(given, plan_files, strict=True):
        for file in (path, path.with_name(each.plan.topology.file)):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    folder = cache_folder() / "plans" / digest.hexdigest()[:16]
    try:
        return folder / PLAN, tuple(map(str, read_object(folder / _NOTES)["notes"]))
    except (IsochroneError, KeyError, TypeError):
        pass  # nothing is kept, or nothing that is whole
    _, addition = _merged(given, ())
    try:
        _keep(addition, folder)
    except OSError as error:
        raise IsochroneError(f"cannot be written: {error.strerror}", str(folder.parent)) from None
    return folder / PLAN, addition.notes


def _keep(addition: Addition, folder: Path) -> None:
    """Writes what was merged, whole or not at all. Raises OSError."""
    open_folder(folder.parent)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as unfinished:
        whole = open_folder(Path(unfinished) / "whole")
        _write(whole, addition)
        write_object(whole / _NOTES, {"notes": list(addition.notes)})
        try:
            whole.rename(folder)
        except OSError:
            # Another process was quicker, or has left something that is none.
            if not (folder / _NOTES).exists():
                shutil.rmtree(folder, ignore_errors=True)
                whole.rename(folder)


def one_plan(plan_files: Sequence[Path]) -> tuple[Path | None, str | None]:
    """The plan that a program runs on where several are given, and why it runs on none; both None where none
    is given.
    """
    if len(plan_files) < 2:
        return (plan_files[0] if plan_files else None), None
    try:
        path, notes = merged_plan(plan_files)
    except IsochroneError as error:
        return None, refusal_for(error)
    for note in notes:
        _log.info("%s", note)
    return path, None


def _check_output(folders: Sequence[Path], output: Path) -> None:
    if any(output.absolute().resolve() == folder.absolute().resolve() for folder in folders):
        raise UsageError("is one of the surveys to be merged", str(output), "choose another folder with -o")
    if (output / SURVEY).exists() and (before := read_survey(output / SURVEY)).merged:
        # Also what was stopped before it had a plan.
        plan_file = output / PLAN
        if plan_file.exists() and _was_changed(plan_file, before):
            raise UsageError(
                f"{PLAN} was tuned or learned since it was merged, which would be lost",
                str(output),
                "choose another folder with -o, and merge this one too",
            )
        return
    for name in (MEASUREMENTS, TOPOLOGY, PLAN, SURVEY, BENCH, LIBRARY):
        if (output / name).exists():
            lost = f"holds {name}, which would be lost"
            raise UsageError(lost, str(output), "choose another folder with -o")


def _was_changed(plan_file: Path, merged: Survey) -> bool:
    """Whether a plan is another than the merge has written, which is as old as what it was made of, or the
    next run would make it another.
    """
    plan = read_plan(plan_file)
    is_newer = made_before(merged.provenance, {"time": last_changed(plan)})
    return is_newer or with_learned(plan, plan_file) != plan


def _read(plan_file: Path) -> _Given:
    plan = read_plan(plan_file)
    topology = read_planned_topology(plan, plan_file)
    if plan.level_names and len(plan.level_names) != len(topology.levels):
        raise IsochroneError(
            f"the plan has {len(plan.level_names)} levels, and its topology {len(topology.levels)}",
            str(plan_file),
            "tune again",
        )
    topology.check_whole(str(plan_file.with_name(plan.topology.file)))
    return _Given(plan_file.parent, plan, topology)


def _measured(given: _Given) -> Measurements:
    found = read_measurements(given.folder / MEASUREMENTS)
    given.topology.check_measured(found.ranks, str(given.folder / given.plan.topology.file))
    return found


def _merged(given: Sequence[_Given], simulated: Sequence[bool]) -> tuple[Merged, Addition]:
    _check_libraries(given)
    if len(set(simulated)) > 1:
        raise IsochroneError("some surveys are simulated, and some are not", ", ".join(g.name for g in given))
    names = [each.name for each in given]
    merged = merged_topology([each.topology for each in given], names)
    sources = [
        source for each, levels in zip(given, merged.level_of, strict=True) for source in each.sources(levels)
    ]
    found = merged_rules(sources, merged.topology)
    notes = list(found.notes)
    if merged.unknown:
        notes.insert(
            0,
            f"nothing was measured between hosts of different surveys: what they have in common is called "
            f"'{merged.unknown}', and its links are taken to be the slowest that were measured",
        )
    notes += [
        f"{each.name}: its {LIBRARY} is for its {len(each.topology.ranks)} ranks alone, and is not told"
        for each in given
        if (each.folder / LIBRARY).exists()
    ]
    plan = Plan(
        topology=PlannedTopology(
            merged.topology.fingerprint, TOPOLOGY, tuple(level.name for level in merged.topology.levels)
        ),
        mpi=LibraryReference(given[-1].plan.mpi.library, given[-1].plan.mpi.abi),
        rules=found.rules,
        messages=_newest_messages(given),
        # A later survey of a part is newer than what it was merged from.
        provenance=provenance() | _times_of(given),
    )
    return merged, Addition(merged.topology, plan, tuple(notes))


def _newest_messages(given: Sequence[_Given]) -> MessageCost | None:
    """What each message takes, as the newest plan has it that says so, of those that are as new the last."""
    known = [each for each in given if each.plan.messages is not None]
    return max(reversed(known), key=lambda each: each.made).plan.messages if known else None


def _times_of(given: Sequence[_Given]) -> Json:
    """When the newest of several plans was made, and when the last of their live rules were found."""
    learned = [str(each.plan.provenance[LEARNED]) for each in given if LEARNED in each.plan.provenance]
    return {"time": max(each.made for each in given), **({LEARNED: max(learned)} if learned else {})}


def _check_libraries(given: Sequence[_Given]) -> None:
    first = given[0]
    for other in given[1:]:
        if _library(first.plan) != _library(other.plan):
            raise IsochroneError(
                f"is for {_title(other.plan)}, and {first.name} for {_title(first.plan)}: "
                "a plan belongs to one MPI library",
                other.name,
                "merge surveys of one library",
            )


def _library(plan: Plan) -> tuple[object, str]:
    return parse_version(plan.mpi.library) or plan.mpi.library, normal_abi(plan.mpi.abi)


def _title(plan: Plan) -> str:
    known = parse_version(plan.mpi.library)
    return f"{' '.join(known) if known else plan.mpi.library} ({plan.mpi.abi})"


def _write(folder: Path, addition: Addition) -> None:
    write_topology(folder / TOPOLOGY, addition.topology)
    write_plan(folder / PLAN, addition.plan)
