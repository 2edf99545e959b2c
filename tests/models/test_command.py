# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone model``: from files to a verdict, a document and plots."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic import synthetic
from timed import SIZES, collectives, messages

from isochrone import _core
from isochrone.cli.main import main
from isochrone.detect import detect
from isochrone.files import (
    Bench,
    BenchKey,
    Level,
    MpiLibrary,
    Place,
    StudyFile,
    Topology,
    read_topology,
    topology_document,
    write_bench,
    write_measurements,
    write_study,
    write_topology,
)
from isochrone.files.study import Result
from isochrone.files.text import write_object

HOSTS = ["n0"] * 4 + ["n1"] * 4
NEAR, FAR = (1e-6, 1e-10), (4e-6, 5e-10)
MEASURED = (0, 1024, 16384, 262144, 1 << 20)


def osu(path: Path, title: str, rows: list[tuple[int, float]]) -> Path:
    """As OSU prints it."""
    lines = [f"# OSU MPI {title} Test v7.3", "# Datatype: MPI_CHAR.", "# Size       Avg Latency(us)"]
    lines += [f"{size:<10d}{1e6 * time_s:.3f}" for size, time_s in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def latencies(folder: Path) -> Path:
    made = messages(lambda size: 2e-6 + 1e-10 * size, 0.02, 1)
    return osu(folder / "latency.txt", "Latency", [(each.size_bytes, each.time_s) for each in made])


def broadcasts(folder: Path) -> list[str]:
    """Arguments: a file for each algorithm and number of ranks."""
    found = []
    for algorithm in ("binomial", "chain"):
        for ranks in (4, 8, 16):
            made = collectives("bcast", (algorithm,), (ranks,), SIZES[1::3], 0.02)
            rows = [(each.size_bytes, each.time_s) for each in made]
            path = osu(folder / f"{algorithm}-{ranks}.txt", "Broadcast Latency", rows)
            found.append(f"{path}:ranks={ranks},algorithm={algorithm}")
    return found


def survey(folder: Path) -> Path:
    """Measurements of two nodes of four, and a benchmark of what the core says of them."""
    folder.mkdir()
    generator = np.random.default_rng(1)
    rtt_s = np.full((8, 8, len(MEASURED)), np.nan)
    for a in range(8):
        for b in range(a):
            alpha_s, beta_s = NEAR if HOSTS[a] == HOSTS[b] else FAR
            times_s = 2 * (alpha_s + beta_s * np.array(MEASURED)) * np.exp(0.01 * generator.normal(size=5))
            rtt_s[a, b] = rtt_s[b, a] = times_s
    measured = synthetic(rtt_s, MEASURED, HOSTS)
    write_measurements(folder / "measurements.jsonl", measured)
    topology = detect(measured)[0]
    write_object(folder / "topology.json", topology_document(topology))
    places = tuple(Place(host, str(rank), "synthetic") for rank, host in enumerate(HOSTS))
    layout = _core.match(
        json.dumps(topology_document(topology)), [(p.host, p.cpus, p.signature) for p in places]
    )
    times = {}
    for members, ranks in (("0-3", range(4)), ("0,1,4,5", (0, 1, 4, 5)), ("0-5", range(6)), ("", range(8))):
        part = layout.restricted_to(list(ranks))
        for size in MEASURED[1:]:
            for recipe in ("binomial", "chain"):
                time_s = _core.predict("bcast", part, recipe, 0, size)
                key = BenchKey(size, 0, recipe, "bcast", members)
                times[key] = time_s * np.exp(0.01 * generator.normal(size=5))
            times[BenchKey(size, 0, "native", "bcast", members)] = np.array([1e-5])
    bench = Bench(places, MpiLibrary("synthetic", "3.1", "none"), "clock", 0.0, False, True, times, 1.0)
    write_bench(folder / "bench.jsonl", bench)
    return folder


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["model", *arguments]) == 0
    return capsys.readouterr().out


