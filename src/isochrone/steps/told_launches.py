# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the benchmark in which the library is told one thing after the other. Some of that it hears
while the program runs, the rest only when it is started (see ``launch.tellable``).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files import BenchCase, BenchKey, Case, MpiLibrary, Topology
from isochrone.files.library import DEFAULT
from isochrone.launch.target import Target
from isochrone.launch.tellable import Way, ways
from isochrone.statistics import FloatArray
from isochrone.steps.bench import Limits
from isochrone.steps.rounds import Rounds, same_library
from isochrone.tune.race import median_s
from isochrone.tune.rules import NATIVE
from isochrone.tune.sizes import time_at
from isochrone.tune.spots import work_on

TOLD = "native:"
ToldTimes = Mapping[BenchKey, FloatArray]
"""[repetition] in seconds, of the slowest rank. The recipe is the name of what ran."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Launch:
    """One way to start the library for each of some collectives, and what is timed then."""

    ways: Mapping[str, Way]
    cases: Sequence[Case]

    @property
    def variables(self) -> dict[str, str]:
        return {name: value for way in self.ways.values() for name, value in way.variables.items()}

    def of_each(self) -> list[_Launch]:
        """A launch of its own for each collective."""
        return [
            _Launch({name: way}, [case for case in self.cases if case.collective == name])
            for name, way in self.ways.items()
        ]


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

    def is_apart(self, collective: str, name: str) -> bool:
        """Whether something can be told only at the start, and so never ran beside the library's own."""
        return name in self._apart(collective)

    def _apart(self, collective: str) -> list[str]:
        others = ways(self._target.library, collective, self._nodes)
        return [TOLD + way.own for way in others if way.own != DEFAULT]

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
        if limits.budget_s is not None:
            limits = replace(limits, budget_s=limits.budget_s / len(planned))
        for number, started in enumerate(planned):
            found |= self._launched(started, repetitions, limits, launch, 1 / (len(planned) - number))
        return found

    def _launched(
        self, started: _Launch, repetitions: int, limits: Limits, launch: int, share: float
    ) -> ToldTimes:
        """Times of one launch; where the library comes to grief over what it is told, those of a launch for
        each collective.
        """
        variables = started.variables
        rounds = Rounds(self._target, self._topology, self._topology_file, self._folder, variables=variables)
        try:
            bench = rounds.measure(
                "", started.cases, repetitions, self._seed + launch, share, limits=limits, launch=launch
            )
        except IsochroneError as error:
            if not variables:
                raise
            of_each = started.of_each()
            if len(of_each) > 1:
                found: dict[BenchKey, FloatArray] = {}
                for one in of_each:
                    found |= self._launched(one, repetitions, limits, launch, 0.0)
                return found
            _log.info("%s is left out: %s", " ".join(map("=".join, variables.items())), error)
            return {}
        self.mpi = same_library(self.mpi, bench.mpi, self._folder)
        times = {
            key.case.key(_ran(key.recipe, started.ways[key.collective])): samples
            for key, samples in bench.slowest_s.items()
        }
        for key, samples in times.items():
            self._known_s[key.collective, key.recipe][key.size_bytes] = median_s([samples])
        return times

    def _case(self, case: BenchCase, way: Way, heard: Sequence[str]) -> Case:
        """The library's own choice beside what it hears, when it was started in some way; of what ran before
        it is known what a call takes.
        """
        recipes = (NATIVE, *heard)
        known_s = {recipe: self._known_s[case.collective, _ran(recipe, way)] for recipe in recipes}
        expected_s = {recipe: time_at(known_s[recipe], case.size_bytes) for recipe in recipes}
        return work_on(case, recipes, expected_s)

    def _launches(self, wanted: Mapping[BenchCase, Sequence[str]]) -> list[_Launch]:
        """What to start: the library as it is, with ``native`` of each case, and then with the next way of
        each collective at once.
        """
        of_each: dict[str, list[_Launch]] = defaultdict(list)
        for name in dict.fromkeys(case.collective for case in wanted):
            all_ways = ways(self._target.library, name, self._nodes)
            owns = {TOLD + way.own for way in all_ways}
            for way in all_ways:
                cases = []
                for case, names in wanted.items():
                    heard = [one for one in names if one not in owns] if way.own == DEFAULT else []
                    is_asked = way.own == DEFAULT or TOLD + way.own in names
                    if case.collective == name and is_asked:
                        cases.append(self._case(case, way, heard))
                if cases:
                    of_each[name].append(_Launch({name: way}, cases))
        return [
            _Launch(
                {name: way for each in same if each is not None for name, way in each.ways.items()},
                [case for each in same if each is not None for case in each.cases],
            )
            for same in zip_longest(*of_each.values())
        ]


def _ran(recipe: str, way: Way) -> str:
    """The name of what ran: of a library that was started in some way its own choice is that way's."""
    return TOLD + way.own if recipe == NATIVE and way.own != DEFAULT else recipe
