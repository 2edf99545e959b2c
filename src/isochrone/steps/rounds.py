# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of one tuning, one round after the other. What a round has measured stays in a file until
the tuning is done, so that one that was interrupted goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    BenchCase,
    Case,
    MpiLibrary,
    Plan,
    Topology,
    Work,
    merged,
    read_bench,
    work_document,
    write_plan,
)
from isochrone.files.whole import write_whole
from isochrone.launch.build import build_for
from isochrone.launch.target import Target
from isochrone.progress import part
from isochrone.steps.bench import (
    NO_LIMITS,
    WORK,
    Limits,
    StandingBench,
    run_bench,
    with_standing_bench,
    work_for,
)
from isochrone.steps.folder import PLAN
from isochrone.tune.layout import layout_for, places_of

SIMULATED_CALLS = 128
"""Of one launch: each buffered message stays in a list of SimGrid's that is searched at the end of every
later one. After some thousand calls a message takes twenty times as long as at first.
"""
START = ".start.json"
"""Ends the name of what is known of how long a launch takes to start, in seconds."""
T = TypeVar("T")
_log = logging.getLogger(__name__)


class ElsewhereError(IsochroneError):
    """Ranks ran in another order, or on hosts of other shapes, than were surveyed."""


def check_ranks(target: Target, topology: Topology, topology_file: Path) -> None:
    """Raises IsochroneError where it is known that a target starts other ranks than were surveyed."""
    surveyed, started = len(topology.ranks), target.rank_count
    if started is not None and started != surveyed:
        raise IsochroneError(
            f"the survey is of {surveyed} ranks, and {target.name} starts {started}",
            str(topology_file),
            f"tune with {surveyed} ranks, or survey with {started} into another folder: isochrone survey -o",
        )


def forget_rounds(folder: Path) -> None:
    """Removes what an interrupted tuning would go on from: the files of its folder, and that if it is empty
    then.
    """
    for file in (
        *folder.glob("*.jsonl"),
        *folder.glob(f"*{START}"),
        *folder.glob(f".*{WORK}"),
        folder / PLAN,
    ):
        file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def same_library(before: MpiLibrary | None, now: MpiLibrary, folder: Path) -> MpiLibrary:
    """The library that answered. Raises IsochroneError where another one did before: what was interrupted
    goes on with what another library is.
    """
    if before is not None and before != now:
        raise IsochroneError(
            f"this was begun with {before.library}, and {now.library} answers now",
            str(folder),
            "delete the folder, to begin again",
        )
    return now


def _contents(variables: Mapping[str, str]) -> list[str]:
    """Digests of the files that variables name."""
    files = [Path(value) for value in variables.values() if value.startswith("/")]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]


