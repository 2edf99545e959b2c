# SPDX-License-Identifier: BSD-3-Clause
"""A study goes on where it was stopped, has one source for what its page shows, and refuses what is not its
own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from made_bench import MadeBench
from report_page import Reader

from isochrone.cli.main import main
from isochrone.files import Bench, MpiLibrary, Work, read_study
from isochrone.files.schema import KINDS
from isochrone.launch.target import Target
from isochrone.studies.table import STUDIES

SYSTEM = """
name: eight
nodes: 2
sockets: 2
cores: 2
links:
  socket:  {latency: 0.3us, bandwidth: 10GB/s}
  node:    {latency: 0.6us, bandwidth: 8GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
"""
NAMES = [study.name for study in STUDIES]


@pytest.fixture
def system(tmp_path: Path) -> Path:
    path = tmp_path / "eight.yaml"
    path.write_text(SYSTEM, encoding="utf-8")
    return path


@pytest.fixture
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that nobody looks at are not drawn: that takes longer than all else."""

    def save(drawing: object, folder: Path, stem: str) -> list[Path]:
        path = folder / f"{stem}.svg"
        path.write_text("<svg/>", encoding="utf-8")
        return [path]

    monkeypatch.setattr("isochrone.studies.page.save", save)


def _made(patch: pytest.MonkeyPatch, made: MadeBench) -> MadeBench:
    patch.setattr("isochrone.steps.rounds.run_bench", made)
    return made


def _words(name: str, system: Path, folder: Path, *more: str) -> list[str]:
    return ["study", name, "--sim", str(system), "-o", str(folder), *more]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", ["0", "0.2"])
def test_the_page_shows_the_tables_of_study_json_and_its_figures_are_files(
    name: str, noise: str, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(monkeypatch, MadeBench(noise=float(noise)))
    folder = tmp_path / "s"
    assert main(_words(name, system, folder, "--noise", noise)) == 0
    page = Reader((folder / "report.html").read_text(encoding="utf-8"))
    assert page.closed()
    assert page.scripts == []
    study = read_study(folder / "study.json")
    assert study.done
    assert study.headline in page.text
    shown = [attributes.get("aria-label") for tag, attributes in page.elements if tag == "div"]
    for table in study.tables.values():
        assert table.rows
        assert table.caption in shown
        assert all(len(row) == len(table.head) for row in table.rows)
        for cell in {cell for row in table.rows for cell in row}:
            assert cell in page.text
    linked = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    files = {f"figures/{file.name}" for file in (folder / "figures").iterdir()}
    assert files == {link for link in linked if link and link.startswith("figures/")}
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert 3 * len(images) == len(files)
    assert all(image["alt"] and str(image["src"]).startswith("data:image/svg+xml") for image in images)


@pytest.mark.usefixtures("quick_figures")
@pytest.mark.parametrize("name", NAMES)
def test_one_that_was_stopped_goes_on_and_ends_with_the_same(
    name: str, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _made(monkeypatch, MadeBench())
    assert main(_words(name, system, tmp_path / "whole")) == 0
    stopped = _made(monkeypatch, MadeBench(fails_after=1))
    assert main(_words(name, system, tmp_path / "again")) == 1
    assert not read_study(tmp_path / "again" / "study.json").done
    rest = _made(monkeypatch, MadeBench())
    assert main(_words(name, system, tmp_path / "again")) == 0
    assert stopped.runs + rest.runs == whole.runs
    one, other = (read_study(tmp_path / folder / "study.json") for folder in ("whole", "again"))
    assert (one.results, one.headline) == (other.results, other.headline)
    # What this process takes is timed anew for each page.
    one.tables.pop("setup", None)
    other.tables.pop("setup", None)
    assert one.tables == other.tables
    last = _made(monkeypatch, MadeBench())
    assert main(_words(name, system, tmp_path / "again")) == 0
    assert last.runs == 0


@pytest.mark.usefixtures("quick_figures")
def test_trees_are_laid_by_speeds_where_cables_differ_and_its_server_may_have_another_port(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[bool, str]] = []

    class Listening(MadeBench):
        def __call__(self, target: Target, work: Work, *files: Path) -> Bench:
            asked.append(("no faults" in target.name, (work.fabric or "none").partition("@")[0]))
            return super().__call__(target, work, *files)

    four = SYSTEM.replace("nodes: 2", "nodes: 4")
    system.write_text(f"{four}faults:\n  - {{cable: 1, bandwidth: 0.5}}\n", encoding="utf-8")
    words = _words("order", system, tmp_path / "s", "--sizes", "8,9000", "--ranks", "16")
    stopped = Listening(fails_after=2)
    _made(monkeypatch, stopped)
    assert main(words) == 1
    rest = Listening()
    _made(monkeypatch, rest)
    assert main(words) == 0
    assert set(asked) == {(False, "speed"), (True, "none")}
    # Two random orders that differ, with slow cables and without, and one run that failed.
    assert (stopped.runs, rest.runs, len(asked)) == (2, 2, 5)
    study = read_study(tmp_path / "s" / "study.json")
    kinds = [result.placement.partition("-")[0] for result in study.results]
    assert (kinds.count("scattered"), kinds.count("alike")) == (2 * 2 * 13, 2 * 2 * 4)
    assert "made-up" in study.tables


@pytest.mark.usefixtures("quick_figures")
def test_an_application_runs_with_what_was_fastest_by_itself(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(monkeypatch, MadeBench())
    assert main(_words("application", system, tmp_path / "s", "--ranks", "8")) == 0
    study = read_study(tmp_path / "s" / "study.json")
    of: dict[str, dict[str, float]] = defaultdict(dict)
    for result in study.results:
        if result.size_bytes == 1048576:
            of[result.collective][result.recipe] = result.median_s
    calls = {recipe: time_s for recipe, time_s in of.pop("bcast").items() if not recipe.startswith("native")}
    assert len(of) == 4
    for times in of.values():
        assert set(times) - {"native"} == set(sorted(calls, key=calls.__getitem__)[:2])
    # The made-up times add up, so that what is gained is what was to be foreseen.
    for row, share in zip(study.tables["windjammer"].rows, (25, 50, 75, 90), strict=True):
        told, gained, foreseen = (float(row[at].removesuffix(" %")) for at in (3, -2, -1))
        assert told == pytest.approx(share, abs=0.2)
        assert gained == pytest.approx(foreseen, abs=0.2) != 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "order"])
def test_only_what_lays_trees_asks_a_server_of_routes(
    name: str, system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(_words(name, system, tmp_path / "s", "--fabric", "hops@head:7471")) == 2
    assert "asks no server of routes" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


@pytest.mark.usefixtures("quick_figures")
def test_times_that_are_asked_for_are_timed(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(monkeypatch, MadeBench())
    assert main(_words("decision", system, tmp_path / "s", "--sizes", "64,9", "--ranks", "5,3")) == 0
    study = read_study(tmp_path / "s" / "study.json")
    assert {result.ranks for result in study.results} == {3, 5}
    assert {result.size_bytes for result in study.results} == {9, 64}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "study"])
def test_a_file_of_another_kind_in_its_place_is_refused_in_one_line(
    kind: str, system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.json").write_text(json.dumps({"isochrone": kind, "schema_version": 1}))
    assert main(_words("placement", system, tmp_path / "s")) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "study.json" in said
    assert kind in said


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "\xff", '{"isochrone": "study", "schema_version": 1}', "{" * 999]
)
def test_damage_in_its_folder_is_refused_in_one_line(
    text: str, system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.json").write_bytes(text.encode("latin-1"))
    assert main(_words("placement", system, tmp_path / "s")) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "study.json" in said


@pytest.mark.usefixtures("quick_figures")
def test_damaged_times_are_measured_anew(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _made(monkeypatch, MadeBench())
    assert main(_words("decision", system, tmp_path / "s")) == 0
    for file in (tmp_path / "s" / "measured").glob("*.jsonl"):
        file.write_text(file.read_text()[:700])
    again = _made(monkeypatch, MadeBench())
    assert main(_words("decision", system, tmp_path / "s")) == 0
    assert again.runs == whole.runs


@pytest.mark.usefixtures("quick_figures")
def test_another_study_or_place_in_a_folder_is_refused(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _made(monkeypatch, MadeBench())
    assert main(_words("decision", system, tmp_path / "s")) == 0
    capsys.readouterr()
    assert main(_words("placement", system, tmp_path / "s")) == 1
    assert "is of the study decision on eight (simulated); choose another folder" in capsys.readouterr().err
    assert main(_words("decision", system, tmp_path / "s", "--noise", "0.1")) == 1
    assert "choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--sizes", "0"], "--sizes: 0 is too few; the least is 1"),
        (["--sizes", "x"], "--sizes: 'x' is not a number"),
        (["--ranks", "1"], "--ranks: 1 is too few; the least is 2"),
        (["--ranks", "9"], "--ranks: 9 ranks are asked for, and there are places for 8"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    more: list[str], said: str, system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(_words("decision", system, tmp_path / "s", *more)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("quick_figures")
def test_a_wrong_option_does_not_cost_what_was_found(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(_words("decision", system, tmp_path / "none", "--ranks", "9")) == 2
    assert not (tmp_path / "none").exists()
    _made(monkeypatch, MadeBench())
    file = tmp_path / "s" / "study.json"
    assert main(_words("decision", system, tmp_path / "s", "--ranks", "4")) == 0
    found = file.read_bytes()
    assert main(_words("decision", system, tmp_path / "s", "--ranks", "9")) == 2
    assert file.read_bytes() == found
    # Nor does a run that is stopped.
    _made(monkeypatch, MadeBench(fails_after=0))
    assert main(_words("decision", system, tmp_path / "s", "--ranks", "8")) == 1
    assert file.read_bytes() == found


@pytest.mark.parametrize("name", NAMES)
def test_one_rank_is_nothing_to_study(
    name: str, system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = (
        SYSTEM.replace("nodes: 2", "nodes: 1")
        .replace("sockets: 2", "sockets: 1")
        .replace("cores: 2", "cores: 1")
    )
    system.write_text(one, encoding="utf-8")
    assert main(_words(name, system, tmp_path / "s")) == 2
    error = capsys.readouterr().err
    assert "one rank has nobody to send to; take more ranks" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "s").exists()


@pytest.mark.usefixtures("quick_figures")
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"mpi": MpiLibrary("another", "4.0", "none")}, "was begun with made up, and another answers now"),
        ({"prefix": "b"}, "was begun on other hosts than answer now"),
    ],
)
def test_one_that_goes_on_elsewhere_is_refused(
    other: dict[str, Any],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ran(made: MadeBench) -> int:
        for room in ("rounds", "study"):
            monkeypatch.setattr(f"isochrone.steps.{room}.run_bench", made)
        words = ["study", "decision", "--sizes", "8", "--ranks", "4,8", "-o", str(tmp_path / "s")]
        return main([*words, "--", "mpiexec", "-n", "8"])

    assert ran(MadeBench(fails_after=2)) == 1
    assert ran(MadeBench(**other)) == 1
    assert said in capsys.readouterr().err


def test_a_study_that_is_none_is_told_of_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "plcement", "--sim", "demo"]) == 2
    assert f"'plcement' is no study; use one of {', '.join(NAMES)}" in capsys.readouterr().err


