# SPDX-License-Identifier: BSD-3-Clause
"""Levels by other methods than Isochrone's own, from Python and by ``isochrone detect --method``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isochrone.cli.main import main
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.methods.nest import nested
from isochrone.detect.methods.search import choose_counts
from isochrone.detect.methods.table import METHODS
from isochrone.files import read_topology

RANKS = 24
TOLD = [method for method in METHODS if method.told]


def latencies(
    seed: int, outer: float = 10.0, inner: float = 3.0
) -> tuple[np.ndarray, list[set[frozenset[int]]]]:
    """[rank, rank] of two groups of three groups of four, in random order, and the groups of both levels."""
    random = np.random.default_rng(seed)
    order = random.permutation(RANKS)
    labels = np.array([order // 12, order // 4])
    shared = (labels[:, :, None] == labels[:, None, :]).sum(axis=0)
    scatter = np.triu(random.normal(1.0, 0.02, (RANKS, RANKS)), 1)
    matrix = np.choose(shared, [outer, inner, 1.0]) * (scatter + scatter.T)
    return matrix, [groups(level) for level in labels]


def groups(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def write(path: Path, matrix: np.ndarray) -> Path:
    np.savetxt(path, matrix, delimiter=",", fmt="%.6f")
    return path


@pytest.mark.parametrize(
    "method", [each for each in TOLD if each.name != "spectral"], ids=lambda each: each.name
)
def test_silhouettes_tell_how_many_groups_there_are(method: Method) -> None:
    matrix, (outer, inner) = latencies(1)
    chosen = [groups(labels) for labels in choose_counts(method, Objects(matrix, matrix))]
    assert outer in chosen
    assert inner in chosen


@pytest.mark.parametrize("method", TOLD, ids=lambda each: each.name)
def test_no_number_of_groups_is_chosen_where_there_are_none(method: Method) -> None:
    matrix, _ = latencies(2, outer=1.0, inner=1.0)
    assert choose_counts(method, Objects(matrix, matrix)) == []


def test_a_partition_is_divided_by_those_before_it() -> None:
    found = nested(
        np.zeros(6, dtype=np.int64),
        [np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1]), np.array([5, 5, 5, 7, 7, 7])],
    )
    assert [groups(level) for level in found[1:]] == [
        {frozenset({0, 1, 2}), frozenset({3, 4, 5})},
        {frozenset({0, 1}), frozenset({2}), frozenset({3}), frozenset({4, 5})},
    ]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("method", TOLD, ids=lambda each: each.name)
def test_a_method_that_is_told_finds_the_levels_of_a_matrix(
    tmp_path: Path, method: Method, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix, known = latencies(seed)
    name = method.name
    path = write(tmp_path / "m.csv", matrix)
    assert main(["detect", str(path), "--method", name, "--groups", "2,6", "--json"]) == 0
    levels = json.loads(capsys.readouterr().out)["levels"]
    found = [{frozenset(group) for group in level["members"]} for level in levels]
    assert found[0] == {frozenset(range(RANKS))}
    # Spectral clustering is known to fail on nested groups: the similarity knows one scale.
    assert found[1:] == known or name == "spectral"
    assert [level["confidence"] for level in levels] == [None] * len(levels)
    topology = read_topology(tmp_path / "m.topology.json")
    assert topology.source["method"] == f"{name} of 2, 6 groups"


@pytest.mark.parametrize("name", [method.name for method in METHODS])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_few_ranks_are_no_trouble(tmp_path: Path, name: str, ranks: int) -> None:
    path = write(tmp_path / "m.csv", 100.0 * (np.ones((ranks, ranks)) - np.eye(ranks)))
    if ranks == 1:
        path.write_text("0\n")
    assert main(["detect", str(path), "--method", name]) == 0
    assert len(read_topology(tmp_path / "m.topology.json").levels) == 1


def test_isochrones_own_method_is_the_default(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", latencies(3)[0])
    assert main(["detect", str(path), "-o", str(tmp_path / "a.json")]) == 0
    assert main(["detect", str(path), "-o", str(tmp_path / "b.json"), "--method", "isochrone"]) == 0
    one, other = (read_topology(tmp_path / name) for name in ("a.json", "b.json"))
    assert one.levels == other.levels
    assert one.levels[1].confidence is not None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--method", "kmediods"), 2, "'kmediods' is no method; use isochrone, kmedoids,"),
        (("--method", "sss", "--groups", "4"), 2, "sss finds the number of groups itself"),
        (("--groups", "4"), 2, "isochrone finds the number of groups itself"),
        (("--method", "kmeans", "--groups", "4,"), 2, "'4,' is no list of numbers of groups"),
        (("--method", "kmeans", "--groups", "0"), 2, "'0' is no list of numbers of groups"),
        (("--method", "kmeans", "--groups", "25"), 1, "25 groups of 24 ranks"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "m.csv", latencies(4)[0])
    assert main(["detect", str(path), *words]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert not (tmp_path / "m.topology.json").exists()


def test_other_methods_need_all_pairs(
    simgrid: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "m.jsonl")
    assert main(["probe", "--sim", "hpclab", "--pairs", "0-1,0-2,0-3,1-2", "--sizes", "0", "-o", output]) == 0
    capsys.readouterr()
    assert main(["detect", output, "--method", "kmeans"]) == 1
    assert "2 of 6 pairs were not measured" in capsys.readouterr().err


def test_help_names_every_method(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["detect", "--help"]) == 0
    said = capsys.readouterr().out
    for method in METHODS:
        assert method.name in said