class Rounds:
    """Runs rounds of benchmarks on one target, and keeps what they measure in `folder`.

    A round's files are named by a digest of all that it is of: the target, its topology, and the work. So
    what is found there is of the same round.
    """

    def __init__(
        self,
        target: Target,
        topology: Topology,
        topology_file: Path,
        folder: Path,
        fabric: str | None = None,
        variables: Mapping[str, str] | None = None,
        quiet: bool = False,
        fabric_is: str | None = None,
    ) -> None:
        """`variables`: that the library is started with, beside the target's own. `quiet`: nothing is said of
        what was measured before. `fabric_is`: what the fabric is known by, where its address is another one
        in each run.
        """
        self._fabric_is = fabric_is
        self._quiet = quiet
        self._variables = dict(variables or {})
        self._target = target.with_variables(self._variables) if variables else target
        self._fabric = fabric
        self._topology = topology
        self._topology_file = topology_file
        self._folder = folder
        self._standing: StandingBench | None = None
        self._standing_since = 0.0
        self._mpi: MpiLibrary | None = None

    def in_one_launch(self, body: Callable[[], T]) -> T:
        """What comes of `body`, whose rounds share one launch of the benchmark. Not where they are simulated:
        starting costs no simulated time there, and launches are to be short.

        Raises:
            IsochroneError: the benchmark fails.
        """
        found: list[T] = []

        def standing(bench: StandingBench) -> None:
            self._standing = bench
            try:
                found.append(body())
            finally:
                self._standing = None

        if self._target.simulated:
            return body()
        self._build()
        self._standing_since = time.monotonic()
        with_standing_bench(self._target, standing)
        return found[0]

    def start_s(self, seed: int) -> float:
        """What a launch takes before it measures anything, in seconds, by one that measures nothing; in a
        launch that is shared by that one, of which this is to be the first round. It is kept: what a tuning
        that goes on measures depends on it.

        Raises:
            ElsewhereError, IsochroneError: as for `measure`.
        """
        work = work_for(self._target, [], 1, seed, ranks=len(self._topology.ranks), fabric=self._fabric)
        stem = self._stem(work, None, 0)
        file = self._folder / f"{stem}{START}"
        try:
            known_s = float(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            known_s = -1.0
        if 0 <= known_s < math.inf:
            return known_s
        for before in self._folder.glob(f"{stem}.*.jsonl"):
            before.unlink()
        self._build()
        begin = time.monotonic() if self._standing is None else self._standing_since
        with part("starting", 0.01):
            self._measure(work, None, 0)
        took_s = time.monotonic() - begin
        write_whole(file, f"{took_s:.3f}\n".encode())
        return took_s

    def _build(self) -> None:
        """So that no launch does."""
        if self._target.library is not None:
            build_for(self._target.library)

    def measure(
        self,
        title: str,
        cases: Sequence[Case],
        repetitions: int,
        seed: int,
        share: float = 1.0,
        plan: Plan | None = None,
        limits: Limits = NO_LIMITS,
        launch: int = 0,
    ) -> Bench:
        """Times the cases, what was not timed before an interruption.

        Args:
            title: for the user, of the round.
            cases: no two of one collective, size, root and members.
            share: of the progress that is left (see ``progress.part``).
            plan: for cases with the recipe ``plan``.
            limits: of the time that it takes.
            launch: tells one launch from another of the same round.

        Raises:
            ElsewhereError: other ranks ran than the topology is of.
            IsochroneError: the benchmark fails.
        """
        with part(title, share):
            ordered = sorted(cases, key=lambda case: case.key)
            work = work_for(
                self._target,
                ordered,
                repetitions,
                seed,
                ranks=len(self._topology.ranks),
                fabric=self._fabric,
                limits=limits,
            )
            return self._measure(work, plan, launch)

    def _measure(self, work: Work, plan: Plan | None, launch: int) -> Bench:
        cases = work.cases
        stem = self._stem(work, plan, launch)
        kept = self._kept(stem)
        done = frozenset[BenchCase]().union(*(each.cases for each in kept))
        missing = [case for case in cases if case.key not in done]
        if kept and cases and not self._quiet:
            _log.info("%d of %d cases were measured before", len(cases) - len(missing), len(cases))
        if missing or not kept:
            self._folder.mkdir(parents=True, exist_ok=True)
            plan_file = None
            if plan is not None:
                plan_file = self._folder / PLAN
                write_plan(plan_file, plan)
            launches = self._launches(missing, work.repetitions)
            for number, few in enumerate(launches):
                # Names that come later are greater: of what is there twice the later counts.
                output = self._folder / f"{stem}.{time.time_ns():020}.jsonl"
                left = structs.replace(work, cases=tuple(few))
                with part("", 1 / (len(launches) - number)):
                    files = left, output, self._topology_file, plan_file
                    if self._standing is not None:
                        found = self._standing.time(*files)
                    else:
                        found = run_bench(self._target, *files)
                try:
                    self._check_places(found)
                except ElsewhereError:
                    output.unlink(missing_ok=True)
                    raise
                kept.append(found)
        for bench in kept:
            self._mpi = same_library(self._mpi, bench.mpi, self._folder)
        return merged(kept)

    def _check_places(self, bench: Bench) -> None:
        """Raises ElsewhereError. Other hosts with the same hardware are as good."""
        surveyed = places_of(self._topology)
        if bench.simulated or [place.key for place in bench.places] == [place.key for place in surveyed]:
            return
        where = str(self._topology_file)
        todo = "launch as for the survey, or survey like this into another folder: isochrone survey -o"
        before = layout_for(None, self._topology, surveyed, where)
        try:
            now = layout_for(None, self._topology, bench.places, where)
        except ValueError as error:
            raise ElsewhereError(f"ranks ran elsewhere than was surveyed: {error}", where, todo) from None
        if (now.shape(), now.order()) != (before.shape(), before.order()):
            raise ElsewhereError(
                f"ranks ran as {now.shape()} in {now.order()}, and {before.shape()} in {before.order()} was "
                "surveyed",
                where,
                todo,
            )

    def _launches(self, cases: Sequence[Case], repetitions: int) -> list[Sequence[Case]]:
        """The cases of each launch: all in one, but few where they are simulated."""
        if not self._target.simulated:
            return [cases]
        launches: list[list[Case]] = [[]]
        calls = 0
        for case in cases:
            if calls > SIMULATED_CALLS:
                launches.append([])
                calls = 0
            launches[-1].append(case)
            calls += len(case.recipes) * repetitions * case.calls
        return list(launches)

    def _stem(self, work: Work, plan: Plan | None, launch: int) -> str:
        identity = json.dumps(
            [
                self._target.name,
                self._target.identity,
                self._variables,
                _contents(self._variables),
                self._topology.fingerprint,
                self._topology.ranks,
                work_document(structs.replace(work, fabric=self._fabric_is or work.fabric)),
                None if plan is None else plan.document()["rules"],
                launch,
            ],
            sort_keys=True,
        )
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def _kept(self, stem: str) -> list[Bench]:
        """What earlier runs have measured of a round, the oldest first. What cannot be read is measured
        anew.
        """
        found = []
        for file in sorted(self._folder.glob(f"{stem}.*.jsonl")):
            try:
                bench = read_bench(file)
            except IsochroneError:
                file.unlink(missing_ok=True)
                continue
            # Cases take turns, so that one that was cut off has none whole.
            if bench.elapsed_s is not None:
                found.append(bench)
        return found
