# SPDX-License-Identifier: BSD-3-Clause
"""`isochrone show`, as it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec import structs
from surveyed import places, topology

from isochrone import _core
from isochrone.cli.main import main
from isochrone.files import write_topology

RECIPE = "hierarchical(machine=flat,node=binomial)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A survey of two nodes with four ranks each, which go to the nodes in turn."""
    of = topology(places(["a", "b"], 4), {})
    write_topology(tmp_path / "topology.json", structs.replace(of, ranks=(0, 4, 1, 5, 2, 6, 3, 7)))
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["show", *words]) == 0
    return capsys.readouterr().out


def test_a_table_says_who_sends_what_to_whom_when_and_over_which_level(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, RECIPE, "--topology", str(folder), "--bytes", "1KiB").splitlines()
    assert lines[0].startswith(f"bcast of 1 KiB, root 0, by {RECIPE}")
    assert "1 message (1 KiB) at machine" in lines[1]
    assert lines[2].split() == ["leaves", "from", "to", "level", "size", "arrived"]
    rows = [re.split(r"  +", line) for line in lines[3:]]
    assert len(rows) == 7
    assert [row[1:5] for row in rows if row[3] == "machine"] == [["0", "1", "machine", "1 KiB"]]


def test_a_tree_names_the_level_on_each_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, RECIPE, "-t", str(folder), "--as", "tree")
    assert re.search(r"^[├└]─ 1  .*, machine$", text, re.MULTILINE)


def test_json_has_all_steps_and_the_tree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, RECIPE, "-t", str(folder), "--json"))
    assert found["levels"][:2] == ["machine", "node"]
    assert found["groups"][1] == [0, 1] * 4
    assert found["predicted_s"] == max(step["end_s"] for step in found["steps"])
    assert len(found["steps"]) == 14
    assert [rank["parent"] for rank in found["tree"]["ranks"]].count(None) == 1
    assert found["tree"]["root"] == found["root"] == 0


@pytest.mark.parametrize("row", _core.collectives(), ids=lambda row: row["name"])
def test_every_collective_is_shown_in_every_way(
    row: _core.Collective, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = row["across"][-1]["name"]
    for form in ("time", "tree", "goal"):
        words = [recipe, "-t", str(folder), "-c", row["name"], "--as", form]
        assert len(shown(capsys, *words).splitlines()) > 8


def test_a_segmented_message_has_the_number_of_each_segment(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "pipeline@512", "-n", "3", "--bytes", "1024").splitlines()
    assert [line.split()[5] for line in lines[3:]] == ["0", "1", "0", "1"]


def test_a_long_table_is_cut_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "linear", "-n", "16", "-c", "alltoall").splitlines()
    assert lines[-1] == "and 112 messages more: --json has all"
    assert len(lines) == 3 + 128 + 1


def test_only_local_work_on_data_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "ring", "-n", "4", "-c", "allreduce").splitlines()[1].endswith(" and 12 reductions")
    assert "reduction" not in shown(capsys, "dissemination", "-n", "4", "-c", "barrier")


def test_one_rank_sends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "1 rank\n0 s by the model; nothing is sent\n" in shown(capsys, "binomial", "-n", "1")
    for form in ("time", "tree"):
        shown(capsys, "binomial", "-n", "1", "--as", form, "-o", str(tmp_path / f"{form}.svg"))
    assert shown(capsys, "binomial", "-n", "1", "--as", "goal").endswith("num_ranks 1\n\nrank 0 {\n}\n")


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
@pytest.mark.parametrize("form", ["time", "tree"])
def test_a_picture_is_of_the_kind_of_its_name(
    form: str, suffix: str, start: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "new" / f"picture.{suffix}"
    text = shown(capsys, RECIPE, "-t", str(folder), "--as", form, "-o", str(file))
    assert text.endswith(f"Written: {file}\n")
    assert file.read_bytes().startswith(start)


def test_the_picture_has_the_ranks_by_their_groups_and_a_colour_for_each_level(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(capsys, RECIPE, "-t", str(folder), "-o", str(folder / "time.svg"))
    text = (folder / "time.svg").read_text()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert [int(word) for word in texts if word.isdigit()] == [0, 2, 4, 6, 1, 3, 5, 7]
    assert "1 message, between nodes" in texts
    assert {"node 0", "node 1"} <= set(texts)


def test_a_goal_file_is_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = shown(capsys, "binomial", "-n", "4", "--as", "goal")
    shown(capsys, "binomial", "-n", "4", "-o", str(folder / "x.goal"))
    assert (folder / "x.goal").read_text() == printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["native", "-n", "4"], "what the MPI library does for 'native' is not known"),
        (["no such recipe", "-n", "4"], "RECIPE"),
        (["hierarchical(rack=flat)", "-n", "4"], "no level 'rack'"),
        (["ring", "-n", "4"], "RECIPE"),
        (["binomial"], "no ranks are given"),
        (["binomial", "-n", "0"], "-n"),
        (["binomial", "--ppn", "2"], "give --ranks too"),
        (["binomial", "-n", "4", "-t", "x"], "give one of"),
        (["binomial", "-n", "4", "--root", "4"], "rank 4 is not one of 4"),
        (["ring", "-n", "4", "-c", "allreduce", "--root", "1"], "has no root"),
        (["dissemination", "-n", "4", "-c", "barrier", "--bytes", "1"], "has no data"),
        (["binomial", "-n", "4", "-c", "broadcast"], "no collective"),
        (["binomial", "-n", "4", "--bytes", "much"], "--bytes"),
        (["binomial", "-n", "4", "--as", "art"], "art"),
        (["binomial", "-n", "4", "-o", "x.txt"], "no picture"),
        (["binomial", "-n", "4", "--as", "goal", "-o", "x.svg"], "no picture"),
        (["binomial", "-n", "300", "-o", "x.svg"], "too many to draw"),
        (["binomial", "-n", "300", "-o", "x.svg", "--as", "tree"], "too many to draw"),
        (["pipeline@8", "-n", "8", "--bytes", "1MiB"], "more than 200000 operations"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert re.fullmatch(r"isochrone: .+\n", captured.err)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_topology_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "topology.json").write_text("{")
    assert main(["show", "binomial", "-t", str(tmp_path)]) == 1
    assert re.fullmatch(r"isochrone: .*topology\.json.*\n", capsys.readouterr().err)
