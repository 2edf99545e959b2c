# SPDX-License-Identifier: BSD-3-Clause
"""The race of what a library can be told of its own algorithms, from a first look to a proof.

All is timed a few times; the best of that, in three launches, against the library's own choice, with as many
repetitions as a proof needs, also where rules would end. Launches differ from each other as repetitions in
one do not (Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking is Still Not as Easy as You Think",
TPDS 2016).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isochrone.export.tuning import can_be_told, told_forms
from isochrone.files import NATIVE, TOLD, BenchCase, LibraryEvidence, LibraryRule, Rule
from isochrone.files.library import DEFAULT
from isochrone.launch.target import Target
from isochrone.launch.tellable import needs_all_sizes
from isochrone.progress import part
from isochrone.steps.bench import Limits
from isochrone.steps.told_launches import ToldLaunches, ToldTimes
from isochrone.tune.effort import FAR_SLOWER
from isochrone.tune.race import FAR_BEHIND, median_s
from isochrone.tune.rules import (
    TIED,
    Decision,
    Verified,
    borders_of,
    confirmed,
    evidence_of,
    native_evidence,
    never_slower,
    rules_for,
)
from isochrone.tune.spots import Spot

SCREEN, SCREEN_LEAST = 5, 1
"""Repetitions of the first look, and where there is little time, as over slow links: these vary less."""
LAUNCHES = 3
CONFIRM, CONFIRM_LEAST = 9, 5
"""Repetitions in each of the launches, and where there is little time."""
FINALISTS = 2
NEAR = 1.1
"""How much slower something may look at first that may be as fast."""
SCREENING = 0.4
"""What of a budget is for the first look; the rest is for the proof."""


@dataclass(frozen=True)
class _Proof:
    """What was timed further for a spot.

    Attributes:
        best: the fastest of it.
        cases: its times beside those of the library's own choice.
        proven: whether it is faster.
        equal: what of all may stand for the library's own choice.
    """

    best: str
    cases: Sequence[Verified]
    proven: bool
    equal: frozenset[str]


class ToldRace:
    """The race of all that a library can be told on one target, in launches that measure it."""

    def __init__(self, target: Target, launches: ToldLaunches, budget_s: float | None) -> None:
        """`budget_s`: of all its calls; None: whatever they take."""
        self._target = target
        self._launches = launches
        self._needs_all_sizes = needs_all_sizes(target.library)
        self._budget_s = budget_s

    def run(self, spots: Sequence[Spot]) -> list[LibraryRule]:
        """What the library should be told at each of the spots, and at the ends of its rules."""
        # A second one is worth its time only where there is enough of it.
        most = 1 if self._target.exact or self._budget_s is not None else FINALISTS
        slack = NEAR if self._needs_all_sizes else 1.0
        with part("timing what the library can be told", SCREENING):
            screened = self._launches.measure(
                {
                    case: self._launches.everything(case.collective)
                    for spot in spots
                    for case in _screened(spot)
                },
                SCREEN,
                Limits(self._budget(SCREENING), SCREEN_LEAST, FAR_SLOWER),
            )
        times_s = {spot: self._that_can_be_told(spot, screened) for spot in spots}
        finalists = {spot: _finalists(of_spot, most, slack) for spot, of_spot in times_s.items()}
        wanted = finalists | _ends(finalists)
        if self._needs_all_sizes:
            wanted = _with_what_is_near_at_both(wanted, times_s, slack)
        proofs = self._proofs(wanted)
        decisions: dict[str, list[Decision]] = defaultdict(list)
        for spot in dict.fromkeys((*spots, *proofs)):
            decisions[spot.collective].append(_decision(spot, proofs.get(spot), screened))
        equals = {(spot.collective, spot.size_bytes): proof.equal for spot, proof in proofs.items()}
        found = []
        for name, of_one in decisions.items():
            ordered = sorted(of_one, key=lambda decision: decision.size_bytes)
            rules = rules_for("", ordered, name)
            as_fast = [equals.get((name, decision.size_bytes), frozenset()) for decision in ordered]
            own = [
                equal if rule.recipe == NATIVE and self._needs_all_sizes else None
                for equal, rule in zip(as_fast, rules, strict=True)
            ]
            told = _between(rules, as_fast) if self._needs_all_sizes else []
            for decision, rule, both in zip(ordered, rules, _stand_ins(own), strict=True):
                evidence = LibraryEvidence.of(rule.evidence)
                for first, last, equal in _halves(rule, decision.size_bytes, both):
                    stands = None if equal is None else _name(equal)
                    told.append(LibraryRule(name, first, last, _name(rule.recipe), evidence, stands))
            found += sorted(told, key=lambda rule: rule.min_bytes)
        return found

    def _that_can_be_told(self, spot: Spot, screened: ToldTimes) -> dict[str, float]:
        """What was timed there, with its time in seconds, without what a program's library cannot be told."""
        times = _by_name(screened, _screened(spot))
        library = self._target.library
        # Of a library that no form tells anything, what is best is for the function in C.
        if library is None or not told_forms(library.vendor):
            return times
        return {
            name: time_s
            for name, time_s in times.items()
            if name == NATIVE or can_be_told(library.vendor, spot.collective, _name(name))
        }

    def _proofs(self, wanted: Mapping[Spot, Sequence[str]]) -> dict[Spot, _Proof]:
        """The best of what is wanted for each spot, and its times beside the library's own choice."""
        timed = self._timed({spot: names for spot, names in wanted.items() if names})
        best: dict[Spot, str] = {}
        choices: dict[Spot, int] = {}
        equal: dict[Spot, frozenset[str]] = {}
        found: dict[Spot, list[Verified]] = {}
        for spot, of_spot in timed.items():
            natives = [[times[case.key(NATIVE)] for times in of_spot] for case in spot.verified]
            of_all = {
                name: [
                    Verified(native, [times[case.key(name)] for times in of_spot])
                    for case, native in zip(spot.verified, natives, strict=True)
                ]
                for name in wanted[spot]
                if all(case.key(name) in times for case in spot.verified for times in of_spot)
            }
            if not of_all:
                continue
            whole = {
                name: median_s([np.concatenate(case.plan) for case in cases])
                for name, cases in of_all.items()
            }
            best[spot] = min(whole, key=whole.__getitem__)
            choices[spot] = len(whole)
            equal[spot] = frozenset(name for name, cases in of_all.items() if _is_as_fast(cases))
            found[spot] = of_all[best[spot]]
        proven = {
            spot
            for spot in confirmed(found, self._target.exact, choices)
            if not self._launches.is_apart(spot.collective, best[spot]) or _is_beyond_launches(found[spot])
        }
        return {spot: _Proof(best[spot], cases, spot in proven, equal[spot]) for spot, cases in found.items()}

    def _timed(self, contested: Mapping[Spot, Sequence[str]]) -> dict[Spot, list[ToldTimes]]:
        """Times of what is contested for each spot, in each launch that it was in."""
        launches = 1 if self._target.exact else LAUNCHES
        limits = Limits(self._budget((1 - SCREENING) / launches), CONFIRM_LEAST)
        timed: dict[Spot, list[ToldTimes]] = {spot: [] for spot in contested}
        with part("proving what is faster"):
            for launch in range(launches):
                cases = {case: names for spot, names in contested.items() for case in spot.verified}
                if not cases:
                    break
                with part("", 1 / (launches - launch)):
                    times = self._launches.measure(cases, CONFIRM, limits, launch)
                for spot in contested:
                    timed[spot].append(times)
                if not self._needs_all_sizes:
                    # What is slower in one launch is not proven by others.
                    contested = {
                        spot: names for spot, names in contested.items() if _may_be_proven(spot, names, times)
                    }
        return timed

    def _budget(self, share: float) -> float | None:
        return None if self._budget_s is None else self._budget_s * share


