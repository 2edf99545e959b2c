# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone bench --lab``: a row for each size, and what was done is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isochrone.cli.main import main
from isochrone.lab.labs import Lab
from isochrone.launch.library import MpiLibrary

SIZES = "8,4096,65537"


def bench(lab: Lab, library: MpiLibrary, folder: Path, *more: str, sizes: str = SIZES) -> int:
    words = ["bench", "--lab", lab.name, "--mpi", library.name, "-n", "4", "--ppn", "1", "--sizes", sizes]
    return main([*words, "-o", str(folder), "--json", *more])


@pytest.mark.long
def test_a_benchmark_of_a_lab_goes_on_where_it_was(
    lab: Lab,
    library: MpiLibrary,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert bench(lab, library, tmp_path, "--placement", "block") == 0
    first: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [row["size_bytes"] for row in first["results"]] == [8, 4096, 65537]
    for row in first["results"]:
        assert row["native_ci_s"][0] <= row["native_s"] <= row["native_ci_s"][1]
        assert row["best_native_s"] <= row["native_s"]
        assert row["isochrone_s"] > row["bound_s"]
    (survey,) = first["surveys"]
    assert survey["accuracy"]["rack"] == 1.0
    assert survey["uplink_message_bytes"] == 65537
    # Native crosses the uplinks at least once; nothing goes over fewer than one.
    assert sum(by["isochrone"] for link in survey["uplink_bytes"].values() for by in link.values()) > 65537

    def tune(*_: object, **__: object) -> None:
        raise AssertionError("tuned again")

    monkeypatch.setattr("isochrone.lab.study.tune", tune)
    assert bench(lab, library, tmp_path, "--placement", "block") == 0
    assert json.loads(capsys.readouterr().out) == first
    # Without the row the survey's own files are enough.
    (tmp_path / "results.json").unlink()
    assert bench(lab, library, tmp_path, "--placement", "block") == 0
    again = json.loads(capsys.readouterr().out)
    for key in ("isochrone_s", "native_ci_s", "speedup_ci"):
        assert [row[key] for row in again["results"]] == [row[key] for row in first["results"]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda document: document | {"sizes_bytes": [8]},
            "has results of another benchmark: sizes_bytes is [8]",
        ),
        (lambda document: document | {"ranks": 5}, "ranks is 5, not 4"),
        (lambda document: document | {"surveys": None}, "has no list of surveys"),
        (lambda document: document | {"surveys": [{}]}, "has a survey without a library or placement"),
    ],
)
def test_results_of_another_benchmark_are_not_touched(
    change: Callable[[dict[str, Any]], dict[str, Any]],
    said: str,
    lab: Lab,
    library: MpiLibrary,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("isochrone.lab.study.study", lambda *_: iter(()))
    assert bench(lab, library, tmp_path) == 0
    document = json.loads(capsys.readouterr().out)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(change(document)), encoding="utf-8")
    before = path.read_bytes()
    assert bench(lab, library, tmp_path) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert path.read_bytes() == before
