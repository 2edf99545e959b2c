# SPDX-License-Identifier: BSD-3-Clause
"""Surveys of made-up machines, written by the project's own writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from squares import of_squares

from isochrone.cli.main import main
from isochrone.detect import dendrogram
from isochrone.files import (
    Bench,
    BenchKey,
    Evidence,
    Graph,
    KnownGroups,
    Level,
    LibraryReference,
    Links,
    Measurements,
    MpiLibrary,
    Place,
    Plan,
    PlannedTopology,
    Rule,
    Survey,
    Topology,
    TopologyReference,
    read_topology,
    write_bench,
    write_graph,
    write_measurements,
    write_plan,
    write_survey,
    write_topology,
)
from isochrone.files.graph import rows_of
from isochrone.report.comparison import compare_all
from isochrone.report.facts import Facts, Findings
from isochrone.report.mergetree import merge_tree

SIZES_BYTES = (0, 1024, 65536)
MPI = MpiLibrary("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "3.1", "libmpi.so.40")


@dataclass(frozen=True)
class Machine:
    """Groups by level, outermost first: for each level its name, one-way latency, and the group of each core.

    `host` names a host from its number.
    """

    levels: tuple[tuple[str, float, tuple[int, ...]], ...]
    host: str = "n{}"

    @property
    def cores(self) -> int:
        return len(self.levels[0][2])


def regular(levels: Sequence[tuple[str, int, float]], host: str = "n{}") -> Machine:
    """A machine from (name, groups inside each group of the level before, latency); the last is cores of a
    group."""
    total = int(np.prod([count for _, count, _ in levels]))
    found, groups = [], 1
    for index, (name, count, latency_s) in enumerate(levels[:-1]):
        groups *= count
        found.append((name, latency_s, tuple(core * groups // total for core in range(total))))
        assert index or groups == 1
    return Machine(tuple(found), host)


LAPTOP = regular([("node", 1, 0.45e-6), ("core", 4, 0)])
CLUSTER = regular(
    [
        ("machine", 1, 2.4e-6),
        ("switch", 2, 1.6e-6),
        ("node", 2, 0.8e-6),
        ("socket", 2, 0.4e-6),
        ("core", 16, 0),
    ]
)
LARGE = regular(
    [("machine", 1, 1.8e-6), ("node", 4, 0.8e-6), ("socket", 2, 0.6e-6), ("l3", 16, 0.5e-6), ("core", 4, 0)]
)
UNEVEN = Machine(
    (
        ("machine", 1.8e-6, (0,) * 9),
        ("node", 0.6e-6, (0, 0, 0, 1, 1, 1, 1, 1, 2)),
    )
)


@dataclass(frozen=True)
class Made:
    """The files of a made-up survey, before they are written."""

    measurements: Measurements
    topology: Topology
    plan: Plan
    bench: Bench
    survey: Survey

    def write(self, folder: Path, leave_out: Sequence[str] = ()) -> Path:
        """Writes all files but those in `leave_out`."""
        folder.mkdir(parents=True, exist_ok=True)
        write_measurements(folder / "measurements.jsonl", self.measurements)
        write_topology(folder / "topology.json", self.topology)
        if "plan.json" not in leave_out:
            write_plan(folder / "plan.json", self.plan)
        if "bench.jsonl" not in leave_out:
            write_bench(folder / "bench.jsonl", self.bench)
        if "survey.json" not in leave_out:
            write_survey(folder / "survey.json", self.survey)
        return folder

    def facts(self, findings: Findings | None = ()) -> Facts:
        """The facts as they would be read from the files."""
        return Facts(
            folder=Path("survey"),
            measurements=self.measurements,
            topology=self.topology,
            tree=merge_tree(dendrogram(self.measurements), self.topology),
            plan=self.plan,
            bench=self.bench,
            comparisons=compare_all(self.bench),
            survey=self.survey,
            findings=findings,
            not_shown={},
        )


def make_survey(machine: Machine, seed: int = 1, noise: float = 0.03) -> Made:
    """A survey of `machine` with its ranks in random order."""
    generator = np.random.default_rng(seed)
    core_of_rank = generator.permutation(machine.cores)
    node = next((index for index, level in enumerate(machine.levels) if level[0] == "node"), 0)
    host_of = np.array(machine.levels[node][2])
    first_core = [int(np.flatnonzero(host_of == host)[0]) for host in range(host_of.max() + 1)]
    places = [
        Place(machine.host.format(host_of[core]), str(core - first_core[host_of[core]]), "made up")
        for core in core_of_rank
    ]
    labels = [np.array(groups)[core_of_rank] for _, _, groups in machine.levels]
    topology = Topology(
        places=tuple(places),
        ranks=tuple(range(machine.cores)),
        levels=tuple(_level(machine, index, labels[index]) for index in range(len(machine.levels))),
        accuracy={name: 1.0 for name, _, _ in machine.levels if name != "machine"},
        source={"file": "measurements.jsonl"},
        known=tuple(
            KnownGroups(name, "truth", tuple(label.tolist()))
            for (name, _, _), label in zip(machine.levels, labels, strict=True)
        ),
        provenance=_provenance("detect"),
    )
    measurements = _measure(machine, labels, places, generator, noise)
    command = ["isochrone", "survey", "--sim", "fram"]
    survey = Survey(
        topology=TopologyReference(topology.fingerprint),
        target="fram (simulated)",
        command=command,
        elapsed_s=61.0,
        provenance=_provenance("survey"),
    )
    return Made(measurements, topology, _plan(topology), _bench(places, generator), survey)


def _provenance(step: str) -> dict[str, object]:
    return {
        "command": ["isochrone", step, "measurements.jsonl"],
        "time": "2025-01-31T12:00:00Z",
        "host": "login1",
        "version": "0.1.0",
    }


def _measure(
    machine: Machine,
    labels: list[np.ndarray],
    places: list[Place],
    generator: np.random.Generator,
    noise: float,
) -> Measurements:
    latency_s = np.zeros((machine.cores, machine.cores))
    for (_, level_s, _), label in zip(machine.levels, labels, strict=True):
        latency_s[label[:, None] == label[None, :]] = level_s
    rtt_s = 2 * (latency_s[:, :, None] + np.array(SIZES_BYTES) / 12e9)
    rtt_s = rtt_s * np.exp(noise * np.abs(generator.standard_normal(rtt_s.shape)))
    rtt_s = np.minimum(rtt_s, rtt_s.transpose(1, 0, 2))
    rtt_s[np.arange(machine.cores), np.arange(machine.cores)] = np.nan
    return Measurements(
        sizes_bytes=SIZES_BYTES,
        repetitions=10,
        seed=1,
        places=tuple(places),
        mpi=MPI,
        resolution_s=1e-9,
        overhead_s=2e-8,
        simulated=True,
        **of_squares(rtt_min_s=rtt_s, rtt_median_s=rtt_s * 1.05, send_overhead_s=rtt_s * 0.2),
        elapsed_s=1.25,
        provenance=_provenance("probe"),
    )


def _level(machine: Machine, index: int, label: np.ndarray) -> Level:
    name, latency_s, _ = machine.levels[index]
    groups = tuple(tuple(int(rank) for rank in np.flatnonzero(label == group)) for group in np.unique(label))
    gap_s = tuple((size, size / (6e9 + 2e9 * index)) for size in SIZES_BYTES)
    return Level(name, groups, 0.99, Links(latency_s, ((0, 2e-7),), ((0, 0.0),), gap_s, None))


def _plan(topology: Topology) -> Plan:
    inner = topology.levels[-1].name
    recipes = [
        (1, 4096, "native", 1.0),
        (4097, 65536, f"hierarchical({topology.levels[0].name}=binomial,{inner}=native)", 1.21),
        (65537, 1 << 20, f"hierarchical({topology.levels[0].name}=chain,{inner}=native)@65536", 1.84),
        ((1 << 20) + 1, 1 << 53, "ordered(pipeline)@131072", 2.2),
    ]
    rules = tuple(
        Rule(
            "bcast",
            f"{len(topology.ranks)} ranks; {inner} {len(topology.levels[-1].groups)}x4; root in 4",
            low,
            high,
            recipe,
            Evidence(
                1e-4,
                1e-4 / speedup,
                speedup,
                (speedup * 0.97, speedup * 1.04),
                20,
                predicted_s=0.9e-4 / speedup,
            ),
        )
        for low, high, recipe, speedup in recipes
    )
    return Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(MPI.library, MPI.abi),
        rules=rules,
        provenance=_provenance("tune"),
    )


def _bench(places: list[Place], generator: np.random.Generator) -> Bench:
    rounds = max(1.0, np.log2(len(places)))
    times = {}
    for power in range(0, 23, 2):
        for size in (1 << power, (1 << power) + 3) if power % 6 == 4 else (1 << power,):
            native_s = rounds * (1.8e-6 + size / 9e9)
            disturbance = generator.lognormal(0, 0.08, 20)
            for recipe, gain in (
                ("native", 1.0),
                ("plan", 1.0 + 0.9 * (size > 60000)),
                ("native:chain", 0.4 + 1.1 * (size > 200000)),
                ("native:scatter_LR_allgather", 0.7 + 0.6 * (size > 9000)),
            ):
                times[BenchKey(size, 0, recipe)] = (
                    native_s / gain * disturbance * generator.lognormal(0, 0.02, 20)
                )
    return Bench(tuple(places), MPI, "clock", 3e-7, False, True, times, 12.5, _provenance("survey"))


MACHINES = {"laptop": LAPTOP, "cluster": CLUSTER, "large": LARGE, "uneven": UNEVEN}


@pytest.fixture(scope="session")
def survey_of() -> Callable[..., Made]:
    """Makes the survey of a machine, by its name or its levels."""

    def make(machine: str | Machine, **options: float) -> Made:
        return make_survey(MACHINES[machine] if isinstance(machine, str) else machine, **options)

    return make


@pytest.fixture(scope="session")
def machine_of() -> Callable[..., Machine]:
    """Makes a machine from (name, groups in each group of the level before, latency); last the cores."""
    return regular


def map_groups(folder: Path, groups: int, seconds: float | None = None) -> None:
    """Writes graph.json and mapping.json beside a survey: ranks r, r + groups, r + 2 groups, ... talk much,
    and little with the next one.
    """
    topology = read_topology(folder / "topology.json")
    count = len(topology.ranks)
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    rows = [(1, a, b, 10, 2_000_000) for a, b in pairs if a % groups == b % groups]
    rows += [(1, a, b, 10, 3000) for a, b in pairs if a % groups != b % groups and abs(a - b) == 1]
    places = tuple(topology.places[place] for place in topology.ranks)
    graph = Graph(count, rows_of(rows), places=places, seconds=seconds, provenance=_provenance("record"))
    write_graph(folder / "graph.json", graph)
    line = ["map", str(folder / "graph.json"), "--topology", str(folder)]
    assert main([*line, "-o", str(folder / "mapping.json")]) == 0


@pytest.fixture(scope="session")
def map_in() -> Callable[..., None]:
    """Maps a program with groups of ranks in the folder of a survey."""
    return map_groups
