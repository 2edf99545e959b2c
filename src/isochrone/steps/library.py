# SPDX-License-Identifier: BSD-3-Clause
"""Library: from a topology and measured collectives to ``library.json``.

All that the library can be told to use is timed a few times; the best of that, in three launches, against
the library's own choice, with as many repetitions as a proof needs, also where rules would end. Launches
differ from each other as repetitions in one do not (Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking
is Still Not as Easy as You Think", TPDS 2016).
"""

from __future__ import annotations

import logging
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.files import BCAST, Bench, Case, LibraryRule, LibraryTuning, Topology, provenance
from isochrone.files import MpiLibrary as MpiIdentity
from isochrone.files.library import DEFAULT
from isochrone.files.library import write_library as write_tuning
from isochrone.files.topology import read_topology
from isochrone.launch.target import Target
from isochrone.launch.tellable import Way, needs_all_sizes, ways
from isochrone.progress import part
from isochrone.statistics import FloatArray
from isochrone.steps.bench import SIZES_BYTES, run_bench, work_for
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.collectives import grids, of_one_rule, sizes_of
from isochrone.tune.faster import decide, fastest
from isochrone.tune.rules import NATIVE, Decision, borders, rules_for

TOLD = "native:"
SCREEN, SCREEN_LEAST, SCREEN_PATIENCE_S = 5, 3, 2.0
LAUNCHES = 3
CONFIRM = 9
"""Repetitions in each of the launches."""
FINALISTS = 2
NEAR = 1.1
"""How much slower something may look at first that may be as fast."""
WORSE = 1.3
"""What is so much slower than the best is not looked at again."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Spot:
    """What one rule may be for, and where it is measured: sizes and roots."""

    collective: str
    sizes_bytes: tuple[int, ...]
    roots: tuple[int, ...]

    @property
    def size_bytes(self) -> int:
        """That the rule is found by."""
        return self.sizes_bytes[0] if table_row(self.collective)["agreed"] != "nothing" else 0

    @property
    def measured(self) -> list[tuple[str, int, int]]:
        return [(self.collective, size, root) for size in self.sizes_bytes for root in self.roots]


_Times = dict[tuple[str, int, int], dict[str, FloatArray]]
"""Of a collective, a size and a root: algorithm to the slowest rank's times."""


