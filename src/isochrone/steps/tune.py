# SPDX-License-Identifier: BSD-3-Clause
"""Tune: from a topology and measured broadcasts to ``plan.json``.

First all candidates of the model are timed a few times, and the neighbours of the best of each size. Then
the best of these are timed against the library's own with as many repetitions as a proof needs, then the
plan as a whole against the library at its best, on roots that were not tuned on. A rule that turns out
slower there is taken back.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    BenchKey,
    Case,
    Plan,
    Rule,
    Topology,
    provenance,
    read_topology,
    write_plan,
)
from isochrone.launch.target import Target
from isochrone.statistics import FloatArray
from isochrone.steps.bench import SIZES_BYTES, run_bench
from isochrone.tune.candidates import MOST_SEGMENTS, candidates, neighbours, of_next_sizes, predicted_s
from isochrone.tune.rules import NATIVE, Decision, decide, fastest, is_slower, ranked, rules_for

PLAN_RECIPE = "plan"
MOST_SHAPES = 3
SIMULATED_MESSAGES = 16384
"""Of one broadcast: more of them take longer to simulate than they tell."""
MANY_RANKS = 128
"""Beyond these, simulating all that a library can be told to use takes longer than all the rest: then every
fifth size tells."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        candidates: recipes a size that the model passes on.
        neighbours: of the best of these, how many with another algorithm are screened too, beside all with
            other segments.
        finalists: recipes a size that are left after screening.
        roots: of each shape that are tuned on. Libraries do well from some roots and worse from others.
        screen, confirm, verify: repetitions of the three rounds; with none of the first, all candidates
            are confirmed.
    """

    candidates: int
    neighbours: int
    finalists: int
    roots: int
    screen: int
    confirm: int
    verify: int


NOISY = Effort(candidates=8, neighbours=4, finalists=2, roots=2, screen=3, confirm=25, verify=25)
EXACT = Effort(candidates=5, neighbours=0, finalists=0, roots=1, screen=0, confirm=1, verify=1)
"""Where times have no noise one repetition tells all."""


@dataclass(frozen=True)
class ShapeRoots:
    """Roots that give the communicator one shape: some to tune on, one to verify on."""

    shape: str
    tuned: tuple[int, ...]
    verified: int


def tune(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    seed: int = 1,
) -> tuple[Plan, Bench]:
    """Makes a plan for broadcasts on all ranks of the target, and the benchmark that verifies it.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    layout = layout_of(topology, topology_file)
    effort = EXACT if target.exact else NOISY
    shapes = shapes_of(layout, effort.roots)
    scratch = bench_file.with_name(bench_file.name + ".tuning")
    try:
        decisions, identity = _decide_all(
            target, layout, shapes, topology_file, scratch, sizes_bytes, effort, seed
        )
    finally:
        scratch.unlink(missing_ok=True)
    plan = Plan(
        fingerprint=topology.fingerprint,
        topology_file=topology_file.name,
        library=identity.mpi.library,
        abi=identity.mpi.abi,
        rules=tuple(rule for shape, chosen in decisions.items() for rule in rules_for(shape, chosen)),
        provenance=provenance(),
    )
    write_plan(plan_file, plan)
    bench = verify(target, topology_file, plan_file, bench_file, shapes, sizes_bytes, effort.verify, seed)
    corrected = _without_slower(plan, bench, shapes, target.exact)
    if corrected != plan:
        write_plan(plan_file, corrected)
        bench = verify(target, topology_file, plan_file, bench_file, shapes, sizes_bytes, effort.verify, seed)
    return corrected, bench


def layout_of(topology: Topology, topology_file: Path) -> _core.Layout:
    """The layout of the surveyed ranks."""
    places = [topology.places[place] for place in topology.ranks]
    return _core.match(
        topology_file.read_text(encoding="utf-8"),
        [(place.host, place.cpus, place.signature) for place in places],
    )