def launches_of(launches: ToldLaunches, collectives: Collection[str]) -> int:
    """How many a race starts at the least, with one that measures nothing and one that asks how long the
    library's own takes.
    """
    apart = launches.most_apart(collectives)
    # What is proven beside the library's own is one thing for each collective and size, or few.
    return 3 + apart + LAUNCHES * (1 + min(apart, 1))


def _screened(spot: Spot) -> list[BenchCase]:
    """One root and one size are enough to see what is hopeless."""
    return spot.tuned[-1:]


def _ends(finalists: Mapping[Spot, Sequence[str]]) -> dict[Spot, Sequence[str]]:
    """One more size between any two, and what is worth proving at either: wherever one of them alone is
    proven, its rule ends there or beyond (see `rules.borders_of`). To start launches for the ends that a
    proof leaves takes longer than to measure all in the launches of the proof.
    """
    found: dict[Spot, list[str]] = defaultdict(list)
    for spot, names in finalists.items():
        beside = {other.size_bytes: NATIVE for other in finalists if other.collective == spot.collective}
        for name in names:
            for size, recipe in borders_of(spot.collective, beside | {spot.size_bytes: name}):
                found[Spot(spot.collective, spot.shape, (size,))].append(recipe)
    return {spot: list(dict.fromkeys(names)) for spot, names in found.items()}


