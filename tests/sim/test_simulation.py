# SPDX-License-Identifier: BSD-3-Clause
"""What ranks measure on a simulated cluster is what its description says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError, UsageError
from isochrone.sim.description import load_system
from isochrone.sim.platform import wire_latency_s
from isochrone.sim.system import System, cores_of_ranks
from isochrone.sim.target import SimTarget

LINKS = """
send_overhead: 40ns
receive_overhead: 30ns
links:
  l3:      {latency: 0.2us, bandwidth: 14GB/s}
  numa:    {latency: 0.3us, bandwidth: 12GB/s}
  socket:  {latency: 0.4us, bandwidth: 9GB/s, capacity: 20GB/s}
  node:    {latency: 0.7us, bandwidth: 7GB/s, capacity: 9GB/s}
  network: {latency: 1.3us, bandwidth: 10GB/s}
"""

SYSTEMS = {
    "odd shape": "nodes: 3\nsockets: 2\ncores: 5\nplacement: random",
    "one core in a node": "nodes: 7\nsockets: 1\ncores: 1",
    "single sockets": "nodes: 7\nsockets: 1\ncores: 3\nplacement: cyclic",
    "all levels": "nodes: 2\nsockets: 2\ncores: 8\nnuma: 2\nl3_cores: 2\nplacement: cyclic",
    "one node": "nodes: 1\nsockets: 2\ncores: 4\nnuma: 2",
    "two ranks": "nodes: 2\nsockets: 1\ncores: 1",
    "islands": """nodes: 6\nsockets: 1\ncores: 2\nplacement: random
network: {kind: islands, islands: [1, 3, 2], uplink: {latency: 2us, bandwidth: 8GB/s}}""",
    "fat tree": """nodes: 11\nsockets: 1\ncores: 1\nplacement: random
network:
  kind: fat-tree
  down: [2, 3, 2]
  up: [1, 2, 3]
  uplinks: [{latency: 1.9us, bandwidth: 8GB/s}, {latency: 2.4us, bandwidth: 6GB/s}]""",
    "dragonfly": """nodes: 17\nsockets: 1\ncores: 1\nplacement: random
network:
  kind: dragonfly
  groups: 5
  routers_per_group: 2
  nodes_per_router: 2
  local: {latency: 1.5us, bandwidth: 9GB/s}
  global: {latency: 2.2us, bandwidth: 5GB/s}""",
    "torus": """nodes: 20\nsockets: 1\ncores: 1\nplacement: random
network: {kind: torus, dimensions: [5, 2, 2], hop: {latency: 0.2us, bandwidth: 6GB/s}}""",
}


def pair_of(system: System, a: int, b: int) -> tuple[float, float]:
    """Latency and bandwidth of two cores by the description."""
    nodes = a // system.cores_per_node, b // system.cores_per_node
    if nodes[0] != nodes[1]:
        path = system.network.path(*nodes)
        return path.latency_s, path.bandwidth_bytes_per_s
    link = next(group.link for group in system.core_groups if a // group.cores == b // group.cores)
    return link.latency_s, link.bandwidth_bytes_per_s


def measure(
    system: System, program: Path, size_bytes: int, folder: Path, *mode: str
) -> dict[tuple[int, int], float]:
    output = folder / "times"
    SimTarget(system).run_executable(program, [str(size_bytes), str(output), *mode])
    lines = [line.split() for line in output.read_text().splitlines()]
    return {(int(low), int(high)): float(seconds) for low, high, seconds in lines}


@pytest.mark.parametrize("shape", SYSTEMS)
def test_half_the_round_trip_of_an_empty_message_is_the_latency(
    shape: str, ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    system = load_system(str(write_system(f"name: test\n{SYSTEMS[shape]}\n{LINKS}")))
    cores = cores_of_ranks(system)

    times = measure(system, ping_pong, 0, tmp_path)

    assert len(times) == system.ranks * (system.ranks - 1) // 2
    for (low, high), seconds in times.items():
        assert seconds == pytest.approx(pair_of(system, cores[low], cores[high])[0], abs=1e-9, rel=0)


@pytest.mark.parametrize("shape", ["all levels", "islands", "torus"])
def test_a_pair_by_itself_gets_the_bandwidth(
    shape: str, ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    system = load_system(str(write_system(f"name: test\n{SYSTEMS[shape]}\n{LINKS}")))
    cores = cores_of_ranks(system)
    size_bytes = 1_000_000

    for (low, high), seconds in measure(system, ping_pong, size_bytes, tmp_path).items():
        latency_s, bandwidth = pair_of(system, cores[low], cores[high])
        # SimGrid charges no overheads for messages beyond the eager limit.
        expected_s = wire_latency_s(system, latency_s, bandwidth) + (size_bytes + 16) / bandwidth
        assert seconds == pytest.approx(expected_s, rel=1e-6)


@pytest.mark.parametrize(
    ("shape", "pairs_at_once", "capacity"),
    [
        ("nodes: 2\nsockets: 1\ncores: 4", 4, 10e9),  # one network card
        ("nodes: 1\nsockets: 2\ncores: 4", 4, 9e9),  # one way out of a socket
        (
            """nodes: 8\nsockets: 1\ncores: 1