def shapes_of(layout: _core.Layout, tuned: int = 1) -> list[ShapeRoots]:
    """The shapes that the roots give, the most frequent first, at most `MOST_SHAPES`; those of a single
    rank: none. Each has up to `tuned` roots to tune on, far from each other.
    """
    if layout.size < 2:
        return []
    roots: dict[str, list[int]] = {}
    for root in range(layout.size):
        roots.setdefault(layout.shape(root), []).append(root)
    frequent = sorted(roots.items(), key=lambda item: -len(item[1]))[:MOST_SHAPES]
    return [ShapeRoots(shape, _far_apart(layout, ranks, tuned), ranks[-1]) for shape, ranks in frequent]


def _far_apart(layout: _core.Layout, ranks: Sequence[int], count: int) -> tuple[int, ...]:
    """The first of some ranks, and up to `count` in all that share the fewest groups with those before; of
    equal ones not the first, which often has the first's part in a group as well.
    """
    chosen = [ranks[0]]
    while len(chosen) < min(count, len(ranks)):
        shared = {
            rank: max(sum(group[rank] == group[other] for group in layout.group_of) for other in chosen)
            for rank in ranks
            if rank not in chosen
        }
        farthest = [rank for rank, groups in shared.items() if groups == min(shared.values())]
        chosen.append(farthest[len(farthest) * 2 // 3])
    return tuple(chosen)


def verify(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    shapes: Sequence[ShapeRoots],
    sizes_bytes: Sequence[int],
    repetitions: int,
    seed: int,
) -> Bench:
    """Times the plan against the library's own and against every algorithm that the library can be told to
    use.
    """
    ranks = len(read_topology(topology_file).ranks)
    every = 5 if target.simulated and ranks > MANY_RANKS else 1
    cases = [
        Case(
            size,
            shape.verified,
            (NATIVE, PLAN_RECIPE, *(target.baselines if position % every == 0 else ())),
        )
        for position, size in enumerate(sizes_bytes)
        for shape in shapes
    ]
    return run_bench(target, cases, bench_file, topology_file, plan_file, repetitions, seed=seed + 2)


def _decide_all(
    target: Target,
    layout: _core.Layout,
    shapes: Sequence[ShapeRoots],
    topology_file: Path,
    scratch: Path,
    sizes_bytes: Sequence[int],
    effort: Effort,
    seed: int,
) -> tuple[dict[str, list[Decision]], Bench]:
    most_segments = max(16, SIMULATED_MESSAGES // layout.size) if target.simulated else MOST_SEGMENTS
    most_segments = min(most_segments, MOST_SEGMENTS)
    pairs = [(shape, size) for shape in shapes for size in sizes_bytes]
    # The simulator leaves Python's lock to others while it works.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(
            lambda pair: candidates(layout, pair[0].tuned, pair[1], effort.candidates, most_segments),
            pairs,
        )
        recipes = {pair: tuple(few) for pair, few in zip(pairs, found, strict=True)}

    def measure(
        recipes: Mapping[tuple[ShapeRoots, int], Sequence[str]], repetitions: int, seed: int
    ) -> Bench:
        cases = [
            Case(size, root, tuple(few))
            for (shape, size), few in recipes.items()
            for root in shape.tuned
            if few
        ]
        bench = run_bench(target, cases, scratch, topology_file, repetitions=repetitions, seed=seed)
        if bench.ranks != layout.size:
            raise IsochroneError(
                f"the topology is of {layout.size} ranks, but {bench.ranks} ran",
                str(topology_file),
                "tune with as many ranks as were surveyed",
            )
        return bench

    if effort.screen:
        bench = measure(recipes, effort.screen, seed)
        of_next = _best_of_next_sizes(recipes, bench, most_segments)
        around = {
            pair: _around_best(layout, pair, few, bench, effort.neighbours, most_segments)
            for pair, few in recipes.items()
        }
        recipes = {pair: tuple(dict.fromkeys((*few, *of_next[pair]))) for pair, few in around.items()}
        bench = measure(recipes, effort.screen, seed)
        recipes = {
            (shape, size): tuple(ranked(_times(bench, shape, size, few))[: effort.finalists])
            for (shape, size), few in recipes.items()
        }
    bench = measure({pair: (NATIVE, *few) for pair, few in recipes.items()}, effort.confirm, seed + 1)
    if not effort.screen:
        of_next = _best_of_next_sizes(recipes, bench, most_segments)
        if any(of_next.values()):
            more = measure(of_next, effort.confirm, seed + 1)
            bench = replace(bench, slowest_s={**bench.slowest_s, **more.slowest_s})
            recipes = {pair: (*few, *of_next[pair]) for pair, few in recipes.items()}
    comparisons = sum(map(len, recipes.values())) if effort.screen else len(recipes)
    decisions: dict[str, list[Decision]] = {}
    for (shape, size), few in recipes.items():
        decision = decide(size, _times(bench, shape, size, (NATIVE, *few)), comparisons, target.exact)
        price = predicted_s(layout, decision.recipe, shape.tuned[0], size)
        decision = replace(decision, evidence=replace(decision.evidence, predicted_s=price))
        decisions.setdefault(shape.shape, []).append(decision)
    return decisions, bench


def _around_best(
    layout: _core.Layout,
    pair: tuple[ShapeRoots, int],
    measured: Sequence[str],
    bench: Bench,
    most: int,
    most_segments: int,
) -> tuple[str, ...]:
    """The best of what was measured, and its neighbours that were not."""
    shape, size = pair
    best = fastest(_times(bench, shape, size, measured))
    near = neighbours(layout, best, shape.tuned, size, most, most_segments)
    return (best, *(recipe for recipe in near if recipe not in measured))


def _best_of_next_sizes(
    measured: Mapping[tuple[ShapeRoots, int], Sequence[str]], bench: Bench, most_segments: int
) -> dict[tuple[ShapeRoots, int], tuple[str, ...]]:
    """For each size of each shape what was best for the sizes next to it, if it was not measured."""
    found = {}
    for shape in dict.fromkeys(shape for shape, _ in measured):
        recipes = {size: few for (of, size), few in measured.items() if of == shape}
        best = {size: fastest(_times(bench, shape, size, few)) for size, few in recipes.items()}
        near = of_next_sizes(best, most_segments)
        for size, few in recipes.items():
            found[shape, size] = tuple(recipe for recipe in near[size] if recipe not in few)
    return found


def _times(
    bench: Bench, shape: ShapeRoots, size_bytes: int, recipes: Sequence[str]
) -> list[Mapping[str, FloatArray]]:
    """For each root, recipe to times."""
    return [
        {recipe: bench.slowest_s[BenchKey(size_bytes, root, recipe)] for recipe in recipes}
        for root in shape.tuned
    ]


def _without_slower(plan: Plan, bench: Bench, shapes: Sequence[ShapeRoots], exact: bool) -> Plan:
    """The plan without the rules that were slower than the library's own when verified."""
    slower: set[Rule] = set()
    for rule in plan.rules:
        for shape in shapes:
            for size, root in bench.cases:
                if (
                    shape.shape != rule.shape
                    or root != shape.verified
                    or not rule.min_bytes <= size <= rule.max_bytes
                ):
                    continue
                native = bench.slowest_s[BenchKey(size, root, NATIVE)]
                planned = bench.slowest_s[BenchKey(size, root, PLAN_RECIPE)]
                if is_slower(native, planned, len(plan.rules), exact):
                    _log.info(
                        "taking back a rule for %d bytes: %s was slower when verified", size, rule.recipe
                    )
                    slower.add(rule)
    return Plan(
        plan.fingerprint,
        plan.topology_file,
        plan.library,
        plan.abi,
        tuple(rule for rule in plan.rules if rule not in slower),
        plan.provenance,
    )
