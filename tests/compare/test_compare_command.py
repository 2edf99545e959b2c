# SPDX-License-Identifier: BSD-3-Clause
"""`isochrone compare` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benched import bench_of, times_of

from isochrone.cli.main import main
from isochrone.files import write_bench


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two results; broadcasts take half as long again in the second, whose folder is named."""
    first, second = tmp_path / "a.jsonl", tmp_path / "survey" / "bench.jsonl"
    second.parent.mkdir()
    write_bench(first, bench_of(times_of("native", "plan")))
    write_bench(second, bench_of(times_of("native", bcast=1.5), seed=2))
    return str(first), str(second.parent)


def test_a_line_for_each_case_and_what_it_comes_to(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *files]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["bytes", "A", "B", "B/A", "95", "%", "recipe"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        *(["bcast", "8"], ["bcast", "1024"]),
        *(["allreduce", "8"], ["allreduce", "1024"]),
    ]
    assert ["slower" in line for line in lines[1:5]] == [True, True, False, False]
    assert lines[5].startswith("bcast: 1.4") or lines[5].startswith("bcast: 1.5")
    assert lines[-2].startswith("only in A: bcast 8 plan")
    assert lines[-1] == "2 slower, 0 faster, 2 not proven to differ"
    assert err == ""


def test_a_gate_is_an_exit_code(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files, "--fail-above", "5%"]) == 3
    assert "2 slower by more than 5%; most of all bcast of" in capsys.readouterr().out
    assert main(["compare", *files, "--fail-above", "80"]) == 0
    assert main(["compare", *reversed(files), "--fail-above", "5%"]) == 0
    capsys.readouterr()
    assert main(["compare", *files, "--fail-above", "5%", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["allowed"], found["over"]) == (0.05, 2)
    assert {change["verdict"] for change in found["changes"]} == {"slower", "same"}
    assert len(found["only_first"]) == 4
    assert found["means"]["bcast"]["ratio"] > 1.3


def test_a_recipe_beside_another(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = files
    assert main(["compare", first, first, "--recipe", "native", "--with", "plan"]) == 0
    assert capsys.readouterr().out.count("native → plan") == 4


def test_several_launches_of_each(
    files: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = files
    # Where no name is meant, what is in this folder is not meant either.
    monkeypatch.chdir(Path(second))
    assert main(["compare", f"{first},{first}", f"{second},{second}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"]) == ([first] * 2, [second] * 2)
    assert main(["compare", f"{first},", second]) == 2
    assert "lacks a name beside a comma" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--with", "plan"], 2, "name that with --recipe"),
        (["--fail-above", "much"], 2, "'much' is no number of percent"),
        (["--fail-above", "-5%"], 2, "no number of percent"),
        (["--fail-above", "nan"], 2, "no number of percent"),
        (["--recipe", "plan"], 1, "has no recipe 'plan' that is in"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert main(["compare", *files, *words]) == code
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err