def test_osu_files_become_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run([str(latencies(tmp_path)), *broadcasts(tmp_path)], capsys)
    assert "messages: 24 times, 24 sizes (0 B to 4 MiB)" in text
    assert "bcast: 48 times, 8 sizes (1 B to 2 MiB), on 4, 8, 16 ranks, 2 algorithms" in text
    assert text.count("Trust hockney, within 20 %, for ") == 2
    assert "alpha = " in text


def test_a_document_and_plots_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    printed = json.loads(run([str(latencies(tmp_path)), "--json", "-o", str(output)], capsys))
    written = json.loads((output / "models.json").read_text(encoding="utf-8"))
    assert written == printed
    (subject,) = printed["subjects"]
    assert subject["trusted"] == "hockney"
    hockney = subject["models"][0]
    assert [each["unit"] for each in hockney["parameters"]] == ["s", "s/B"]
    assert hockney["held_out"]["size"]["median"] < 0.05
    assert all(spot["holds"] for spot in hockney["spots"]["size"])
    assert {each.suffix for each in output.glob("residuals-messages.*")} == {".png", ".svg", ".pdf"}


def test_a_survey_is_modelled_level_by_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run([str(survey(tmp_path / "s")), "--json"], capsys))
    by_name = {each["name"]: each for each in document["subjects"]}
    assert list(by_name) == [
        "messages at level machine",
        "messages at level node",
        "bcast",
        "bcast, by algorithms of which no messages are known",
    ]
    for name, (alpha_s, beta_s) in (("machine", FAR), ("node", NEAR)):
        alpha, beta = by_name[f"messages at level {name}"]["models"][0]["parameters"]
        assert alpha["low"] <= alpha_s <= alpha["high"]
        assert beta["low"] <= beta_s <= beta["high"]
    # The core made these times with links as PLogP has them.
    bcast = by_name["bcast"]
    assert bcast["ranks"] == [4, 6, 8]
    plogp = next(each for each in bcast["models"] if each["model"] == "plogp")
    assert plogp["fitted"] == 0
    assert plogp["in_sample"]["p95"] < 0.05
    worse = {each["model"]: each["proven_worse"] for each in bcast["ranking"]}
    assert (worse["survey"], worse["plogp"], worse["linear"]) == (False, False, True)
    assert "plogp" in by_name["bcast, by algorithms of which no messages are known"]["not_fitted"]


def study(folder: Path, done: bool = True) -> Path:
    """Of broadcasts on the hosts of a survey, core by core and node by node."""
    (folder / "measured").mkdir(parents=True)
    results = []
    orders = {"core": (0, 1, 2, 3, 4, 5, 6, 7), "node": (0, 4, 1, 5, 2, 6, 3, 7)}
    for placement, order in orders.items():
        for ranks in (2, 4, 8):
            here = order[:ranks]
            hosts = [HOSTS[rank] for rank in here]
            labels = [0 if host == hosts[0] else 1 for host in hosts]
            groups = [tuple(k for k, label in enumerate(labels) if label == each) for each in set(labels)]
            topology = Topology(
                tuple(Place(HOSTS[rank], str(rank), "synthetic") for rank in here),
                tuple(range(ranks)),
                (
                    Level("machine", (tuple(range(ranks)),), None, None),
                    Level("node", tuple(groups), None, None),
                ),
            )
            write_topology(folder / "measured" / f"{placement}-{ranks}.topology.json", topology)
            links = [(alpha_s, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (1 << 20, beta_s * (1 << 20))), None)
                     for alpha_s, beta_s in (FAR, NEAR)]  # fmt: skip
            layout = _core.layout(["machine", "node"], [[0] * ranks, labels], links)
            region = "inside a node" if len(groups) == 1 else "across nodes"
            results += [
                Result(
                    placement=placement,
                    ranks=ranks,
                    per_node=None,
                    region=region,
                    collective="bcast",
                    size_bytes=size,
                    recipe=recipe,
                    repetitions=1,
                    median_s=(time_s := _core.predict("bcast", layout, recipe, 0, size)),
                    ci_s=(time_s, time_s),
                )
                for size in MEASURED[1:]
                for recipe in ("binomial", "chain")
            ]
    write_study(
        folder / "study.json",
        StudyFile(name="placement", target="synthetic", done=done, results=tuple(results) if done else ()),
    )
    return folder


