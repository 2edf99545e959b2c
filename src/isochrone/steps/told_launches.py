# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the benchmark in which the library is told one thing after the other. Some of that it hears
while the program runs, the rest only when it is started (see ``launch.tellable``): then it can be told
another thing for each collective and size, so that what is timed at several sizes shares few launches.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.export.tuning import intel
from isochrone.files import NATIVE, TOLD, BenchCase, BenchKey, Case, MpiLibrary, Topology
from isochrone.files.library import DEFAULT
from isochrone.launch.target import Target
from isochrone.launch.tellable import Way, ways
from isochrone.statistics import FloatArray
from isochrone.steps.bench import Limits
from isochrone.steps.rounds import Rounds, same_library
from isochrone.tune.race import median_s
from isochrone.tune.sizes import time_at
from isochrone.tune.spots import work_on
from isochrone.units import format_bytes

ToldTimes = Mapping[BenchKey, FloatArray]
"""[repetition] in seconds, of the slowest rank. The recipe is the name of what ran."""
_log = logging.getLogger(__name__)


Names = Mapping[str, Mapping[int, str]]
"""Of each collective and size in bytes what it is started for; none: its own choice."""


@dataclass(frozen=True)
class _Launch:
    """What the library is started for, and what is timed then."""

    names: Names
    cases: Sequence[Case]

    def parted(self) -> list[_Launch]:
        """Launches of less: one for each collective; of one for each thing that it is started for. Where it
        is started for nothing, half of the cases each, and of one case without what it hears while it runs.
        None of what has nothing less.
        """
        if len(self.names) > 1:
            return [
                _Launch({name: at}, [case for case in self.cases if case.collective == name])
                for name, at in self.names.items()
            ]
        ((name, at),) = self.names.items()
        if not at:
            if all(case.recipes == (NATIVE,) for case in self.cases):
                return []
            if len(self.cases) > 1:
                half = len(self.cases) // 2
                return [_Launch(self.names, self.cases[:half]), _Launch(self.names, self.cases[half:])]
            return [_Launch(self.names, [_by_itself(self.cases[0])])]
        found: list[_Launch] = []
        owns = dict.fromkeys(at.values())
        for own in owns if len(owns) > 1 else ():
            of_own = {size: each for size, each in at.items() if each == own}
            found.append(_Launch({name: of_own}, [case for case in self.cases if case.size_bytes in of_own]))
        return found


