# SPDX-License-Identifier: BSD-3-Clause
"""What `isochrone map` prints and writes: predictions, and ranks in their order without a graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fat_trees import two_level

from isochrone.cli.main import main
from isochrone.files import Graph, Links, Place, Topology, read_mapping, write_graph, write_topology
from isochrone.files.graph import Calls, rows_of
from isochrone.files.topology import Level
from isochrone.units import format_ratio, format_time

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `isochrone map` in an empty folder; gives what it prints, or its error with another exit code."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(["map", *words]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return call


# Without a graph.

HOSTS = "node448 4\nnode449 4\nnode453 4\nnode454 4\n"
"""And what follows are of Getmanskiy et al., Optimizing rank-to-node mapping for MPI programs on large
clusters.
"""
COLLECT = "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE /path/to/stat/file.txt -wdir /path/to/work/dir"


def in_order(form: str, *more: str) -> tuple[str, ...]:
    return ("--hosts", "hostlist.txt", "--method", "identity", "--emit", form, *more)


def test_a_program_is_started_for_the_first_time_on_all_cores_in_their_order(run: Run) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    told = run(*in_order("intel-configfile=original.cfg"), "--extra", COLLECT, "--", "/path/to/application")
    assert Path("original.cfg").read_text() == "".join(
        f"{COLLECT} -n 4 -host {host} /path/to/application\n"
        for host in ("node448", "node449", "node453", "node454")
    )
    assert told.splitlines() == [
        "16 ranks in their order: nothing is known of what they send",
        "Mapping: mapping.json",
        "intel-configfile: mpirun -configfile original.cfg",
    ]
    found = read_mapping("mapping.json")
    assert found.places == found.identity
    assert [place.host for place in found.places[3:5]] == ["node448", "node449"]
    assert (found.levels, found.prediction, found.advice) == ((), None, None)


def test_hosts_may_have_different_numbers_of_cores(run: Run) -> None:
    Path("hostlist.txt").write_text("node400 12\nnode402 6\n")
    run(*in_order("intel-configfile=c"), "--", "app")
    assert Path("c").read_text() == "-n 12 -host node400 app\n-n 6 -host node402 app\n"


def test_switches_of_the_hosts_count_too(run: Run) -> None:
    """Ranks that talk most are on hosts of one switch."""
    Path("hosts").write_text("h0 1\nh1 1\nh2 1\nh3 1\n")
    Path("topology.conf").write_text(
        "SwitchName=a Nodes=h0,h2\nSwitchName=b Nodes=h1,h3\nSwitchName=top Switches=a,b\n"
    )
    Path("edges").write_text("4 3 001\n2 1000\n1 1000 3 10\n2 10 4 1000\n3 1000\n")
    options = ("edges", "--format", "metis", "--hosts", "hosts", "--fabric")
    run(*options, "topology.conf")
    at = [place.host for place in read_mapping("mapping.json").places]
    assert [{at[0], at[1]}, {at[2], at[3]}] in ([{"h0", "h2"}, {"h1", "h3"}], [{"h1", "h3"}, {"h0", "h2"}])
    dumps = two_level(2, 2, 1).dump(Path("dumps"))
    net = (dumps / "ibnetdiscover.txt").read_text()
    for name, host in zip(two_level(2, 2, 1).hosts, ("h0", "h2", "h1", "h3"), strict=True):
        net = net.replace(name, host)
    (dumps / "ibnetdiscover.txt").write_text(net)
    Path("mapping.json").unlink()
    run(*options, "dumps")
    assert [place.host for place in read_mapping("mapping.json").places] == at
    assert "give --hosts" in run("edges", "--tree", "2:2", "--fabric", "topology.conf", code=2)


def test_programs_are_told_that_nothing_is_known(run: Run) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    found = json.loads(run(*in_order("slurm-hostfile"), "--json", "--", "app", "-x"))
    assert found["ranks"] == 16
    assert found["levels"] == []
    assert found["prediction"] is None
    assert found["advice"] is None
    assert found["unpredicted"] == "nothing is known of what they send"
    assert found["emitted"][0]["launch"][-2:] == ["app", "-x"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "portfolio"), "graph.json: cannot read"),
        ((), "graph.json: cannot read"),
        (("--method", "identity", "--phase", "1"), "graph.json: "),
        (("--method", "identity", "--format", "intel"), "graph.json: cannot read"),
        (("other.json", "--method", "identity"), "other.json: cannot read"),
        (("graph.json", "--method", "identity"), "graph.json: cannot read"),
    ],
)
def test_a_graph_that_is_asked_for_has_to_be_there(run: Run, options: tuple[str, ...], words: str) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    error = run(*options, "--hosts", "hostlist.txt", "--emit", "intel-configfile", "--", "app", code=1)
    assert words in error
    assert len(error.splitlines()) == 1
    assert not Path("mapping.json").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "intel-configfile files name the program"),
        (("--", "app", "a#b"), "would be read otherwise"),
        (("--extra", "-x 'a", "--", "app"), "close the quotes"),
    ],
)
def test_words_that_a_form_cannot_have_are_refused_before_anything_is_written(
    run: Run, more: tuple[str, ...], words: str
) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    error = run(*in_order("intel-configfile"), *more, code=2)
    assert words in error
    assert len(error.splitlines()) == 1
    assert not Path("mapping.json").exists()


def test_a_graph_that_is_there_is_read(run: Run) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    write_graph("graph.json", Graph(3, rows_of([(1, 0, 2, 1, 100)])))
    run(*in_order("intel-configfile=c"), "--", "app")
    assert Path("c").read_text() == "-n 3 -host node448 app\n"
    Path("graph.json").write_text("{")
    assert "graph.json" in run(*in_order("intel-configfile=c"), "--", "app", code=1)


def test_what_follows_the_dashes_is_the_program_and_never_the_graph(run: Run) -> None:
    Path("hostlist.txt").write_text(HOSTS)
    write_graph("graph.json", Graph(2, rows_of([(1, 0, 1, 1, 100)])))
    write_graph("other.json", Graph(3, rows_of([(1, 0, 1, 1, 100)])))
    line = ("--hosts", "hostlist.txt", "--emit", "intel-configfile=c", "--")
    run(*line, "other.json", "--", "-x")
    assert Path("c").read_text() == "-n 2 -host node448 other.json -- -x\n"
    run("other.json", *line, "app")
    assert Path("c").read_text() == "-n 3 -host node448 app\n"


def statistics(ranks: int, groups: int) -> str:
    """In the form of Intel MPI, of groups of ranks r, r + groups, ... that talk much."""
    blocks = []
    for source in range(ranks):
        rows = "".join(
            f"{source:03} --> {target:03}\t{10 if source % groups == target % groups else 0.01:.6e}\t100\n"
            for target in range(ranks)
            if target != source
        )
        blocks.append(
            f"~~~~ Process {source} of {ranks} on node node448\n\nData Transfers\n"
            f"Src\tDst\tAmount(MB)\tTransfers\n-----\n{rows}=====\nTotals\t1.0\t100\n"
        )
    return "Intel(R) MPI Library Version 4.1\n\n" + "\n".join(blocks)


def test_statistics_of_the_first_run_give_the_second_its_order_and_both_graphs(run: Run) -> None:
    Path("hostlist.txt").write_text("node448 4\nnode449 4\n")
    Path("stats.txt").write_text(statistics(8, 2))
    line = ("stats.txt", "--hosts", "hostlist.txt", "--emit", "intel-configfile=optimized.cfg")
    told = run(
        *line, "--extra", "-env I_MPI_STATS 4 -wdir /d", "--pictures", "drawn", "--", "/path/to/application"
    )
    lines = Path("optimized.cfg").read_text().splitlines()
    form = r"-env I_MPI_STATS 4 -wdir /d -n (\d) -host (node44[89]) /path/to/application"
    runs = [re.fullmatch(form, each) for each in lines]
    hosts = [found[2] for found in runs if found for _ in range(int(found[1]))]
    assert len(hosts) == 8
    assert len(set(hosts[0::2])) == len(set(hosts[1::2])) == 1
    assert hosts[0] != hosts[1]
    assert "No time is predicted: the links of the places are not measured." in told
    assert Path("drawn/tasks.dot").exists()
    assert Path("drawn/system.dot").exists()


# Predictions.


@pytest.fixture
def survey(tmp_path: Path) -> Topology:
    """The topology of two nodes of two cores, written to the folder."""
    links = [
        Links(latency_s, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (1 << 20, gap_s)))
        for latency_s, gap_s in ((50e-6, 1e-2), (1e-6, 1e-4))
    ]
    places = tuple(Place(f"n{i // 2}", str(i % 2), "1x1") for i in range(4))
    found = Topology(
        places=places,
        ranks=(0, 1, 2, 3),
        levels=(
            Level("machine", ((0, 1, 2, 3),), None, links[0]),
            Level("node", ((0, 1), (2, 3)), None, links[1]),
        ),
    )
    write_topology(tmp_path / "topology.json", found)
    return found


def recorded(**fields: Any) -> None:
    """Ranks 0 and 2, and 1 and 3, exchange much."""
    rows = [(1, a, b, 10, 10_000_000 if a % 2 == b % 2 else 10) for a, b in permutations(range(4), 2)]
    write_graph("graph.json", Graph(4, rows_of(rows), **fields))


def predicted(what: str, before_s: float, after_s: float) -> str:
    ratio = format_ratio(before_s / after_s)
    return (
        f"Predicted, {what}: {format_time(before_s)} in their order, {format_time(after_s)} mapped, "
        f"{ratio} as fast"
    )


def test_the_time_of_messages_is_predicted_in_words_and_figures(run: Run, survey: Topology) -> None:
    recorded()
    told = run("--topology", "topology.json")
    found = json.loads(run("--topology", "topology.json", "--json"))
    prediction = found["prediction"]
    assert prediction["mapped_s"] < prediction["identity_s"] / 10
    assert (prediction["run_s"], prediction["mapped_run_s"], found["unpredicted"]) == (None, None, None)
    lines = [line for line in told.splitlines() if "redicted" in line]
    assert lines == [predicted("messages alone", prediction["identity_s"], prediction["mapped_s"])]


def test_of_a_recorded_run_only_the_messages_get_faster(run: Run, survey: Topology) -> None:
    recorded(seconds=30.0, places=survey.places)
    told = run("--topology", "topology.json")
    prediction = json.loads(run("--topology", "topology.json", "--json"))["prediction"]
    gained_s = prediction["identity_s"] - prediction["mapped_s"]
    assert prediction["run_s"] == 30.0
    assert prediction["mapped_run_s"] == pytest.approx(30.0 - gained_s)
    lines = [line for line in told.splitlines() if "redicted" in line]
    assert lines == [
        predicted("messages alone", prediction["identity_s"], prediction["mapped_s"]),
        predicted("recorded run", 30.0, prediction["mapped_run_s"]),
    ]


def test_a_run_in_another_order_tells_no_time_of_this_one(run: Run, survey: Topology) -> None:
    # On the other host, or so that nobody knows where.
    for places in (survey.places[::-1], ()):
        recorded(seconds=30.0, places=places)
        told = run("--topology", "topology.json")
        assert "Predicted, messages alone: " in told
        assert "recorded run" not in told


def test_a_gain_that_rounds_to_nothing_is_not_told(run: Run, survey: Topology) -> None:
    write_graph("graph.json", Graph(4, rows_of([(1, 0, 1, 1, 100), (1, 2, 3, 1, 100)])))
    told = run("--topology", "topology.json", "--method", "greedy")
    assert re.search(r"mapped$", told.splitlines()[0])
    recorded()
    assert re.search(r"mapped, [\d.]+× less$", run("--topology", "topology.json").splitlines()[0])


# What is kept apart.

BARRIERS = Calls(
    *(np.array(each) for each in ([1, 3], ["barrier", "bcast"], [0, 0], [0, 0], [7, 5], [0, 500]))
)


def test_collectives_that_are_kept_apart_are_not_called_nothing(run: Run) -> None:
    write_graph("graph.json", Graph(4, rows_of([]), calls=BARRIERS, groups=(((0, 4, 1),),)))
    for more, number in (((), 12), (("--phase", "3"), 5)):
        told = run("--tree", "2:2", *more)
        assert (
            f"Mapping does not help: there is nothing but {number} calls of collectives, kept apart and not "
            "counted: list their messages with isochrone record --add GRAPH -o LISTED." in told
        )
    assert main(["record", "--add", "graph.json", "-o", "listed.json"]) == 0
    assert "kept apart" not in run("listed.json", "--tree", "2:2")
    write_graph("graph.json", Graph(4, rows_of([(1, 0, 1, 1, 9)]), calls=BARRIERS, groups=(((0, 4, 1),),)))
    told = run("--tree", "2:2")
    assert "Mapping does not help: the ranks' own order is as good already beside 12 calls of" in told
    ranks = 1 << 14
    write_graph("graph.json", Graph(ranks, rows_of([]), calls=BARRIERS, groups=(((0, ranks, 1),),)))
    assert main(["record", "--add", "graph.json", "-o", "listed.json"]) == 0
    told = run("listed.json", "--tree", f"{ranks}", "--method", "identity")
    assert "12 calls of collectives, kept apart and not counted: they have too many messages" in told


def test_a_phase_may_have_only_collectives_of_which_ranks_know_their_own_sizes(run: Run) -> None:
    rows = rows_of([(1, 0, 1, 1, 100)])
    pieces = rows_of([(2, 0, 3, 1, 700)], ["alltoallv"])
    write_graph("graph.json", Graph(4, rows, pieces=pieces))
    found = json.loads(run("--tree", "2:2", "--phase", "2", "--json"))
    assert sum(level["before_bytes"] for level in found["levels"]) == 700
    assert "there is no phase 3; it has 1, 2" in run("--tree", "2:2", "--phase", "3", code=1)


@pytest.mark.parametrize("weights", [True, False])
def test_where_nothing_is_predicted_a_line_says_why(run: Run, survey: Topology, weights: bool) -> None:
    if weights:
        Path("some.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n4 4 1\n1 3 100\n")
        line, why = ("some.mtx", "--topology", "topology.json"), "the graph tells weights, not messages"
    else:
        recorded()
        line, why = ("--tree", "2:2"), "the links of the places are not measured"
    assert f"No time is predicted: {why}." in run(*line).splitlines()
    found = json.loads(run(*line, "--json"))
    assert (found["prediction"], found["unpredicted"]) == (None, why)
    assert read_mapping("mapping.json").prediction is None