def test_a_study_is_modelled_on_the_links_of_a_survey_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = survey(tmp_path / "s")
    (folder / "bench.jsonl").unlink()
    document = json.loads(run([str(folder), str(study(tmp_path / "study")), "--json"], capsys))
    bcast = next(each for each in document["subjects"] if each["name"] == "bcast")
    assert (bcast["times"], bcast["ranks"]) == (48, [2, 4, 8])
    by_model = {each["model"]: each for each in bcast["models"]}
    # Links that are of other levels, or of ranks elsewhere, are wrong by a factor of four.
    assert by_model["plogp"]["in_sample"]["p95"] < 0.1
    named = {each["name"] for each in by_model["log"]["parameters"]}
    assert {"mapping=node", "region=inside a node"} <= named
    regions = {each["name"] for each in by_model["linear-regions"]["parameters"]}
    assert "region=inside a node:size" in regions


def test_a_study_alone_is_modelled_by_its_covariates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(run([str(study(tmp_path / "study") / "study.json"), "--json"], capsys))
    (bcast,) = document["subjects"]
    assert "log-products" in [each["model"] for each in bcast["models"]]
    assert "survey" not in [each["model"] for each in bcast["models"]]


def test_measurements_alone_have_their_levels_detected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = survey(tmp_path / "s")
    (folder / "topology.json").unlink()
    text = run([str(folder / "measurements.jsonl")], capsys)
    assert "messages at level machine" in text
    assert "messages at level node" in text


def test_a_benchmark_alone_knows_one_host_from_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = survey(tmp_path / "s")
    (folder / "topology.json").unlink()
    document = json.loads(run([str(folder / "bench.jsonl"), "--json"], capsys))
    (bcast,) = document["subjects"]
    log = next(each for each in bcast["models"] if each["model"] == "log")
    assert "region=several hosts" in [each["name"] for each in log["parameters"]]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["missing.txt"], "missing.txt: cannot read", 1),
        (["{latency}:ranks=1"], "is no number of ranks", 2),
        (["{latency}", "--regions", "a"], "is no list of numbers of ranks", 2),
        (["{survey}/topology.json"], "holds topology, and no times", 1),
        (["{survey}/bench.jsonl:ranks=8"], "says itself what it is of", 1),
        (["{empty}"], "has no measurements.jsonl, bench.jsonl or study.json", 1),
        (["{begun}"], "is of a study that is not done", 1),
        (["{study}:ranks=8"], "says itself what it is of", 1),
        (["{lost}"], "cannot read", 1),
        (["{survey}/measurements.jsonl", "--topology", "{other}"], "is of other ranks", 1),
        ([], "Missing argument", 2),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    arguments: list[str], said: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    given = {"latency": latencies(tmp_path), "survey": survey(tmp_path / "s"), "empty": empty}
    given |= {"begun": study(tmp_path / "begun", False), "study": study(tmp_path / "t") / "study.json"}
    given["lost"] = study(tmp_path / "lost")
    (given["lost"] / "measured" / "core-4.topology.json").unlink()
    topology = read_topology(given["survey"] / "topology.json")
    given["other"] = tmp_path / "other.json"
    moved = tuple(Place(f"m{each.host}", each.cpus, each.signature) for each in topology.places)
    write_topology(given["other"], structs.replace(topology, places=moved))
    assert main(["model", *(each.format(**given) for each in arguments)]) == code
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_missing_library_is_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.regression.linear_model", None)
    assert main(["model", str(latencies(tmp_path))]) == 1
    assert "pip install 'isochrone[models]'" in capsys.readouterr().err
