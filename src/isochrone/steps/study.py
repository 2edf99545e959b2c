# SPDX-License-Identifier: BSD-3-Clause
"""Study: from a target to a folder with the times of an experiment, its tables and figures, and a page."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import structs

from isochrone.errors import IsochroneError, UsageError
from isochrone.files import (
    NATIVE,
    Bench,
    Case,
    MpiLibrary,
    StudyFile,
    provenance,
    read_bench,
    read_study,
    write_study,
    write_topology,
)
from isochrone.files.study import Result, Table
from isochrone.launch.target import Target
from isochrone.progress import kept_when_stopped, part
from isochrone.sim.target import SimTarget
from isochrone.steps.bench import LEAST_REPETITIONS, Limits, run_bench, work_for
from isochrone.steps.folder import MEASURED, STUDY, arrangement_file, open_folder
from isochrone.steps.rounds import ElsewhereError, Rounds, same_library
from isochrone.studies.cost import BUDGET_S, Cost, cost_of
from isochrone.studies.page import Setting, write_study_page
from isochrone.studies.places import Machine, machine_of, simulated_machine
from isochrone.studies.speeds import serving_speeds
from isochrone.studies.study import SPEEDS, Asked, Findings, Study, Timed, Wanted
from isochrone.units import format_bytes, format_time, number_of
from isochrone.words import counted, join_words

_log = logging.getLogger(__name__)


def run_study(
    study: Study, target: Target, folder: Path, asked: Asked, command: Sequence[str]
) -> tuple[StudyFile, Path]:
    """Times what a study wants, and writes its page. Killed and run again, it goes on with what is missing.

    Returns:
        What is in ``study.json``, and the page.

    Raises:
        IsochroneError: the folder is of something else, or a benchmark fails.
    """
    begun = StudyFile(name=study.name, target=target.name, provenance=provenance(command))
    _check_folder(folder, begun)
    measured = folder / MEASURED
    with kept_when_stopped(folder), part(f"studying {study.name}"):
        machine, mpi = _machine(target, measured)
        if machine.size < 2:
            raise UsageError("one rank has nobody to send to", target.name, "take more ranks")
        wanted = study.wanted(machine, asked)
        open_folder(measured)
        # What an earlier run has found stays until this one has found all.
        if not (folder / STUDY).exists():
            write_study(folder / STUDY, begun)
        repetitions = 1 if target.exact else study.repetitions
        cost = cost_of(target, [*wanted, *_foreseen(study, machine, asked, wanted)], repetitions)
        _log.info("%s on %s takes %s", study.name, target.name, cost.words)
        begin = time.monotonic()
        benches = _measure(machine, wanted, repetitions, cost, measured, mpi)
        timed = _timed(machine, wanted, benches)
        if study.then is not None:
            more = study.then(machine, asked, timed)
            rest = replace(cost, parts=cost.parts[len(wanted) :])
            found = _measure(machine, more, repetitions, rest, measured, mpi)
            timed += _timed(machine, more, found)
            wanted, benches = [*wanted, *more], [*benches, *found]
        _log.info("measured in %s", format_time(time.monotonic() - begin))
    findings = study.findings(machine, timed)
    beside = () if study.beside is None else (study.beside(),)
    findings = replace(
        findings,
        parts=(*findings.parts, *beside),
        limits=(*findings.limits, *_limits(target, benches, repetitions)),
    )
    done = structs.replace(
        begun, done=True, headline=findings.headline, results=_results(timed), tables=_tables(findings)
    )
    setting = _setting(machine, wanted, benches, repetitions, command)
    page = write_study_page(study, setting, findings, folder)
    write_study(folder / STUDY, done)
    return done, page


def _check_folder(folder: Path, begun: StudyFile) -> None:
    """Raises IsochroneError where the folder has another study."""
    path = folder / STUDY
    if not path.exists():
        return
    there = read_study(path)
    if (there.name, there.target) != (begun.name, begun.target):
        raise IsochroneError(
            f"is of the study {there.name[:40]} on {there.target[:80]}",
            str(path),
            "choose another folder with -o",
        )


def _machine(target: Target, measured: Path) -> tuple[Machine, MpiLibrary | None]:
    """The places of a target, and its library: ranks that are not simulated are started once, and say."""
    if isinstance(target, SimTarget):
        return simulated_machine(target), None
    name = hashlib.sha256(target.name.encode()).hexdigest()[:16]
    path = measured / f"places-{name}.jsonl"
    found = _whole(path)
    if found is None:
        with part("asking where ranks are", 0.01):
            open_folder(measured)
            work = work_for(target, [Case(0, 0, (NATIVE,), "barrier")], 1)
            found = run_bench(target, work, path)
    return machine_of(target, found.places), found.mpi


def _whole(path: Path) -> Bench | None:
    """What is kept in a file, if it is whole."""
    try:
        found = read_bench(path) if path.exists() else None
    except IsochroneError:
        return None
    return found if found is not None and found.elapsed_s is not None else None


def _foreseen(study: Study, machine: Machine, asked: Asked, wanted: Sequence[Wanted]) -> list[Wanted]:
    """What a study wants of the times of its first cases: as much as where all take a second."""
    if study.then is None:
        return []
    one = np.ones(1)
    timed = [
        Timed(each.arrangement, "", case.key.collective, case.size_bytes, recipe, one)
        for each in wanted
        for case in each.cases
        for recipe in case.recipes
    ]
    return study.then(machine, asked, timed)


@contextlib.contextmanager
def _fabric_of(machine: Machine, each: Wanted) -> Iterator[str | None]:
    """The address of what tells how close hosts are."""
    if each.fabric != SPEEDS or not isinstance(machine.target, SimTarget):
        yield each.fabric
        return
    with serving_speeds(machine.target.system) as address:
        yield address


def _measure(
    machine: Machine,
    wanted: Sequence[Wanted],
    repetitions: int,
    cost: Cost,
    measured: Path,
    mpi: MpiLibrary | None,
) -> list[Bench]:
    """Raises IsochroneError where another library answers than `mpi`, or other hosts than are expected: a
    study that was interrupted goes on elsewhere.
    """
    benches = []
    cases = sum(len(each.cases) for each in wanted)
    for number, each in enumerate(wanted):
        here = each.arrangement
        topology = machine.topology_of(here)
        file = measured / arrangement_file(here.placement, here.ranks, here.per_node)
        write_topology(file, topology)
        limits = Limits()
        if not machine.target.simulated:
            limits = Limits(BUDGET_S * len(each.cases) / cases, min(repetitions, LEAST_REPETITIONS))
        share = cost.parts[number] / max(sum(cost.parts[number:]), 1e-9)
        title = f"{here.placement} placement, {here.ranks:,} ranks"
        with _fabric_of(machine, each) as fabric:
            rounds = Rounds(
                machine.target_for(here), topology, file, measured, fabric, quiet=True, fabric_is=each.fabric
            )
            try:
                bench = rounds.measure(title, each.cases, repetitions, 1, share, limits=limits)
                mpi = same_library(mpi, bench.mpi, measured)
                expected = [topology.places[place].host for place in topology.ranks]
                # Hosts that are alike are not the same to a study.
                if not machine.target.simulated and [place.host for place in bench.places] != expected:
                    raise ElsewhereError("other hosts answered")
            except ElsewhereError:
                raise IsochroneError(
                    "this study was begun on other hosts than answer now",
                    str(measured),
                    "delete the folder, to begin again",
                ) from None
            benches.append(bench)
    return benches


def _timed(machine: Machine, wanted: Sequence[Wanted], benches: Sequence[Bench]) -> list[Timed]:
    found = []
    for each, bench in zip(wanted, benches, strict=True):
        region = machine.region_of(each.arrangement)
        for case in each.cases:
            # Those that the library was told come after those that were named.
            found_here = bench.recipes(case.key)
            for recipe in sorted(found_here, key=lambda recipe: _position(case.recipes, recipe)):
                times = bench.slowest_s[case.key.key(recipe)]
                what = (each.arrangement, region, case.key.collective, case.size_bytes, recipe)
                found.append(Timed(*what, times, case.loop))
    return found


def _position(recipes: Sequence[str], recipe: str) -> int:
    return recipes.index(recipe) if recipe in recipes else len(recipes)


def _results(timed: Sequence[Timed]) -> tuple[Result, ...]:
    return tuple(
        Result(
            placement=each.arrangement.placement,
            ranks=each.arrangement.ranks,
            per_node=each.arrangement.per_node,
            region=each.region,
            collective=each.collective,
            size_bytes=each.size_bytes,
            recipe=each.recipe,
            repetitions=len(each.times_s),
            median_s=each.median_s.estimate,
            ci_s=(each.median_s.low, each.median_s.high),
        )
        for each in timed
    )


def _tables(findings: Findings) -> dict[str, Table]:
    return {
        table.stem: Table(table.caption, tuple(table.head), tuple(tuple(row) for row in table.rows))
        for part_ in findings.parts
        for table in part_.tables
    }


def _setting(
    machine: Machine,
    wanted: Sequence[Wanted],
    benches: Sequence[Bench],
    repetitions: int,
    command: Sequence[str],
) -> Setting:
    target = machine.target
    counts = sorted({each.arrangement.ranks for each in wanted})
    sizes = sorted({case.size_bytes for each in wanted for case in each.cases if case.size_bytes})
    times = [case.key.key(recipe) for each in wanted for case in each.cases for recipe in case.recipes]
    start = {"clock": "on synchronised clocks", "barrier": "by a barrier"}.get(
        benches[0].start, benches[0].start
    )
    cores = os.cpu_count() or 1
    entries = {
        "Place": target.name,
        "MPI library": benches[0].mpi.library,
        "Kind of run": "simulated: times are those of the simulated cluster"
        if target.simulated
        else f"real, on {number_of(cores, 'core')} of the machine that ran the command",
        "Places for ranks": f"{machine.size:,} on {counted(machine.nodes, 'node')}; levels: "
        f"{join_words([name for name, _ in machine.levels])}",
        "Ranks": join_words([f"{count:,}" for count in counts]),
        "Message sizes": join_words([format_bytes(size) for size in sizes]) or "none",
        "Timed": f"{len(times):,} algorithms in cases, {number_of(repetitions, 'call')} of each"
        f"{'' if target.simulated else ' or fewer, as the time allows'}; the slowest rank counts, starts are "
        f"aligned {start}",
    }
    if not target.simulated:
        shared = any(bench.oversubscribed for bench in benches)
        entries["More ranks than cores"] = "yes" if shared else "no"
        entries["Error of the clocks"] = format_time(max(bench.sync_error_s for bench in benches))
    return Setting(target.name.removesuffix(" (simulated)"), target.simulated, entries, command)


def _limits(target: Target, benches: Sequence[Bench], repetitions: int) -> list[str]:
    found = []
    if target.simulated:
        found.append(
            "Times are simulated with the latencies, bandwidths and overheads of the description. "
            "Computation, caches, the copying of buffers and other users of the network take no time."
        )
        found.append(
            "The library's own is SimGrid's model of its choice of algorithms, not the library itself."
        )
    if target.exact:
        found.append("Nothing varies here, so one call of each tells all, and there are no intervals.")
    elif repetitions < 6:
        found.append("So few calls are no proof: intervals are their whole range.")
    if any(bench.oversubscribed for bench in benches):
        found.append("Some hosts had more ranks than cores: ranks wait for each other's turns.")
    return found
