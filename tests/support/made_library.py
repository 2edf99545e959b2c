# SPDX-License-Identifier: BSD-3-Clause
"""A library whose times are made up, and its tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from tuned import topology_of

from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    BenchKey,
    LibraryTuning,
    MpiLibrary,
    read_library,
    read_work,
    write_bench,
    write_topology,
)
from isochrone.files.library import DEFAULT
from isochrone.launch import library as known
from isochrone.launch.process import Talk
from isochrone.steps.library import tune_library
from isochrone.tune.lookup import rule_of

HOSTS = ["a", "a", "b", "b"]
SIZES = (64, 1024, 16384, 262144)
Times = Callable[[str, int, str, Mapping[str, str]], float | None]
"""Of a collective, a size, a recipe and variables; None: that launch fails."""


def library(vendor: str, version: str) -> known.MpiLibrary:
    return known.MpiLibrary("x", vendor, version, "libmpi.so.40", "/lib/x", "mpicc", None, "PATH")


@dataclass
class MadeUpLibrary:
    """Answers with times of a function, with noise."""

    time_s: Times
    library: known.MpiLibrary | None = None
    names: Sequence[str] = ("native:one", "native:two", "native:three")
    noise: float = 0.02
    exact: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    launches: list[Mapping[str, str]] = field(default_factory=list)
    name: str = "made up"
    simulated: bool = False
    cores: int | None = None
    truth: dict[str, list[int]] | None = None
    rank_count: int | None = len(HOSTS)
    identity: str = ""
    launch_words: Sequence[str] = ()

    def with_variables(self, variables: Mapping[str, str]) -> MadeUpLibrary:
        return replace(self, variables={**self.variables, **variables})

    def baselines(self, collective: str) -> Sequence[str]:
        return ("native:*",)

    def check(self, program: str, output: Path) -> None:
        """All that is made up is true."""

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        work = read_work(given["--work"])
        self.launches.append(self.variables)
        random = np.random.default_rng(len(self.launches))
        times = {}
        for case in work.cases:
            for asked in case.recipes:
                for recipe in self.names if asked == "native:*" else (asked,):
                    once = self.time_s(case.collective, case.size_bytes, recipe, self.variables)
                    if once is None:
                        raise IsochroneError("the library gave up")
                    key = BenchKey(case.size_bytes, case.root, recipe, case.collective)
                    times[key] = once * random.lognormal(0, self.noise, work.repetitions)
        topology = topology_of(HOSTS)
        mpi = MpiLibrary("MPICH Version: 5.0", "4.0", "libmpi.so.12")
        write_bench(given["--output"], Bench(topology.places, mpi, "clock", 0.0, False, True, times, 1.0))


def algorithm_of(tuning: LibraryTuning, collective: str, size_bytes: int) -> str:
    """What the library should use for a collective of this size."""
    rule = rule_of(tuning.told(collective), collective, size_bytes)
    return DEFAULT if rule is None else rule.algorithm


def tuned(tmp_path: Path, target: MadeUpLibrary, *collectives: str) -> dict[tuple[str, int], str]:
    """The algorithm for each collective and size."""
    write_topology(tmp_path / "topology.json", topology_of(HOSTS))
    path = tmp_path / "library.json"
    tuning = tune_library(target, tmp_path / "topology.json", path, collectives or ("bcast",), SIZES)
    assert read_library(path) == tuning
    assert tuning.ranks == len(HOSTS)
    return {
        (name, size): algorithm_of(tuning, name, size) for name in collectives or ("bcast",) for size in SIZES
    }