def tune_library(
    target: Target,
    topology_file: Path,
    library_file: Path,
    collectives: Sequence[str] = (BCAST,),
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    seed: int = 1,
) -> LibraryTuning:
    """Finds what the library should be told for collectives of all ranks of the target, and writes it.

    The first of the collectives is measured at all sizes, the others at every third.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    ranks = len(topology.ranks)
    if target.rank_count is not None and target.rank_count != ranks:
        raise IsochroneError(
            f"the survey is of {ranks} ranks, and {target.name} starts {target.rank_count}",
            str(topology_file),
            f"start {ranks} ranks, or survey with {target.rank_count} into another folder",
        )
    race = _Race(target, topology, topology_file, seed)
    grid = grids(collectives, sizes_bytes, ranks)
    spots = [
        # A library cannot be told one thing for one root and another for the next.
        _Spot(name, sizes, (0, ranks // 2) if table_row(name)["rooted"] and ranks > 1 else (0,))
        for name, all_sizes in grid.items()
        for sizes in of_one_rule(name, all_sizes)
    ]
    rules = race.run(spots)
    if race.mpi is None:
        raise IsochroneError("nothing was measured", target.name)
    tuning = LibraryTuning(
        fingerprint=topology.fingerprint,
        topology_file=topology_file.name,
        library=race.mpi.library,
        abi=race.mpi.abi,
        ranks=ranks,
        rules=tuple(rules),
        provenance=provenance(),
    )
    write_tuning(library_file, tuning)
    return tuning


class _Race:
    def __init__(self, target: Target, topology: Topology, topology_file: Path, seed: int) -> None:
        self._target = target
        self._topology_file = topology_file
        self._ranks = len(topology.ranks)
        self._nodes = len({topology.places[place].host for place in topology.ranks})
        self._seed = seed
        self.mpi: MpiIdentity | None = None

    def run(self, spots: Sequence[_Spot]) -> list[LibraryRule]:
        exact = self._target.exact
        few = {spot: self._everything(spot.collective) for spot in spots}
        # One root and one size of each are enough to see what is hopeless.
        at = {spot: replace(spot, sizes_bytes=spot.sizes_bytes[-1:], roots=spot.roots[:1]) for spot in spots}
        slack = NEAR if needs_all_sizes(self._target.library) else 1.0
        with part("timing what the library can be told", 0.4):
            screened = self._measure({at[spot]: names for spot, names in few.items()}, SCREEN, 1, True)
        finalists = {
            spot: _finalists(screened[at[spot].measured[0]], 1 if exact else FINALISTS, slack)
            for spot in spots
        }
        contested = {spot: tuple(names) for spot, names in finalists.items() if names}
        with part("proving what is faster", 0.8):
            confirmed = self._measure(contested, CONFIRM, LAUNCHES)
        comparisons = max(1, sum(map(len, contested.values())))
        decisions: dict[str, list[Decision]] = defaultdict(list)
        equals: dict[tuple[str, int], str] = {}
        for spot in spots:
            times = [confirmed[key] for key in spot.measured] if spot in contested else []
            alone = [{NATIVE: screened[key][NATIVE]} for key in at[spot].measured]
            decisions[spot.collective].append(decide(spot.size_bytes, times or alone, comparisons, exact))
            equal = _equal(times)
            if equal is not None:
                equals[spot.collective, spot.size_bytes] = equal
        self._test_borders(spots, decisions)
        found = []
        for name, of_one in decisions.items():
            ordered = sorted(of_one, key=lambda decision: decision.size_bytes)
            for decision, rule in zip(ordered, rules_for("", ordered, name), strict=True):
                algorithm = _name(rule.recipe)
                equal = equals.get((name, decision.size_bytes)) if algorithm == DEFAULT else None
                found.append(
                    LibraryRule(name, rule.min_bytes, rule.max_bytes, algorithm, rule.evidence, equal)
                )
        return found

    def _test_borders(self, spots: Sequence[_Spot], decisions: dict[str, list[Decision]]) -> None:
        """One more size for each end of the rules, where it is proven once more."""
        first = {spot.collective: spot for spot in reversed(spots)}
        between = {}
        for name, of_one in decisions.items():
            known = {decision.size_bytes for decision in of_one}
            for wanted, algorithm in borders({each.size_bytes: each.recipe for each in of_one}):
                (size,) = sizes_of(name, [wanted])
                if size not in known:
                    between[replace(first[name], sizes_bytes=(size,))] = (algorithm,)
        if not between:
            return
        with part("proving where rules end", 1.0):
            tested = self._measure(between, CONFIRM, LAUNCHES)
        for spot in between:
            times = [tested[key] for key in spot.measured]
            decisions[spot.collective].append(
                decide(spot.size_bytes, times, len(between), self._target.exact)
            )

    def _everything(self, collective: str) -> tuple[str, ...]:
        """Selectors of all that the library can be told: those that the benchmark knows, and one for each
        way of starting it.
        """
        others = [way for way in ways(self._target.library, collective, self._nodes) if way.own != DEFAULT]
        told = tuple(self._target.baselines(collective))
        return (*told, *(TOLD + way.own for way in others))

    def _measure(
        self, wanted: Mapping[_Spot, Sequence[str]], repetitions: int, launches: int, quick: bool = False
    ) -> _Times:
        """Times algorithms, in launches that alternate between the ways of starting the library."""
        if self._target.exact:
            repetitions = launches = 1
        found: dict[tuple[str, int, int], dict[str, list[FloatArray]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for launch in range(launches):
            for variables, cases in self._launches(wanted).items():
                target = self._target.with_variables(dict(variables)) if variables else self._target
                own = _own(variables, self._ways(wanted))
                try:
                    bench = self._bench(target, list(cases.values()), repetitions, launch, quick)
                except IsochroneError as error:
                    if not (quick and variables):
                        raise
                    # Libraries refuse what they are told, or come to grief over it.
                    _log.info("%s is left out: %s", " ".join(map("=".join, variables)), error)
                    continue
                self.mpi = bench.mpi
                for key, times in bench.slowest_s.items():
                    name = TOLD + own if key.recipe == NATIVE and own != DEFAULT else key.recipe
                    found[key.collective, key.size_bytes, key.root][name].append(times)
        return {
            key: {name: np.concatenate(parts) for name, parts in by_name.items()}
            for key, by_name in found.items()
        }

    def _ways(self, wanted: Mapping[_Spot, Sequence[str]]) -> list[Way]:
        names = dict.fromkeys(spot.collective for spot in wanted)
        return [way for name in names for way in ways(self._target.library, name, self._nodes)]

    def _launches(
        self, wanted: Mapping[_Spot, Sequence[str]]
    ) -> dict[tuple[tuple[str, str], ...], dict[tuple[str, int, int], Case]]:
        """The cases of each launch, by its variables; of the first, which has none, always ``native``."""
        found: dict[tuple[tuple[str, str], ...], dict[tuple[str, int, int], Case]] = defaultdict(dict)
        for spot, names in wanted.items():
            of_way = ways(self._target.library, spot.collective, self._nodes)
            owns = {TOLD + way.own for way in of_way}
            for way in of_way:
                heard = [name for name in names if name not in owns] if way.hears else []
                is_default = way.own == DEFAULT
                if not (is_default or heard or TOLD + way.own in names):
                    continue
                for key in spot.measured:
                    case = Case(key[1], key[2], (NATIVE, *heard), key[0])
                    found[tuple(way.variables.items())][key] = case
        return found

    def _bench(
        self, target: Target, cases: Sequence[Case], repetitions: int, launch: int, quick: bool
    ) -> Bench:
        work = work_for(target, cases, repetitions, self._seed + launch, ranks=self._ranks)
        work = replace(work, rival_repetitions=repetitions)
        if quick and work.patience_s is not None:
            work = replace(
                work, patience_s=SCREEN_PATIENCE_S, least_repetitions=min(SCREEN_LEAST, repetitions)
            )
        with tempfile.TemporaryDirectory(prefix="isochrone-library.") as folder:
            return run_bench(target, work, Path(folder) / "bench.jsonl", self._topology_file)


def _own(variables: Sequence[tuple[str, str]], among: Sequence[Way]) -> str:
    return next(way.own for way in among if tuple(way.variables.items()) == tuple(variables))


def _finalists(times: Mapping[str, FloatArray], most: int, slack: float) -> list[str]:
    """Those worth proving: not slower than the library's own choice by more than `slack`, nor much slower
    than the best.
    """
    medians = {name: float(np.median(samples)) for name, samples in times.items()}
    native = medians.pop(NATIVE)
    best = min(medians.values(), default=native)
    good = [name for name, time in medians.items() if time < native * slack and time <= best * WORSE]
    return sorted(good, key=medians.__getitem__)[:most]


def _equal(times: Sequence[Mapping[str, FloatArray]]) -> str | None:
    """The best algorithm, if at no root its median is above that of the library's own choice."""
    best = fastest(times) if times else NATIVE
    if best == NATIVE or any(np.median(by[best]) > np.median(by[NATIVE]) for by in times):
        return None
    return _name(best)


def _name(recipe: str) -> str:
    return DEFAULT if recipe == NATIVE else recipe.removeprefix(TOLD)
