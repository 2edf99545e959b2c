# SPDX-License-Identifier: BSD-3-Clause
"""From races to a plan that is proven.

What was best is drafted, so that recipes change seldom over the sizes. The draft is verified in several
launches of its own, at all sizes, where rules end, and from roots that nothing was chosen on. A rule that is
not proven there is taken back.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from msgspec import structs

from isochrone.files import (
    NATIVE,
    PLAN_RECIPE,
    Bench,
    BenchCase,
    Case,
    Evidence,
    LibraryReference,
    Plan,
    PlannedTopology,
    in_turn,
    provenance,
)
from isochrone.launch.target import Target
from isochrone.steps.bench import Limits
from isochrone.steps.racing import Racing
from isochrone.tune.collectives import has_agreed_size
from isochrone.tune.effort import part_of
from isochrone.tune.messages import message_cost
from isochrone.tune.prices import predicted_s
from isochrone.tune.race import has_won, median_s
from isochrone.tune.rules import (
    Decision,
    Verified,
    borders_of,
    changes_of,
    confirmed,
    evidence_of,
    native_evidence,
    never_slower,
    rules_for,
)
from isochrone.tune.sizes import winner_at
from isochrone.tune.spots import Row, Spot, work_on
from isochrone.units import format_bytes
from isochrone.words import join_words

NOTHING = native_evidence(0.0, 1)
"""Of a rule that is not measured yet."""
MANY_RANKS, MANY_WITH_NOISE = 128, 16
"""Beyond these, simulating all that a library can be told to use takes longer than all the rest, with noise
because of its repetitions: then every fifth size tells."""
_log = logging.getLogger(__name__)


class Verification:
    """Makes a plan of what was raced, and measures it in launches of its own."""

    def __init__(self, target: Target, racing: Racing, seed: int, rivals: bool) -> None:
        """`rivals`: also against all that the library can be told to use. `seed`: of the order."""
        self._target = target
        self._racing = racing
        self._seed = seed
        self._rivals = rivals

    def run(self) -> tuple[Plan, Bench]:
        """The plan with the rules that are proven, and the benchmark that it was verified by."""
        plan, bench = self._verified(self._drafted())
        return structs.replace(plan, messages=message_cost(self._racing.times, self._racing.layouts)), bench

    def _drafted(self) -> dict[Spot, str]:
        """The recipe that each rule should have: at a size that was not raced, what is chosen beside it."""
        drafted: dict[Spot, str] = {}
        for name, shape, members in [row for who in self._racing.layouts for row in self._racing.rows(who)]:
            chosen = self._racing.chosen((name, shape.shape), members)
            if not chosen:
                continue
            if has_agreed_size(name):
                sizes = chosen if members else self._racing.sizes_bytes[name]
                spots = [Spot(name, shape, (size,), members) for size in sizes]
            else:
                spots = self._racing.spots_of((name, shape.shape), members)
            here = {spot: winner_at(chosen, spot.size_bytes) for spot in spots}
            recipes = {spot.size_bytes: recipe for spot, recipe in here.items()}
            for size, recipe in (*borders_of(name, recipes), *changes_of(name, recipes)):
                here[Spot(name, shape, (size,), members)] = recipe
            drafted |= here
        return drafted

    def _verified(self, drafted: Mapping[Spot, str]) -> tuple[Plan, Bench]:
        """The plan with the rules that are proven, and the benchmark that it was verified by: in several
        launches, and also from roots that nothing was chosen on.
        """
        drafted, launches = self._measured(drafted)
        proven = self._proven(drafted, launches)
        self._say_what_is_taken_back(drafted, proven)
        bench = in_turn(launches)
        rules: dict[Spot, tuple[str | None, Evidence]] = {}
        for spot, recipe in drafted.items():
            if spot in proven:
                price = predicted_s(
                    spot.collective,
                    self._racing.layouts[spot.members],
                    recipe,
                    spot.shape.tuned[0],
                    spot.typical_bytes,
                )
                evidence = evidence_of(_verified_cases(spot, launches))
                size = spot.typical_bytes if has_agreed_size(spot.collective) else None
                rules[spot] = recipe, structs.replace(evidence, predicted_s=price, measured_bytes=size)
            elif spot.members and not self._has_native_won(spot):
                # Few recipes were raced there: programs try others.
                rules[spot] = None, NOTHING
            else:
                of_native = [
                    times
                    for case in spot.verified
                    if (times := bench.slowest_s.get(case.key(NATIVE))) is not None
                ] or self._racing.times[spot][NATIVE]
                rules[spot] = NATIVE, native_evidence(median_s(of_native), len(of_native[0]))
        plan = self._plan(rules)
        # A gain at one size of several alone has no rule, although it is proven.
        ruled = {
            spot
            for spot in proven
            if plan.recipe(spot.shape.shape, spot.size_bytes, spot.collective) not in (None, NATIVE)
        }
        return plan, self._bench_of(plan, bench, ruled)

    def _measured(self, drafted: Mapping[Spot, str]) -> tuple[dict[Spot, str], list[Bench]]:
        """Times of what is drafted, beside the library's own, in several launches each. What was slower in
        one is not proven by others, which time the library's own there alone, to be shown. What that leaves
        alone gets borders, which were none when borders were chosen: they are in the launches that follow, as
        to start one takes long. The draft with them, and the launches.
        """
        told = self._told(drafted)
        count = self._racing.effort.launches
        limits = Limits(part_of(self._racing.budget_s, "verify", count), self._racing.effort.least_verify)
        whole = dict(drafted)
        still = dict(drafted)
        timed: Counter[Spot] = Counter()
        launches: list[Bench] = []
        while True:
            launch = len(launches)
            left = {spot: recipe for spot, recipe in still.items() if timed[spot] < count}
            wanted = {
                spot: recipe
                for spot, recipe in left.items()
                if recipe != NATIVE or (spot in drafted and not spot.members)
            }
            if launch > 0 and not any(recipe != NATIVE or launch < count for recipe in wanted.values()):
                beside = self._beside_lone(drafted, self._proven(whole, launches) & drafted.keys(), whole)
                if not beside:
                    return whole, launches
                whole |= beside
                still |= beside
                continue
            launches.append(
                self._racing.rounds.measure(
                    "tuning: verifying" if launch < count else "tuning: verifying borders",
                    self._cases(wanted, told),
                    self._racing.effort.verify,
                    self._seed + 100 + launch,
                    1 / max(1, count - launch),
                    self._plan({spot: (recipe, NOTHING) for spot, recipe in whole.items()}),
                    limits,
                    launch,
                )
            )
            timed.update(wanted.keys())
            still = {
                spot: recipe if never_slower(_verified_cases(spot, launches)) else NATIVE
                for spot, recipe in still.items()
            }
            good = {spot for spot in drafted if still[spot] != NATIVE}
            beside = self._beside_lone(drafted, good, whole)
            whole |= beside
            still |= beside

    def _cases(self, wanted: Mapping[Spot, str], told: Mapping[Spot, Sequence[str]]) -> list[Case]:
        return [
            work_on(
                case,
                (NATIVE, *((PLAN_RECIPE,) if recipe != NATIVE else ()), *told.get(spot, ())),
                expected_s,
            )
            for spot, recipe in wanted.items()
            for expected_s in [self._expected_s(spot, recipe)]
            for case in spot.verified
        ]

    def _expected_s(self, spot: Spot, recipe: str) -> dict[str, float | None]:
        """Of the library's own, and of the plan where that is its recipe."""
        both = {NATIVE: NATIVE, PLAN_RECIPE: recipe}
        return {name: self._racing.expected_s(spot, runs) for name, runs in both.items()}

    def _has_native_won(self, spot: Spot) -> bool:
        return spot in self._racing.times and has_won(self._racing.times[spot], NATIVE)

    def _proven(self, drafted: Mapping[Spot, str], launches: Sequence[Bench]) -> set[Spot]:
        found = {
            spot: _verified_cases(spot, launches) for spot, recipe in drafted.items() if recipe != NATIVE
        }
        return confirmed(found, self._target.exact)

    def _beside_lone(
        self, drafted: Mapping[Spot, str], good: Set[Spot], known: Mapping[Spot, str]
    ) -> dict[Spot, str]:
        """Sizes between a recipe that is good at one size of the draft alone and what was taken back beside
        it, and the recipe: a rule needs a second size, and there none was measured. Without those that are
        known.
        """
        rows: dict[tuple[Row, str], list[Spot]] = {}
        for spot in drafted:
            rows.setdefault((spot.row, spot.members), []).append(spot)
        found = {
            replace(spots[0], measured_bytes=(size,)): recipe
            for ((name, _), _), spots in rows.items()
            for size, recipe in borders_of(
                name,
                {spot.size_bytes: drafted[spot] if spot in good else NATIVE for spot in spots},
                lone=True,
            )
        }
        return {spot: recipe for spot, recipe in found.items() if spot not in known}

    def _told(self, drafted: Mapping[Spot, str]) -> dict[Spot, tuple[str, ...]]:
        """What the library can be told to use, where that was asked for."""
        if not self._rivals:
            return {}
        many = MANY_RANKS if self._target.exact else MANY_WITH_NOISE
        every = 5 if self._target.simulated and self._racing.layouts[""].size > many else 1
        return {
            spot: tuple(self._target.baselines(spot.collective))
            for spot in drafted
            if not spot.members
            and spot.size_bytes in self._racing.sizes_bytes[spot.collective]
            and self._racing.sizes_bytes[spot.collective].index(spot.size_bytes) % every == 0
        }

    def _bench_of(self, plan: Plan, bench: Bench, ruled: Collection[Spot]) -> Bench:
        """What the plan was verified by. Where it leaves the library's own, that is what it runs: its times
        are those of the library's own.
        """
        kept = {case for spot in ruled for case in spot.verified}
        # Rules end where a gain does: those sizes among the others would be too many of one kind.
        shown = {case for case in bench.cases if case.members or self._is_shown(case)}
        times = {}
        for key, values in bench.slowest_s.items():
            if key.case not in shown or (key.recipe == PLAN_RECIPE and key.case not in kept):
                continue
            times[key] = values
            if key.recipe == NATIVE and key.case not in kept:
                times[key.case.key(PLAN_RECIPE)] = values
        return replace(bench, slowest_s=times)

    def _is_shown(self, case: BenchCase) -> bool:
        shapes = self._racing.shapes[case.collective, ""]
        sizes = self._racing.sizes_bytes[case.collective]
        return case.size_bytes in sizes and any(shape.verified == case.root for shape in shapes)

    def _say_what_is_taken_back(self, drafted: Mapping[Spot, str], proven: Collection[Spot]) -> None:
        """A line for each collective on each communicator."""
        found: dict[tuple[str, str], set[int]] = {}
        for spot, recipe in drafted.items():
            if recipe != NATIVE and spot not in proven:
                found.setdefault((spot.collective, spot.members), set()).add(spot.size_bytes)
        for (name, members), sizes in found.items():
            _log.info(
                "taking back rules for %s%s%s: not proven faster once more",
                name,
                f" of {join_words([format_bytes(size) for size in sorted(sizes)])}"
                if has_agreed_size(name)
                else "",
                f" among {self._racing.layouts[members].size} ranks" if members else "",
            )

    def _plan(self, chosen: Mapping[Spot, tuple[str | None, Evidence]]) -> Plan:
        if self._racing.mpi is None:
            raise TypeError("a plan is of an MPI library")
        rows: dict[Row, list[Decision]] = {}
        orders: dict[Row, str] = {}
        for spot, (recipe, evidence) in chosen.items():
            rows.setdefault(spot.row, []).append(Decision(spot.size_bytes, recipe, evidence))
            # The library's own depends on it, and so does what is faster than that.
            orders[spot.row] = self._racing.layouts[spot.members].order()
        return Plan(
            topology=PlannedTopology(
                self._racing.topology.fingerprint,
                self._racing.topology_file.name,
                tuple(level.name for level in self._racing.topology.levels),
            ),
            mpi=LibraryReference(self._racing.mpi.library, self._racing.mpi.abi),
            rules=tuple(
                rule
                for (name, shape), few in rows.items()
                for rule in rules_for(shape, few, name, orders[name, shape])
            ),
            provenance=provenance(),
        )


def _verified_cases(spot: Spot, launches: Sequence[Bench]) -> list[Verified]:
    """What the launches in which a rule was timed measured of it, at each of its sizes and roots."""
    found = []
    for case in spot.verified:
        timed = [launch.slowest_s for launch in launches if case.key(PLAN_RECIPE) in launch.slowest_s]
        found.append(
            Verified(
                [times[case.key(NATIVE)] for times in timed],
                [times[case.key(PLAN_RECIPE)] for times in timed],
            )
        )
    return found
