# SPDX-License-Identifier: BSD-3-Clause
"""What a mapping is predicted to change is what a simulated cluster shows: the messages of a task graph are
sent with ranks in their order and mapped, on links that were measured there.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.launch.process import Channel
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.optimise import optimise
from isochrone.mapping.predict import exchange_time_s
from isochrone.mapping.system import System, system_of_topology
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe

ROUNDS = 20
RANKS = 24
STAR = """name: star
nodes: 6
sockets: 1
cores: 4
links:
  node: {latency: 0.5us, bandwidth: 9GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
"""
ISLANDS = """name: islands
nodes: 6
sockets: 1
cores: 4
links:
  node: {latency: 0.5us, bandwidth: 9GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
network: {kind: islands, islands: [3, 3], uplink: {latency: 6us, bandwidth: 2GB/s}}
"""
Row = tuple[int, int, int]


def groups(much: int, little: int) -> list[Row]:
    """Ranks r, r + 6, r + 12 and r + 18 talk much, and with the next group a little."""
    rows = [(a, b, much) for a in range(RANKS) for b in range(a % 6, RANKS, 6) if a != b]
    return rows + [(a, (a + 1) % RANKS, little) for a in range(RANKS)]


def torus(size_bytes: int) -> list[Row]:
    """A stencil on 4 x 6 ranks, numbered at random."""
    number = list(range(RANKS))
    random.Random(3).shuffle(number)
    return [
        (number[6 * x + y], number[6 * ((x + dx) % 4) + (y + dy) % 6], size_bytes)
        for x in range(4)
        for y in range(6)
        for dx, dy in ((0, 1), (0, 5), (1, 0), (3, 0))
    ]


def scattered(seed: int) -> list[Row]:
    """Some peers for each rank, and sizes of all magnitudes; a few ranks talk with most."""
    dice = random.Random(seed)
    pairs = {(a, dice.choice((0, 1, dice.randrange(RANKS)))) for a in range(RANKS) for _ in range(4)}
    return [(a, b, round(10 ** dice.uniform(0, 5.5))) for a, b in sorted(pairs) if a != b]


PROGRAMS = {
    "large groups": (groups(400_000, 400), 0.3),
    "groups": (groups(20_000, 20), 0.3),
    "small groups": (groups(200, 8), 0.3),
    "torus": (torus(12_000), 0.3),
    # Where messages of all sizes meet, those of SimGrid share a link; the model lets them wait in line.
    "scattered": (scattered(1), 0.5),
}
"""What they send, and how far a prediction may be off."""


@pytest.fixture(scope="module")
def rounds(simgrid: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("programs") / "rounds"
    source = Path(__file__).parent / "rounds.cpp"
    subprocess.run(["smpicxx", "-std=c++20", "-O2", str(source), "-o", str(program)], check=True)
    return program


@pytest.fixture(scope="module", params=[STAR, ISLANDS], ids=["star", "islands"])
def cluster(
    request: pytest.FixtureRequest, simgrid: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SimTarget, System]:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "system.yaml").write_text(request.param, encoding="utf-8")
    target = SimTarget(load_system(str(folder / "system.yaml"), None))
    probe(target, folder / "measurements.jsonl")
    topology = detect(folder / "measurements.jsonl", folder / "topology.json")
    return target, system_of_topology(topology)


@pytest.fixture
def simulated_s(
    rounds: Path, cluster: tuple[SimTarget, System], tmp_path: Path
) -> Callable[[list[Row], tuple[int, ...]], float]:
    """What the rounds take with ranks at some places."""

    def run(rows: list[Row], at: tuple[int, ...]) -> float:
        file = tmp_path / "rows"
        file.write_text("".join(f"{a} {b} {size}\n" for a, b, size in rows), encoding="ascii")
        said: list[str] = []

        def listen(channel: Channel) -> None:
            said.append(channel.receive())

        cluster[0].run_executable(rounds, (str(file), str(ROUNDS)), talk=listen, at=at)
        return float(said[0])

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_times_and_the_gain_are_those_of_the_cluster(
    cluster: tuple[SimTarget, System],
    simulated_s: Callable[[list[Row], tuple[int, ...]], float],
    name: str,
) -> None:
    rows, most = PROGRAMS[name]
    graph: TaskGraph = task_graph(RANKS, [(a, b, ROUNDS, ROUNDS * size) for a, b, size in rows])
    mapping = optimise(graph, cluster[1])
    before, after = (
        (exchange_time_s(graph, cluster[1], at), simulated_s(rows, at))
        for at in (mapping.identity, mapping.at)
    )
    print(f"{name}: predicted {before[0]:.3g} to {after[0]:.3g} s, is {before[1]:.3g} to {after[1]:.3g} s")
    speedups = [before[number] / after[number] for number in (0, 1)]
    assert speedups[0] == pytest.approx(speedups[1], rel=most)
    assert before[0] == pytest.approx(before[1], rel=most)
    assert after[0] == pytest.approx(after[1], rel=most)