network: {kind: islands, islands: [4, 4], uplink: {latency: 2us, bandwidth: 4GB/s, capacity: 12GB/s}}""",
            4,
            12e9,
        ),
    ],
    ids=["network card", "socket", "uplink"],
)
def test_pairs_at_once_share_the_capacity(
    shape: str,
    pairs_at_once: int,
    capacity: float,
    ping_pong: Path,
    write_system: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    system = load_system(str(write_system(f"name: test\n{shape}\n{LINKS}")))
    size_bytes = 10_000_000

    times = measure(system, ping_pong, size_bytes, tmp_path, "together")

    assert len(times) == pairs_at_once
    for seconds in times.values():
        assert seconds == pytest.approx(size_bytes * pairs_at_once / capacity, rel=0.01)


@pytest.mark.parametrize("shape", ["nodes: 2\nsockets: 1\ncores: 4", "nodes: 1\nsockets: 2\ncores: 4"])
@pytest.mark.parametrize("size_bytes", [1000, 4000])
def test_messages_of_a_pair_arrive_one_after_another(
    shape: str, size_bytes: int, ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    system = load_system(str(write_system(f"name: test\n{shape}\n{LINKS}")))
    cores = cores_of_ranks(system)
    last = len(cores) - 1
    latency_s, bandwidth = pair_of(system, cores[0], cores[last])

    times = measure(system, ping_pong, size_bytes, tmp_path, "burst")

    # Those that are under way at once would all be there when the last one is.
    arrivals = [times[number, last] for number in range(6)]
    expected = [latency_s + (number + 1) * size_bytes / bandwidth for number in range(6)]
    assert arrivals == pytest.approx(expected, abs=2e-7)
    # One to a near rank does not wait for those to a far one. It was sent after them.
    near_s, near_bandwidth = pair_of(system, cores[0], cores[1])
    sent_s = 6 * system.send_overhead_s
    assert times[6, 1] == pytest.approx(sent_s + near_s + size_bytes / near_bandwidth, abs=2e-7)


def test_an_eager_message_costs_its_latency_and_its_bytes(
    ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    system = load_system(str(write_system(f"name: test\n{SYSTEMS['two ranks']}\n{LINKS}")))

    for size_bytes in (1, system.eager_limit_bytes):
        times = measure(system, ping_pong, size_bytes, tmp_path)
        assert times[0, 1] == pytest.approx(1.3e-6 + size_bytes / 10e9, abs=1e-9, rel=0)


def test_two_runs_agree_and_another_seed_gives_other_noise(
    ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    path = str(write_system(f"name: test\nnodes: 4\nsockets: 1\ncores: 2\nnoise: 0.1\n{LINKS}"))

    first = measure(load_system(path), ping_pong, 0, tmp_path)
    again = measure(load_system(path), ping_pong, 0, tmp_path)
    other = measure(load_system(path, seed=2), ping_pong, 0, tmp_path)

    assert first == again
    assert first != other


def test_noise_has_the_median_1_and_the_given_size(
    ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path
) -> None:
    path = write_system(f"name: test\nnodes: 24\nsockets: 1\ncores: 1\nnoise: 0.1\n{LINKS}")

    ratios = sorted(t / 1.3e-6 for t in measure(load_system(str(path)), ping_pong, 0, tmp_path).values())

    # Each is the least of three means of two factors; the median of that is about exp(-0.82 * 0.1 / 2**0.5).
    assert ratios[len(ratios) // 2] == pytest.approx(0.944, abs=0.02)
    assert 0.75 < ratios[0] < 0.9
    assert 1.0 < ratios[-1] < 1.3


def test_one_rank_runs(ping_pong: Path, write_system: Callable[[str], Path], tmp_path: Path) -> None:
    path = write_system(
        "name: test\nnodes: 1\nsockets: 1\ncores: 1\nlinks: {node: {latency: 1us, bandwidth: 1GB/s}}"
    )

    assert measure(load_system(str(path)), ping_pong, 0, tmp_path) == {}


def test_a_failing_program_is_one_line(ping_pong: Path, tmp_path: Path) -> None:
    system = load_system("hpclab")

    with pytest.raises(IsochroneError, match="missing/times cannot be written") as caught:
        SimTarget(system).run_executable(ping_pong, ["0", str(tmp_path / "missing" / "times")])

    assert "\n" not in str(caught.value)


def test_missing_simgrid_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(IsochroneError, match="apt install libsimgrid-dev"):
        SimTarget(load_system("hpclab")).run("isochrone-probe", [])


def test_what_smpirun_cannot_pass_on_is_refused(ping_pong: Path) -> None:
    with pytest.raises(IsochroneError, match="cannot pass"):
        SimTarget(load_system("hpclab")).run_executable(ping_pong, ["0", "a b"])


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(UsageError, match="use one of ompi, mpich, default"):
        SimTarget(load_system("hpclab"), baseline="lam")


def test_the_baseline_itself_is_no_rival() -> None:
    system = load_system("hpclab")

    assert "native:mpich" in SimTarget(system).baselines("bcast")
    assert "native:mpich" not in SimTarget(system, baseline="mpich").baselines("bcast")
    assert all(name.startswith("native:") for name in SimTarget(system).baselines("bcast"))


@pytest.mark.long
@pytest.mark.usefixtures("simgrid")
def test_the_probe_surveys_a_simulated_cluster(tmp_path: Path) -> None:
    output = tmp_path / "measurements.jsonl"

    SimTarget(load_system("demo")).run("isochrone-probe", ["-o", str(output)])

    assert len(output.read_text().splitlines()) == 1 + 64 * 63 // 2 + 1
