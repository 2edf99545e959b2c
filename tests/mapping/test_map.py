# SPDX-License-Identifier: BSD-3-Clause
"""From a task graph and places to a mapping, by the command line and below it."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import Links, Place, Topology, read_mapping, write_topology
from isochrone.files.topology import Level
from isochrone.mapping.graph import TaskGraph, task_graph
from isochrone.mapping.objective import terms
from isochrone.mapping.optimise import methods, optimise
from isochrone.mapping.system import System, on_hosts, system_of_hosts, system_of_topology, system_of_tree
from isochrone.report.traffic import byte_matrix
from isochrone.steps.map import Program, map_ranks

NEAR, FAR = 1e-6, 50e-6


def links(latency_s: float, s_per_byte: float) -> Links:
    sizes = (0, 1000, 100_000)
    return Links(latency_s, ((0, 0.0),), ((0, 0.0),), tuple((size, s_per_byte * size) for size in sizes))


def topology(nodes: int = 4, cores: int = 4) -> Topology:
    count = nodes * cores
    places = tuple(Place(f"n{i // cores}", str(i % cores), "1x1") for i in range(count))
    groups = tuple(tuple(range(n * cores, (n + 1) * cores)) for n in range(nodes))
    return Topology(
        places=places,
        ranks=tuple(range(count)),
        levels=(
            Level("machine", (tuple(range(count)),), None, links(FAR, 1e-9)),
            Level("node", groups, None, links(NEAR, 1e-10)),
        ),
    )


def talking_in_groups(groups: int, size: int, much: int, little: int) -> TaskGraph:
    """Ranks r, r + groups, r + 2 groups, ... are a group that talks much."""
    rows = [
        (a, b, 10, much if a % groups == b % groups else little)
        for a, b in permutations(range(groups * size), 2)
    ]
    return task_graph(groups * size, rows)


def seconds_by_hand(graph: TaskGraph, system: System, at: tuple[int, ...]) -> float:
    total = 0.0
    for source, target, messages, volume in zip(
        graph.sources, graph.targets, graph.messages, graph.volume_bytes, strict=True
    ):
        level = max(
            number for number, groups in enumerate(system.groups) if groups[at[source]] == groups[at[target]]
        )
        found = system.links[level]
        assert found is not None
        total += messages * found.latency_s + volume * (1e-9 if level == 0 else 1e-10)
    return total


def test_the_cost_is_the_seconds_of_all_messages() -> None:
    system = system_of_topology(topology())
    graph = talking_in_groups(4, 4, 10_000, 10)
    found = optimise(graph, system)
    assert found.cost == pytest.approx(seconds_by_hand(graph, system, found.at))
    assert found.identity_cost == pytest.approx(seconds_by_hand(graph, system, found.identity))
    nodes = [system.groups[1][place] for place in found.at]
    for a, b in combinations(range(16), 2):
        assert (nodes[a] == nodes[b]) == (a % 4 == b % 4)


def test_many_small_messages_weigh_more_than_few_bytes() -> None:
    # Ranks 0 and 1 exchange many empty messages, 0 and 2 as many bytes as a dozen of them last.
    system = system_of_topology(topology(2, 2))
    graph = task_graph(4, [(0, 1, 1000, 1000), (0, 2, 1, 100_000)])
    nodes = [system.groups[1][place] for place in optimise(graph, system).at]
    assert nodes[0] == nodes[1] != nodes[2]
    nodes = [system.groups[1][place] for place in optimise(graph, system, "volume").at]
    assert nodes[0] == nodes[2] != nodes[1]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["time", "volume", "hops"]), st.sampled_from(methods()))
@settings(max_examples=40)
def test_every_mapping_has_a_place_for_each_rank(seed: int, objective: str, method: str) -> None:
    random = np.random.default_rng(seed)
    system = system_of_topology(topology(3, 4))
    ranks = int(random.integers(2, 13))
    count = int(random.integers(0, 40))
    rows = np.stack(
        [*(random.integers(0, ranks, count) for _ in range(2)), *random.integers(0, 10_000, (2, count))],
        axis=1,
    )
    graph = task_graph(ranks, rows)
    fixed = [-1] * ranks
    fixed[0] = int(random.integers(0, 12))
    if method == "cartesian":
        with pytest.raises(IsochroneError, match="does not apply"):
            optimise(graph, system, objective, method=method, seed=seed, fixed=fixed)
        return
    found = optimise(graph, system, objective, method=method, seed=seed, fixed=fixed)
    assert len(set(found.at)) == len(found.at) == ranks
    assert set(found.at) <= set(range(12))
    assert found.at[0] == fixed[0]
    if method == "portfolio":
        assert found.cost <= found.identity_cost * (1 + 1e-9)


def test_places_of_a_tree_and_its_distances() -> None:
    system = system_of_tree([4, 8, 6])
    assert system.count == 192
    weights, distances = terms("volume", task_graph(2, [(0, 1, 0, 7)]), system, [1, 10, 100])
    assert weights.tolist() == [[7.0]]
    assert distances.tolist() == [[100.0], [10.0], [1.0]]
    assert terms("hops", task_graph(2, [(0, 1, 0, 7)]), system, None)[1].tolist() == [[6.0], [4.0], [2.0]]
    with pytest.raises(UsageError, match="2 distances for 3 levels"):
        terms("volume", task_graph(2, []), system, [1, 2])
    with pytest.raises(UsageError, match="times need the links"):
        terms("time", task_graph(2, []), system, None)


def test_more_tasks_than_places_share_them_evenly() -> None:
    random = np.random.default_rng(1)
    graph = task_graph(1000, np.column_stack([random.integers(0, 1000, (3000, 2)), np.ones((3000, 2))]))
    system = system_of_tree([4, 5]).with_room_for(1000, 0.03)
    assert set(system.capacities) == {51}
    found = optimise(graph, system, "volume", [1, 10])
    assert np.bincount(found.at, minlength=20).max() <= 51
    assert found.cost < found.identity_cost


def test_hosts_of_a_list() -> None:
    system = system_of_hosts([("a", 2), ("b", 1)])
    assert [place.host for place in system.places] == ["a", "a", "b"]
    part = on_hosts(system_of_topology(topology()), [("n3", 2), ("n0", 4)])
    assert [place.host for place in part.places] == ["n3"] * 2 + ["n0"] * 4
    assert part.groups[1] == (0, 0, 1, 1, 1, 1)
    for hosts, words in (([("x", 1)], "no host of the topology"), ([("n0", 5)], "has 4 places")):
        with pytest.raises(IsochroneError, match=words):
            on_hosts(system_of_topology(topology()), hosts)


def test_advice_where_mapping_does_not_help() -> None:
    system = system_of_topology(topology())
    alike = task_graph(16, [(a, b, 10, 1000) for a, b in permutations(range(16), 2)])
    assert map_ranks(Program(alike), system, "time").advice == (
        "all ranks send each other about the same, so no order is better than another"
    )
    in_order = task_graph(16, [(a, a ^ 1, 10, 1000) for a in range(16)])
    assert map_ranks(Program(in_order), system, "time").advice == "the ranks' own order is as good already"
    assert (
        map_ranks(Program(task_graph(16, [])), system, "time").advice == "the ranks send each other nothing"
    )
    helped = map_ranks(Program(talking_in_groups(4, 4, 10_000_000, 10)), system, "time")
    assert helped.advice is None
    assert sum(level.before_bytes for level in helped.traffic) == sum(
        level.after_bytes for level in helped.traffic
    )
    assert helped.traffic[0].after_bytes < helped.traffic[0].before_bytes


@pytest.mark.parametrize("method", methods())
def test_no_method_does_worse_than_ranks_in_their_order(method: str) -> None:
    system = system_of_tree([4, 4])
    random = np.random.default_rng(5)
    for _ in range(10):
        # Nearly as good in their order as can be.
        rows = [(a, a + 1, 1, 100 + int(random.integers(0, 9)) if a % 4 < 3 else 50) for a in range(15)]
        rows += [(a, b, 1, int(random.integers(0, 60))) for a, b in random.integers(0, 16, (20, 2)) if a != b]
        graph = task_graph(16, rows)
        try:
            found = optimise(graph, system, "volume", method=method)
        except IsochroneError:
            assert method == "cartesian"
            continue
        assert found.cost <= found.identity_cost


@pytest.mark.parametrize("objective", ["volume", "time"])
def test_where_nothing_gains_ranks_stay_in_their_order(objective: str) -> None:
    system = system_of_topology(topology())
    even = task_graph(16, [(a, b, 1, 100) for a, b in permutations(range(16), 2)])
    for graph in (task_graph(16, []), even):
        for method in set(methods()) - {"cartesian"}:
            found = optimise(graph, system, objective, method=method)
            assert found.at == found.identity, method


def test_a_file_that_is_read_is_not_written_over(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = tmp_path / "hostfile"
    hosts.write_text("".join(f"n{host} slots=8\n" for host in range(2)), encoding="utf-8")
    before = hosts.read_bytes()
    line = ["map", str(files[0]), "--hosts", str(hosts), "-o", str(tmp_path / "m.json"), "--emit"]
    assert main([*line, f"openmpi-sequential={hosts}"]) == 2
    assert "--hosts: --emit would write to" in capsys.readouterr().err
    assert hosts.read_bytes() == before
    assert main([*line, f"openmpi-sequential={tmp_path / 'other'}"]) == 0


def test_a_grid_of_ranks_finds_no_room_at_places_that_hold_none() -> None:
    edges = [(a, b) for a, b in ((0, 1), (2, 3), (0, 2), (1, 3))]
    graph = task_graph(4, [(a, b, 1, 100) for a, b in edges])
    for capacities in ((1, 1, 1, 1), (0, 2, 1, 1)):
        system = replace(system_of_tree([2, 2]), capacities=capacities)
        if min(capacities) > 0:
            assert sorted(optimise(graph, system, "volume", method="cartesian", dimensions=(2, 2)).at) == [
                *range(4)
            ]
        else:
            with pytest.raises(IsochroneError, match="cartesian does not apply"):
                optimise(graph, system, "volume", method="cartesian", dimensions=(2, 2))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A graph of METIS, of four groups of four ranks, and a topology for it."""
    lines = [
        " ".join(f"{b + 1} {1000 if a % 4 == b % 4 else 1}" for b in range(16) if b != a) for a in range(16)
    ]
    graph = tmp_path / "some.graph"
    graph.write_text("16 120 1\n" + "\n".join(lines) + "\n", encoding="utf-8")
    write_topology(tmp_path / "topology.json", topology())
    return graph, tmp_path / "topology.json"


