# SPDX-License-Identifier: BSD-3-Clause
"""topology.json, plan.json, work.json and bench.jsonl: read as written, refused when they cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    BenchCase,
    BenchKey,
    Case,
    Evidence,
    Level,
    LibraryReference,
    Links,
    MpiLibrary,
    Place,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    Work,
    provenance,
    read_bench,
    read_plan,
    read_topology,
    read_work,
    write_bench,
    write_plan,
    write_topology,
    write_work,
)

LINKS = Links(1e-6, ((0, 2e-7), (1024, 3e-7)), ((0, 0.0),), ((0, 0.0), (65536, 7e-6)))

TOPOLOGY = Topology(
    places=tuple(Place(f"n{k // 2}", str(k % 2), "x") for k in range(4)),
    ranks=(3, 2, 1, 0),
    levels=(Level("machine", ((0, 1, 2, 3),), 1.0, LINKS), Level("node", ((0, 1), (2, 3)), 0.9, None)),
    accuracy={"node": 1.0},
)

EVIDENCE = Evidence(1e-5, 7e-6, 1.43, (1.4, 1.5), 20, predicted_s=6.8e-6, measured_bytes=4096)

PLAN = Plan(
    topology=PlannedTopology(TOPOLOGY.fingerprint, "topology.json"),
    mpi=LibraryReference("Open MPI v4.1.4", "libmpi.so.40"),
    rules=(
        Rule("bcast", "4 ranks", 1, 4096, "hierarchical(machine=binomial,node=native)", EVIDENCE),
        Rule("bcast", "4 ranks", 4097, 65536, "native", structs.replace(EVIDENCE, predicted_s=None)),
    ),
)

WORK = Work(
    repetitions=10,
    seed=1,
    cases=(
        Case(1024, 0, ("native", "binomial@65536", "plan")),
        Case(0, 3, ("native",), "barrier"),
        Case(8, 0, ("native",), "halo", is_pattern=True),
    ),
    rival_repetitions=5,
    patience_s=2.5,
    least_repetitions=3,
)

BENCH = Bench(
    places=TOPOLOGY.places,
    mpi=MpiLibrary("Open MPI", "3.1", "libmpi.so.40"),
    start="clock",
    sync_error_s=1e-6,
    oversubscribed=False,
    simulated=True,
    slowest_s={
        BenchKey(1024, 0, "native"): np.array([3.0, 1.0, 2.0]),
        BenchKey(1024, 0, "plan"): np.array([1.0, 1.0]),
    },
    elapsed_s=2.0,
)


def change(path, edit):
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def test_a_topology_is_read_as_written(tmp_path):
    write_topology(tmp_path / "topology.json", TOPOLOGY)
    assert read_topology(tmp_path / "topology.json") == TOPOLOGY
    assert TOPOLOGY.labels(TOPOLOGY.levels[1]) == (1, 1, 0, 0)


def test_the_fingerprint_tells_trees_apart_and_ignores_times():
    node = TOPOLOGY.levels[1]
    other = structs.replace(
        TOPOLOGY, levels=(TOPOLOGY.levels[0], structs.replace(node, groups=((0, 2), (1, 3))))
    )
    slower = structs.replace(
        TOPOLOGY,
        levels=(structs.replace(TOPOLOGY.levels[0], links=structs.replace(LINKS, latency_s=2e-6)), node),
    )
    assert other.fingerprint != TOPOLOGY.fingerprint
    assert slower.fingerprint == TOPOLOGY.fingerprint


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.update(isochrone="plan"), "this is a plan file"),
        (lambda d: d.update(schema_version=9), "schema_version 9"),
        (lambda d: d.pop("levels"), "levels"),
        (lambda d: d.update(surprise=1), "surprise"),
        (lambda d: d["levels"][1]["groups"][0].append(3), "node is no partition"),
        (lambda d: d["levels"][1].update(groups=[[0, 1]]), "node is no partition"),
        (lambda d: d["levels"][1].update(groups=[[0, 1], [2, 9]]), "node is no partition"),
        (lambda d: d["levels"][1].update(name="machine"), "two levels have one name"),
        (lambda d: d["levels"][1].update(name="rm -rf"), "levels.1..name"),
        (lambda d: d["levels"].pop(0), "is not one group"),
        (
            lambda d: d["levels"].append({**d["levels"][1], "name": "l3", "groups": [[0, 2], [1, 3]]}),
            "l3 does not refine",
        ),
        (lambda d: d.update(ranks=[0, 4]), "place 4 of a rank"),
        (lambda d: d["places"].__setitem__(1, d["places"][0]), "a place occurs twice"),
        (lambda d: d["places"][1].update(host="elsewhere"), "fingerprint does not fit"),
        (lambda d: d["levels"][1].update(groups=[[0, 2], [1, 3]]), "fingerprint does not fit"),
        (lambda d: d["levels"][0]["links"].update(latency_s=-1), "latency_s"),
        (lambda d: d["levels"][0]["links"].update(gap_s=[[5, 1], [5, 2]]), "must rise in bytes"),
        (lambda d: d["levels"][0].update(confidence=2), "confidence"),
        (lambda d: d.update(numbers=[0, 1]), "the numbers are not one for each rank"),
        (lambda d: d.update(numbers=[0, 1, 3, 2]), "the numbers are not one for each rank"),
        (lambda d: d.update(numbers=[0, 1, 2, -3]), "numbers"),
    ],
)
def test_a_topology_that_cannot_be_is_refused_in_one_line(tmp_path, edit, message):
    path = tmp_path / "topology.json"
    write_topology(path, TOPOLOGY)
    change(path, edit)
    with pytest.raises(IsochroneError, match=message) as caught:
        read_topology(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_no_topology_is_written_that_could_not_be_read(tmp_path):
    broken = structs.replace(
        TOPOLOGY, levels=(TOPOLOGY.levels[0], structs.replace(TOPOLOGY.levels[1], groups=((0,),)))
    )
    with pytest.raises(IsochroneError, match="no partition"):
        write_topology(tmp_path / "topology.json", broken)
    assert list(tmp_path.iterdir()) == []


def test_damaged_json_is_one_line_with_the_line_number(tmp_path):
    path = tmp_path / "topology.json"
    write_topology(path, TOPOLOGY)
    path.write_text(path.read_text()[:200])
    with pytest.raises(IsochroneError, match=r"topology\.json:\d+: damaged JSON"):
        read_topology(path)


def test_a_plan_is_read_as_written(tmp_path):
    write_plan(tmp_path / "plan.json", PLAN)
    assert read_plan(tmp_path / "plan.json") == PLAN


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: d["rules"][1].update(min_bytes=4096),
            "two rules for bcast on '4 ranks' hold for 4096 bytes",
        ),
        (lambda d: d["rules"][0].update(min_bytes=5000), "min_bytes 5000 is above max_bytes"),
        (lambda d: d["rules"][0].update(min_bytes=-1), "min_bytes"),
        (lambda d: d["rules"][0].update(recipe=""), "recipe"),
        (lambda d: d["rules"][0].update(recipe="two\nlines"), "recipe"),
        (
            lambda d: d["rules"][1].update(recipe="newtree(2)"),
            r"rules\[1\]: recipe 'newtree\(2\)', character 8",
        ),
        (lambda d: d["rules"][0].update(shape="two\nlines"), "shape"),
        (lambda d: d["topology"].update(file="old/topology.json"), "topology.file"),
        (lambda d: d["topology"].update(file=".."), "topology.file"),
        (lambda d: d["rules"][0]["evidence"].update(speedup_ci=[2, 1]), "speedup_ci"),
        (lambda d: d["topology"].update(fingerprint="beef"), "fingerprint"),
        (lambda d: d["topology"].update(levels=["machine", "machine"]), "topology.levels: items occur twice"),
        (lambda d: d["rules"][0].update(basis="guessed"), r"rules\[0\].basis"),
        (
            lambda d: d["rules"][1].update(surveyed={**d["rules"][1], "recipe": "newtree(2)"}),
            r"rules\[1\].surveyed",
        ),
        (
            lambda d: d["rules"][1].update(
                surveyed={"recipe": "newtree(2)", "evidence": d["rules"][1]["evidence"]}
            ),
            r"rules\[1\]: recipe 'newtree\(2\)', character 8",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_one_line(tmp_path, edit, message):
    path = tmp_path / "plan.json"
    write_plan(path, PLAN)
    change(path, edit)
    with pytest.raises(IsochroneError, match=message) as caught:
        read_plan(path)
    assert "\n" not in str(caught.value)


def test_work_is_read_as_written(tmp_path):
    write_work(tmp_path / "work.json", WORK)
    assert read_work(tmp_path / "work.json") == WORK


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.update(seed=1 << 64), "seed: is above 18446744073709551615"),
        (
            lambda d: d["cases"][0].update(recipes=["native", "native"]),
            r"cases\[0\].recipes: items occur twice",
        ),
    ],
)
def test_work_that_cannot_be_is_refused(tmp_path, edit, message):
    write_work(tmp_path / "work.json", WORK)
    change(tmp_path / "work.json", edit)
    with pytest.raises(IsochroneError, match=message):
        read_work(tmp_path / "work.json")


def test_work_without_recipes_is_refused(tmp_path):
    with pytest.raises(IsochroneError, match="recipes"):
        write_work(tmp_path / "work.json", structs.replace(WORK, cases=(Case(1, 0, ()),)))


def test_times_are_grouped_by_size_root_and_recipe_in_the_order_of_repetitions(tmp_path):
    path = tmp_path / "bench.jsonl"
    write_bench(path, BENCH)
    header, *times, end = path.read_text().splitlines()
    path.write_text("\n".join([header, *reversed(times), end]))
    bench = read_bench(path)
    assert bench.slowest_s[BenchKey(1024, 0, "native")].tolist() == [3.0, 1.0, 2.0]
    assert bench.cases == (BenchCase(1024, 0),)
    assert set(bench.recipes(BenchCase(1024, 0))) == {"native", "plan"}
    assert (bench.elapsed_s, bench.ranks, bench.simulated) == (2.0, 4, True)


def test_times_of_several_collectives_are_kept_apart(tmp_path):
    times = {
        BenchKey(8, 0, "native", name): np.array([seconds])
        for name, seconds in (("bcast", 1.0), ("allreduce", 2.0))
    }
    write_bench(tmp_path / "bench.jsonl", replace(BENCH, slowest_s=times))
    bench = read_bench(tmp_path / "bench.jsonl")
    assert bench.collectives == ("bcast", "allreduce")
    assert {key.collective: values.tolist() for key, values in bench.slowest_s.items()} == {
        "bcast": [1.0],
        "allreduce": [2.0],
    }
    assert list(bench.of("allreduce")) == [BenchKey(8, 0, "native", "allreduce")]


def test_times_of_patterns_have_what_their_bandwidth_counts(tmp_path):
    path = tmp_path / "bench.jsonl"
    key = BenchKey(8, 0, "native", "multipair")
    write_bench(
        path, replace(BENCH, slowest_s={**BENCH.slowest_s, key: np.ones(2)}, moved_bytes={key.case: 16})
    )
    bench = read_bench(path)
    assert bench.moved_bytes == {key.case: 16}
    assert bench.slowest_s[key].tolist() == [1.0, 1.0]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line.get("pattern", line.get("collective")) for line in lines[1:-1]} == {"multipair", "bcast"}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line.pop("moved_bytes"), "moved_bytes"),
        (lambda line: line.pop("pattern"), "pattern"),
        (lambda line: line.update(collective="bcast"), "collective"),
        (lambda line: line.update(pattern="bcast"), "'bcast' is a pattern in one line and a collective in"),
        (lambda line: line.update(pattern="../x"), "pattern"),
    ],
)
def test_a_time_is_of_a_collective_or_of_a_pattern(tmp_path, edit, message):
    path = tmp_path / "bench.jsonl"
    key = BenchKey(8, 0, "native", "multipair")
    write_bench(
        path, replace(BENCH, slowest_s={**BENCH.slowest_s, key: np.ones(1)}, moved_bytes={key.case: 16})
    )
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    edit(next(line for line in lines if "pattern" in line))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(IsochroneError, match=message):
        read_bench(path)


@pytest.mark.parametrize(
    "edit", [lambda case: case.update(collective="bcast"), lambda case: case.update(recipes=["binomial"])]
)
def test_a_pattern_has_no_recipes_and_is_no_collective(tmp_path, edit):
    write_work(tmp_path / "work.json", WORK)
    change(tmp_path / "work.json", lambda document: edit(document["cases"][-1]))
    with pytest.raises(IsochroneError, match=r"cases.2"):
        read_work(tmp_path / "work.json")


@pytest.mark.parametrize("named", ["reduce", None], ids=["in the header", "nowhere"])
def test_files_whose_cases_name_no_collective_are_of_one(tmp_path, named):
    work, path = tmp_path / "work.json", tmp_path / "bench.jsonl"
    write_work(work, structs.replace(WORK, cases=WORK.cases[:1]))
    common = {} if named is None else {"collective": named}

    def forget(document):
        document |= common
        for case in document["cases"]:
            del case["collective"]

    change(work, forget)
    write_bench(path, BENCH)
    header, *times = [json.loads(line) for line in path.read_text().splitlines()]
    for line in times:
        line.pop("collective", None)
    path.write_text("".join(json.dumps(line) + "\n" for line in [header | common, *times]))
    assert [case.collective for case in read_work(work).cases] == [named or "bcast"]
    assert read_bench(path).collectives == (named or "bcast",)


def test_a_bench_that_was_cut_off_keeps_what_it_has(tmp_path):
    path = tmp_path / "bench.jsonl"
    write_bench(path, BENCH)
    path.write_text(path.read_text().rpartition('{"end"')[0][:-20])
    bench = read_bench(path)
    assert bench.elapsed_s is None
    assert len(bench.slowest_s[BenchKey(1024, 0, "plan")]) == 1


def test_a_root_beyond_the_ranks_is_refused(tmp_path):
    path = tmp_path / "bench.jsonl"
    write_bench(path, replace(BENCH, slowest_s={BenchKey(1, 4, "native"): np.array([1.0])}))
    with pytest.raises(IsochroneError, match="root 4 is none of 4 ranks"):
        read_bench(path)


def test_files_are_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "work.json"
    write_work(path, WORK)
    before = path.read_text()
    with pytest.raises(IsochroneError):
        write_work(path, structs.replace(WORK, repetitions=0))
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["work.json"]


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(IsochroneError, match="cannot write"):
        write_work(tmp_path / "file" / "work.json", WORK)


def test_provenance_has_command_version_and_job_but_no_user(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("USER", "somebody-in-particular")
    record = provenance(["isochrone", "probe"])
    assert record["command"] == ["isochrone", "probe"]
    assert record["job"] == "4711"
    assert {"time", "host", "version"} <= set(record)
    assert "somebody-in-particular" not in json.dumps(record)
