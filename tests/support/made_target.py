# SPDX-License-Identifier: BSD-3-Clause
"""A target of tuning whose times are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from made_channel import MadeChannel

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    MpiLibrary,
    Topology,
    parse_members,
    read_plan,
    read_topology,
    read_work,
    write_bench,
)
from isochrone.launch.process import Talk
from isochrone.steps.tune import TuneOptions, forget, tune
from isochrone.tune.layout import layout_of

Times = Callable[[int, int, str], float]
"""Seconds of a call, by size in bytes, root and recipe."""


@dataclass
class MadeUpTarget:
    """Answers what it is asked to time with times of a function of size, root and recipe."""

    topology: Topology
    time_s: Times
    exact: bool = True
    noise: float = 0.0
    name: str = "made up"
    simulated: bool = True
    cores: int | None = None
    truth: dict[str, list[int]] | None = None
    told: list[str] = field(default_factory=list)
    rank_count: int | None = None
    plan_over_native: dict[int, float] = field(default_factory=dict)
    asked: list[list[tuple[int, int, tuple[str, ...]]]] = field(default_factory=list)
    calls: int = 0
    fails_after: int | None = None
    seed_from: int = 0
    price: Callable[[str, int, int, str], float] | None = None
    library: None = None
    identity: str = ""
    launch_words: Sequence[str] = ()

    def with_variables(self, variables: Mapping[str, str]) -> MadeUpTarget:
        """Never needed: there is no library that could be told anything."""
        raise AssertionError(variables)

    def baselines(self, collective: str) -> Sequence[str]:
        """What the library can be told to use."""
        return self.told

    def check(self, program: str, output: Path) -> None:
        """All that is made up is true."""

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """Writes the benchmark that is asked for."""
        assert program == "isochrone-bench"
        if talk is not None:
            talk(MadeChannel(lambda asked: self.run(program, asked)))
            return
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        work = read_work(given["--work"])
        self.asked.append(
            [(case.size_bytes, case.root, case.recipes) for case in work.cases if not case.members]
        )
        if self.fails_after == len(self.asked) - 1:
            raise IsochroneError("the network is down")
        random = np.random.default_rng(self.seed_from + len(self.asked))
        plan = read_plan(given["--plan"]) if "--plan" in given else None
        layout = layout_of(self.topology, Path(given["--topology"]))
        times = {}
        for case in work.cases:
            for recipe in case.recipes:
                runs = recipe
                if recipe == "plan":
                    text = Path(given["--plan"]).read_text()
                    here = layout
                    if case.members:
                        here = layout.restricted_to(sorted(parse_members(case.members)))
                    runs, _ = _core.choose(text, case.collective, here, case.root, case.size_bytes)
                once = self.time_s(case.size_bytes, case.root, runs)
                if self.price is not None:
                    once = self.price(case.collective, case.root, case.size_bytes, runs)
                if recipe == "plan" and runs != "native" and case.size_bytes in self.plan_over_native:
                    native_s = self.time_s(case.size_bytes, case.root, "native")
                    once = self.plan_over_native[case.size_bytes] * native_s
                key = case.key.key(recipe)
                self.calls += work.repetitions
                times[key] = once * random.lognormal(0, self.noise, work.repetitions)
        assert plan is None or plan.fingerprint == self.topology.fingerprint
        places = tuple(self.topology.places[place] for place in self.topology.ranks)
        mpi = MpiLibrary("mpich", "5.0", "mpich")
        write_bench(given["--output"], Bench(places, mpi, "clock", 0.0, False, True, times, 1.0))


def by_model(topology_file: Path, native: float) -> Times:
    """The model's times; the library's own are those of a binomial tree, times a factor."""
    layout = layout_of(read_topology(topology_file), topology_file)

    def time_s(size_bytes: int, root: int, recipe: str) -> float:
        if recipe == "native":
            return native * _core.predict("bcast", layout, "binomial", root, size_bytes)
        return _core.predict("bcast", layout, recipe, root, size_bytes)

    return time_s


def tuned_recipes(
    topology_file: Path, target: MadeUpTarget, sizes: Sequence[int], budget_s: float | None = None
) -> dict[int, str]:
    """The recipe for each size, of a plan that is made beside the topology. Nothing is left to go on from."""
    plan, _ = tune(
        target,
        topology_file,
        topology_file.with_name("plan.json"),
        topology_file.with_name("b"),
        TuneOptions(sizes, budget_s=budget_s),
    )
    forget(topology_file.parent, TuneOptions())
    return {
        size: rule.recipe for size in sizes for rule in plan.rules if rule.min_bytes <= size <= rule.max_bytes
    }