class ToldLaunches:
    """Times what a library can be told, on one target, and keeps what it measured in `folder`.

    Attributes:
        mpi: the library that answered; None before anything was measured.
    """

    def __init__(
        self, target: Target, topology: Topology, topology_file: Path, folder: Path, seed: int
    ) -> None:
        """`seed`: of the order of what is measured."""
        self._target = target
        self._topology = topology
        self._topology_file = topology_file
        self._folder = folder
        self._nodes = len({topology.places[place].host for place in topology.ranks})
        self._seed = seed
        self.mpi: MpiLibrary | None = None
        self._known_s: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)

    def everything(self, collective: str) -> tuple[str, ...]:
        """Selectors of all that the library can be told: those that the benchmark knows, and one for each
        way of starting it.
        """
        return (*self._target.baselines(collective), *self._apart(collective))

    def most_apart(self, collectives: Collection[str]) -> int:
        """Ways of starting the library, beside as it is, of the collective that has most of them."""
        return max((len(self._apart(name)) for name in collectives), default=0)

    def start_s(self) -> float:
        """What a launch takes to start, in seconds, by one of nothing. Raises as `Rounds.start_s`."""
        return self._rounds({}).start_s(self._seed)

    def is_apart(self, collective: str, name: str) -> bool:
        """Whether something can be told only at the start, and so never ran beside the library's own."""
        return name in self._apart(collective)

    def _apart(self, collective: str) -> list[str]:
        return [TOLD + way.own for way in self._ways(collective) if way.own != DEFAULT]

    def _ways(self, collective: str) -> list[Way]:
        return ways(self._target.library, collective, self._nodes)

    def measure(
        self, wanted: Mapping[BenchCase, Sequence[str]], repetitions: int, limits: Limits, launch: int = 0
    ) -> ToldTimes:
        """Times algorithms, in one launch for each way of starting the library that they need. What a launch
        refuses, or finds too slow to be timed, is left out.
        """
        if self._target.exact:
            repetitions = 1
        found: dict[BenchKey, FloatArray] = {}
        planned = self._launches(wanted)
        for number, (started, own) in enumerate(zip(planned, _divided(limits, planned), strict=True)):
            found |= self._launched(started, repetitions, own, launch, 1 / (len(planned) - number))
        return found

    def _launched(
        self, started: _Launch, repetitions: int, limits: Limits, launch: int, share: float
    ) -> ToldTimes:
        """Times of one launch; where the library comes to grief over what it is told, those of launches in
        which it is told less.
        """
        variables = self._variables(started.names)
        try:
            bench = self._rounds(variables).measure(
                "", started.cases, repetitions, self._seed + launch, share, limits=limits, launch=launch
            )
        except IsochroneError as error:
            parts = started.parted()
            if not parts and not variables:
                raise
            what = " ".join(map("=".join, variables.items()))
            if len(parts) == 1:
                case = started.cases[0]
                what = f"what else {case.collective} of {format_bytes(case.size_bytes)} can be told"
            if len(parts) < 2:
                _log.info("%s is left out: %s", what, error)
            found: dict[BenchKey, FloatArray] = {}
            for one, own in zip(parts, _divided(limits, parts), strict=True):
                found |= self._launched(one, repetitions, own, launch, 0.0)
            return found
        self.mpi = same_library(self.mpi, bench.mpi, self._folder)
        times = {
            key.case.key(_ran(key.recipe, key.size_bytes, started.names[key.collective])): samples
            for key, samples in bench.slowest_s.items()
        }
        for key, samples in times.items():
            self._known_s[key.collective, key.recipe][key.size_bytes] = median_s([samples])
        return times

    def _rounds(self, variables: Mapping[str, str]) -> Rounds:
        return Rounds(self._target, self._topology, self._topology_file, self._folder, variables=variables)

    def _variables(self, names: Names) -> dict[str, str]:
        """That the library is started with."""
        found: dict[str, str] = {}
        for name, at in names.items():
            of_own = {TOLD + way.own: way.variables for way in self._ways(name)}
            if len(set(at.values())) == 1:
                found |= of_own[next(iter(at.values()))]
            elif at:
                # Of all libraries Intel MPI alone has several.
                numbers = [(size, size, at[size].removeprefix(TOLD)) for size in sorted(at)]
                found |= intel.variable(name, numbers, len(self._topology.ranks))
        return found

    def _launches(self, wanted: Mapping[BenchCase, Sequence[str]]) -> list[_Launch]:
        """What to start: the library as it is, with ``native`` of each case, and then for the next name of
        each collective and size at once.
        """
        of_each: dict[str, list[_Launch]] = defaultdict(list)
        for name in dict.fromkeys(case.collective for case in wanted):
            of_one = {case: names for case, names in wanted.items() if case.collective == name}
            apart = self._apart(name)
            heard = [
                self._case(case, {}, [each for each in names if each not in apart])
                for case, names in of_one.items()
            ]
            of_each[name].append(_Launch({name: {}}, heard))
            # Cases of one size have the same names: what is started for a size is so for all its roots.
            asked = {
                case.size_bytes: [own for own in names if own in apart] for case, names in of_one.items()
            }
            for turn in range(max(map(len, asked.values()))):
                at = {size: owns[turn] for size, owns in asked.items() if turn < len(owns)}
                cases = [self._case(case, at, ()) for case in of_one if case.size_bytes in at]
                of_each[name].append(_Launch({name: at}, cases))
        return [
            _Launch(
                {name: at for each in same if each is not None for name, at in each.names.items()},
                [case for each in same if each is not None for case in each.cases],
            )
            for same in zip_longest(*of_each.values())
        ]

    def _case(self, case: BenchCase, at: Mapping[int, str], heard: Sequence[str]) -> Case:
        """The library's own choice, when it was started for something at some sizes, beside what it hears; of
        what ran before it is known what a call takes.
        """
        recipes = (NATIVE, *heard)
        known_s = {
            recipe: self._known_s[case.collective, _ran(recipe, case.size_bytes, at)] for recipe in recipes
        }
        expected_s = {recipe: time_at(known_s[recipe], case.size_bytes) for recipe in recipes}
        return work_on(case, recipes, expected_s)


def _by_itself(case: Case) -> Case:
    """The library's own choice alone."""
    known_s = {name: time_s for name, time_s in case.expected_s.items() if name == NATIVE}
    return replace(case, recipes=(NATIVE,), expected_s=known_s)


def _divided(limits: Limits, launches: Sequence[_Launch]) -> list[Limits]:
    """The limits of each launch: the budget is divided by what each is to time."""
    if limits.budget_s is None:
        return [limits] * len(launches)
    recipes = [sum(len(case.recipes) for case in launch.cases) for launch in launches]
    return [replace(limits, budget_s=limits.budget_s * own / sum(recipes)) for own in recipes]


def _ran(recipe: str, size_bytes: int, at: Mapping[int, str]) -> str:
    """The name of what ran: where a library was started for something, its own choice is that."""
    return at.get(size_bytes, NATIVE) if recipe == NATIVE else recipe