def _by_name(times: ToldTimes, cases: Sequence[BenchCase]) -> dict[str, float]:
    """What was timed of all the cases, with the geometric mean of its medians in seconds."""
    names = dict.fromkeys(key.recipe for key in times if key.case in cases)
    return {
        name: median_s([times[case.key(name)] for case in cases])
        for name in names
        if all(case.key(name) in times for case in cases)
    }


def _finalists(medians_s: Mapping[str, float], most: int, slack: float) -> list[str]:
    """Those worth proving: not slower than the library's own choice by more than `slack`, nor much slower
    than the best.
    """
    others = {name: time_s for name, time_s in medians_s.items() if name != NATIVE}
    native = medians_s[NATIVE]
    best = min(others.values(), default=native)
    good = [name for name, time in others.items() if time < native * slack and time <= best * FAR_BEHIND]
    return sorted(good, key=others.__getitem__)[:most]


def _with_what_is_near_at_both(
    wanted: Mapping[Spot, Sequence[str]], times_s: Mapping[Spot, Mapping[str, float]], slack: float
) -> dict[Spot, Sequence[str]]:
    """What is wanted, and for each two sizes beside each other, at both and between them, the algorithm that
    is nearest to the library's own choice at both: it may stand for that choice from one to the other.
    """
    found = {spot: list(names) for spot, names in wanted.items()}
    for collective in dict.fromkeys(spot.collective for spot in times_s):
        of_one = sorted(
            (spot for spot in times_s if spot.collective == collective), key=lambda spot: spot.size_bytes
        )
        for low, high in pairwise(of_one):
            slowest = {
                name: max(times_s[spot][name] / times_s[spot][NATIVE] for spot in (low, high))
                for name in times_s[low].keys() & times_s[high].keys() - {NATIVE}
            }
            nearest = min(slowest, key=lambda name: (slowest[name], name), default=NATIVE)
            if nearest == NATIVE or slowest[nearest] >= slack:
                continue
            sizes = borders_of(collective, {low.size_bytes: nearest, high.size_bytes: NATIVE})
            between = [Spot(collective, low.shape, (size,)) for size, _ in sizes]
            for spot in (low, *between, high):
                found[spot] = list(dict.fromkeys((*found.get(spot, ()), nearest)))
    return dict(found)


