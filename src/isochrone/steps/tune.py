# SPDX-License-Identifier: BSD-3-Clause
"""Tune: from a topology and measured collectives to ``plan.json``: recipes are raced (`racing`), and the plan
that comes of it is verified (`verification`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone.files import (
    BCAST,
    Bench,
    Plan,
    compared,
    read_library,
    read_topology,
    write_bench,
    write_plan,
)
from isochrone.launch.target import Target
from isochrone.launch.told import variables_for
from isochrone.progress import kept_when_stopped, part
from isochrone.steps.folder import LIBRARY, LIBRARY_TUNING, TUNING
from isochrone.steps.library import tune_library
from isochrone.steps.racing import Racing, own_s
from isochrone.steps.rounds import Rounds, check_ranks, forget_rounds
from isochrone.steps.simulated_time import foreseen
from isochrone.steps.verification import Verification
from isochrone.tune.affordable import affordable_grids
from isochrone.tune.collectives import grids
from isochrone.tune.effort import effort_for, left_to_measure
from isochrone.tune.layout import layout_of
from isochrone.units import format_duration, format_time, significant

LIBRARY_SHARE = 0.4
"""Of a budget, where what the library can be told to use is timed first: it has about as many algorithms as
the model proposes recipes, and is proven like them."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TuneOptions:
    """How to tune.

    Attributes:
        sizes_bytes: that collectives are tuned at; None: the usual ones, of which all after the first
            collective have few, and between them those that the races ask for.
        collectives: their names.
        seed: of the order of what is measured.
        fabric: the address of a server of routes that the program will run with, too.
        budget_s: how long it may take, starts of programs included, more or less; None: whatever it takes.
            No matter where it is simulated.
        rivals: the plan is also verified against all that the library can be told to use.
        at_its_best: what the library can be told to use is timed first, and it is told the best of it, so
            that its own is the best that it can do; this takes a part of the budget. No matter where it is
            simulated.
    """

    sizes_bytes: Sequence[int] | None = None
    collectives: Sequence[str] = (BCAST,)
    seed: int = 1
    fabric: str | None = None
    budget_s: float | None = None
    rivals: bool = False
    at_its_best: bool = False


def tune(
    target: Target,
    topology_file: Path,
    plan_file: Path,
    bench_file: Path,
    options: TuneOptions | None = None,
) -> tuple[Plan, Bench]:
    """Makes a plan for collectives on the ranks of the target, and the benchmark that verifies it.

    Both files are written at the end, when all is measured. What was measured before an interruption is not
    measured again, until `forget` is called. The library is told what a ``library.json`` beside the plan
    says.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    options = options or TuneOptions()
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    check_ranks(target, topology, topology_file)
    if options.budget_s is not None and not target.simulated:
        _log.info("tuning takes about %s, or what a proof needs at the least", format_time(options.budget_s))
    folder = plan_file.with_name(TUNING)
    if options.at_its_best and target.library is not None:
        options = _library_first(target, topology_file, plan_file.with_name(LIBRARY), options)
    variables = variables_for(plan_file.parent, target)
    if variables:
        options = replace(options, rivals=False)
    rounds = Rounds(target, topology, topology_file, folder, options.fabric, variables)
    with kept_when_stopped(folder):
        # A simulated program's clock is not the user's.
        budget_s = None if target.simulated else options.budget_s
        layout = layout_of(topology, topology_file)

        def race() -> Racing:
            names, wanted = options.collectives, options.sizes_bytes
            left_s = budget_s
            if budget_s is not None:
                launches = 1 + effort_for(target.simulated, target.exact).launches
                left_s = left_to_measure(budget_s, launches * rounds.start_s(options.seed))
            few = affordable_grids(names, wanted, layout, left_s, lambda sizes: own_s(rounds, layout, sizes))
            racing = Racing(
                target,
                topology,
                topology_file,
                layout,
                rounds,
                few,
                # Each simulated call costs the user's time, whatever it takes.
                few if target.simulated else grids(names, wanted, layout.size, thinned=()),
                left_s,
                options.seed,
                options.fabric is not None,
            )
            if target.simulated:
                _say_how_long(racing, options.rivals)
            racing.run()
            return racing

        racing = rounds.in_one_launch(race)
        plan, bench = Verification(target, racing, options.seed, options.rivals).run()
        if variables:
            plan = compared(plan, read_library(plan_file.with_name(LIBRARY)))
    write_bench(bench_file, bench)
    write_plan(plan_file, plan)
    return plan, bench


def _say_how_long(racing: Racing, rivals: bool) -> None:
    found = foreseen(racing)
    if found.messages:
        _log.info(
            "tuning simulates about %s messages in all, in %s%s; fewer --collectives or --sizes take less",
            f"{float(significant(found.messages, 2)):,.0f}",
            "more than " if rivals else "about ",
            format_duration(found.time_s),
        )


def _library_first(
    target: Target, topology_file: Path, library_file: Path, options: TuneOptions
) -> TuneOptions:
    """Tunes the library; how to go on with what is left of the budget."""
    whole_s = options.budget_s
    own_s = None if whole_s is None else LIBRARY_SHARE * whole_s
    with part("", LIBRARY_SHARE):
        tune_library(
            target, topology_file, library_file, options.collectives, options.sizes_bytes, options.seed, own_s
        )
    return replace(options, budget_s=None if whole_s is None else (1 - LIBRARY_SHARE) * whole_s)


def forget(folder: Path, options: TuneOptions) -> None:
    """Removes what an interrupted tuning with these options, in the folder of a survey, would go on from."""
    forget_rounds(folder / TUNING)
    if options.at_its_best:
        forget_rounds(folder / LIBRARY_TUNING)