@pytest.mark.usefixtures("simgrid")
def test_a_study_that_is_killed_is_simulated_no_further_than_it_was(system: Path, tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "isochrone",
        *_words("placement", system, tmp_path / "s", "--sizes", "8,9000"),
    ]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    measured = tmp_path / "s" / "measured"
    while process.poll() is None and len(list(measured.glob("*.jsonl"))) < 3:
        time.sleep(0.01)
    process.kill()
    process.wait()
    # The newest was being written: the launch behind it may have added a line after the kill.
    began = sorted(measured.glob("*.jsonl"), key=lambda file: file.name.split(".")[1])
    kept = {file: file.stat().st_mtime_ns for file in began[:-1]}
    assert len(kept) >= 2
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"placement on eight \(simulated\) takes .*: [\d,]+ timed calls in \d+ launches", done.stderr
    )
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    found = json.loads(done.stdout)
    alone = subprocess.run(
        [*words[:-3], str(tmp_path / "alone"), *words[-2:], "--json"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert alone.returncode == 0, alone.stderr
    other = json.loads(alone.stdout)
    assert len(found["results"]) == len(other["results"]) > 100
    for one, two in zip(found["results"], other["results"], strict=True):
        assert one.pop("median_s") == pytest.approx(two.pop("median_s"), rel=1e-3)
        del one["ci_s"], two["ci_s"]
        assert one == two
    assert {result["region"] for result in found["results"]} == {
        "inside a socket",
        "inside a node",
        "across nodes",
    }