def _stand_ins(equals: Sequence[frozenset[str] | None]) -> list[tuple[str | None, str | None]]:
    """What stands for the library's own choice from each size to the one before, and to the next, of what may
    at either: what does so at both. None where there is none, and where something else is told (None).
    """
    # Of each two sizes: empty where nothing may at both, and None where there is nothing to stand for.
    between: list[str | None] = [
        None if low is None or high is None else min(low & high, default="") for low, high in pairwise(equals)
    ]
    found: list[tuple[str | None, str | None]] = []
    for equal, before, after in zip(equals, [None, *between], [*between, None], strict=True):
        sides = [side for side in (before, after) if side is not None]
        if not sides and equal:
            sides = [min(equal)]
        found.append((sides[0] or None, sides[-1] or None) if sides else (None, None))
    return found


def _between(rules: Sequence[Rule], as_fast: Sequence[frozenset[str]]) -> list[LibraryRule]:
    """From a size with something that was proven to one beside it without, what stands for the library's own
    choice: what is as fast at both, the proven one before others. None where there is none.
    """
    found = []
    for (low, at_low), (high, at_high) in pairwise(zip(rules, as_fast, strict=True)):
        own, told = (low, high) if low.recipe == NATIVE else (high, low)
        both = at_low & at_high
        first, last = low.max_bytes + 1, high.min_bytes - 1
        if own.recipe == NATIVE != told.recipe and both and first <= last:
            stands = told.recipe if told.recipe in both else min(both)
            evidence = LibraryEvidence.of(own.evidence)
            found.append(LibraryRule(low.collective, first, last, DEFAULT, evidence, _name(stands)))
    return found


def _halves(
    rule: Rule, size_bytes: int, stand_ins: tuple[str | None, str | None]
) -> list[tuple[int, int, str | None]]:
    """The first and the last size of a rule, with what stands for the library's own choice: up to the size
    that was measured, and beyond it.
    """
    below, beyond = stand_ins
    if below == beyond or rule.min_bytes == rule.max_bytes:
        return [(rule.min_bytes, rule.max_bytes, below)]
    last = min(size_bytes, rule.max_bytes - 1)
    return [(rule.min_bytes, last, below), (last + 1, rule.max_bytes, beyond)]


def _may_be_proven(spot: Spot, names: Sequence[str], times: ToldTimes) -> bool:
    """Whether one of the names is no slower than the library's own choice anywhere in a launch."""
    return any(
        never_slower([Verified([times[case.key(NATIVE)]], [times[case.key(name)]]) for case in spot.verified])
        for name in names
        if all(case.key(name) in times for case in spot.verified)
    )


def _decision(spot: Spot, proof: _Proof | None, screened: ToldTimes) -> Decision:
    """What was proven, or the library's own choice, with the times there are of it."""
    if proof is not None and proof.proven:
        return Decision(spot.size_bytes, proof.best, evidence_of(proof.cases))
    if proof is not None:
        natives = [np.concatenate(case.native) for case in proof.cases]
    else:
        natives = [screened[case.key(NATIVE)] for case in _screened(spot)]
    return Decision(spot.size_bytes, NATIVE, native_evidence(median_s(natives), len(natives[0])))


def _is_beyond_launches(cases: Sequence[Verified]) -> bool:
    """Whether a gain is more than launches differ by, in each of them. The library's own ran in others, so
    that turns are no pairs, and all those of a launch have what is particular to it.
    """
    return all(speedup > TIED for speedup in evidence_of(cases).launches)


def _is_as_fast(cases: Sequence[Verified]) -> bool:
    """Whether something may stand for the library's own choice, where that cannot be had: from no root is it
    proven slower, or slower than launches differ by. Of two that are alike one is slower by chance in half of
    all cases, and one size without anything would leave out all that is gained at others.
    """
    each = [evidence_of([case]) for case in cases]
    return all(one.speedup * TIED >= 1 and one.speedup_ci[1] >= 1 for one in each)


def _name(recipe: str) -> str:
    return DEFAULT if recipe == NATIVE else recipe.removeprefix(TOLD)