def test_the_command_writes_a_mapping_and_launchers_files(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, place = files
    out, hosts = tmp_path / "mapping.json", tmp_path / "hosts"
    line = ["map", str(graph), "--topology", str(place), "-o", str(out), "--emit"]
    assert main([*line, f"openmpi-sequential={hosts}", "--json", "--", "./app", "-x"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["cost"] < figures["identity_cost"]
    assert figures["method"] == "portfolio"
    assert figures["objective"] == "time"
    assert figures["emitted"][0]["launch"][-2:] == ["./app", "-x"]
    found = read_mapping(out)
    assert hosts.read_text(encoding="utf-8").split() == [place.host for place in found.places]
    assert len({found.places[rank].host for rank in range(0, 16, 4)}) == 1
    assert main(line[:-1]) == 0
    text = capsys.readouterr().out
    assert "16 ranks, time:" in text
    assert "bytes that meet at" in text


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "no places are given"),
        (("--tree", "4:x"), 2, "is no list of numbers"),
        (("--tree", "9" * 400), 2, "is no list of numbers"),
        (("--tree", ":".join(["9" * 300] * 20)), 2, "places is too large"),
        (("--tree", ":".join("1" * 33)), 2, "a tree of 33 levels is too deep"),
        (
            ("--tree", "4:4", "--grid", "4x4", "--extend", "4000x4000"),
            2,
            "--extend: the grid 4000x4000 is too large",
        ),
        (("--tree", "4:4", "--extend", "8x8"), 2, "--extend: the grid of the ranks is not known"),
        (("--tree", "4:4", "--grid", "x".join(["1"] * 22)), 2, "--grid: the grid 1x1x1"),
        (("--tree", "0:4"), 2, "whole numbers from 1"),
        (("--tree", "4:4", "--hosts", "h"), 2, "a tree has no hosts"),
        (("--tree", "4:4", "--distances", "1:-2"), 2, "a distance is negative"),
        (("--tree", "4:4", "--distances", "1:nan"), 2, "a distance is negative"),
        (
            ("--tree", "4:4", "--distances", "1e308:1.7e308"),
            1,
            "cost more together than numbers can tell apart",
        ),
        (("--tree", "4:4", "--method", "best"), 2, "is no method"),
        (("--tree", "4:4", "--grid", "3x3"), 2, "--grid: the dimensions are not those of a grid of 16 ranks"),
        (("--tree", "4:4", "--fix", "0=n0"), 2, "has no place left"),
        (("--tree", "4:4", "--emit", "slurm-hostfile"), 2, "no hosts to launch on"),
        (("--tree", "4:4", "--time", "soon"), 2, "is no time"),
        (("--tree", "4:4", "--phase", "1"), 1, "only what `isochrone record` wrote has phases"),
        (("--topology", "small.json"), 1, "16 ranks have room at places for 4 only"),
        (("--topology", "topology.json", "--fix", "99=n0"), 2, "'99=n0' is no rank and host"),
        (("--topology", "topology.json", "--fix", "0"), 2, "'0' is no rank and host"),
        (("--topology", "topology.json", "--emit", "no"), 2, "is no form"),
        (
            ("--topology", "topology.json", "--emit", "mpich-rankmap", "--emit", "slurm-hostfile"),
            2,
            "two forms would be written to 'hostfile'; write slurm-hostfile=ANOTHER_FILE",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    files: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_topology("small.json", topology(2, 2))
    assert main(["map", str(files[0]), *options]) == code
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert not Path("mapping.json").exists()


def test_a_file_of_another_kind_is_not_replaced(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    graph, place = files
    before = place.read_bytes()
    assert main(["map", str(graph), "--topology", str(place), "-o", str(place)]) == 1
    assert "holds topology" in capsys.readouterr().err
    assert place.read_bytes() == before


def test_fixed_ranks_stay_and_hosts_limit(files: tuple[Path, Path], tmp_path: Path) -> None:
    graph, place = files
    out = tmp_path / "mapping.json"
    line = ["map", str(graph), "--topology", str(place), "-o", str(out), "--fix", "5=n3", "--fix", "6=n0"]
    assert main(line) == 0
    found = read_mapping(out)
    assert (found.places[5].host, found.places[6].host) == ("n3", "n0")


def test_a_search_can_be_interrupted() -> None:
    graph, system = talking_in_groups(4, 4, 1000, 1), system_of_topology(topology())

    def interrupt(gone_s: float) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    # A command that ran before in this process has left its own handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            optimise(graph, system, seconds=60, tick=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)


def test_pictures_of_a_mapping(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, place = files
    line = ["map", str(graph), "--topology", str(place), "-o", str(tmp_path / "m.json"), "--pictures"]
    assert main([*line, str(tmp_path / "drawn"), "--json"]) == 0
    drawn = [Path(path) for path in json.loads(capsys.readouterr().out)["pictures"]]
    assert [path.name for path in drawn] == [
        "tasks.dot",
        "system.dot",
        "traffic.png",
        "traffic.svg",
        "traffic.pdf",
    ]
    assert all(path.stat().st_size > 0 for path in drawn)
    tasks, system = (path.read_text(encoding="utf-8") for path in drawn[:2])
    assert tasks.count(" -- ") == 16 * 15 // 2
    assert tasks.count("subgraph") == 4
    # The machine's four nodes, and four places on each.
    assert system.count(" -- ") == 4 + 16
    assert 'label="n3 2"' in system
    assert tasks.count("{") == tasks.count("}")


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_the_matrix_of_bytes_keeps_all_of_them(ranks: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.stack([*random.integers(0, ranks, (2, 50)), *random.integers(0, 9, (2, 50))], axis=1)
    graph = task_graph(ranks, rows)
    order = random.permutation(ranks)
    for most in (1024, 7):
        found = byte_matrix(graph, order, most)
        assert found.sum() == graph.volume_bytes.sum()
        assert found.shape == (min(ranks, most),) * 2
    found = byte_matrix(graph, order, ranks)
    for i in range(ranks):
        of_rank = graph.volume_bytes[graph.sources == order[i]]
        assert found[i].sum() == of_rank.sum()
