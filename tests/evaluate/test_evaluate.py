# SPDX-License-Identifier: BSD-3-Clause
"""Detection beside the other methods: nothing wrong without noise, little with it, and never below them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from isochrone.cli.main import main
from isochrone.evaluate.cases import Case, cases
from isochrone.evaluate.noise import CLEAN, NOISY
from isochrone.evaluate.run import OURS, Outcome, evaluate, measure
from isochrone.evaluate.table import table

# As "machine" the thesis counts what the islands are here.
JUDGED = ("switch", "machine", "node", "socket")


def outcomes_of(chosen: Sequence[Case], folder: Path) -> list[Outcome]:
    return list(evaluate(chosen, folder))


def check(outcomes: Sequence[Outcome]) -> None:
    for each in (outcome for outcome in outcomes if outcome.method == OURS):
        where = (*each.case.words, each.repetitions)
        for score in each.scores:
            if each.case.noise == CLEAN:
                assert score.accuracy == 1.0, (where, score)
            elif each.repetitions >= 32 and score.level in JUDGED:
                assert score.accuracy >= 0.99, (where, score)
        if each.case.noise == CLEAN:
            assert each.levels == each.levels_known, where


@pytest.fixture(scope="module")
def small(simgrid: None, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    few = [
        case
        for case in cases(full=False)
        if case.system.name in ("hpclab", "fram-1x32", "fram-16x1") and case.system.placement == "random"
    ]
    return outcomes_of(few, tmp_path_factory.mktemp("evaluation"))


def test_all_pairs_are_measured_where_a_probe_would_leave_some_out(simgrid: None, tmp_path: Path) -> None:
    case = next(case for case in cases(full=False) if case.system.ranks > 64)
    assert measure(case, tmp_path).complete


def test_detection_is_right_on_small_clusters(small: list[Outcome]) -> None:
    check(small)
    assert {each.case.noise for each in small} == {CLEAN, NOISY}


def test_detection_is_nowhere_below_the_best_that_is_not_told(small: list[Outcome]) -> None:
    ours = {
        (each.case.name, str(each.case.noise), each.repetitions, score.level): score.accuracy
        for each in small
        if each.method == OURS
        for score in each.scores
    }
    for each in small:
        if each.told or each.method == OURS or each.repetitions not in (1, 32):
            continue
        for score in each.scores:
            key = (each.case.name, str(each.case.noise), each.repetitions, score.level)
            assert ours[key] >= score.accuracy, (each.method, key)


def test_the_table_has_a_row_for_each_method_and_noise(small: list[Outcome]) -> None:
    lines = table(small)
    methods = {each.method for each in small}
    assert len(methods) == 13
    for method in methods:
        assert sum(line.split()[:1] == [method] for line in lines) == 3
    assert sum(line.startswith("Noise:") for line in lines) == 3


# Clusters, placements, and one result without noise beside those of each number of round trips.
SETS = {"quick": ((), 7 * 2 * (1 + 2)), "full": (("--full",), 12 * 3 * (1 + 3))}


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_detection_is_right_and_nowhere_below_the_others(
    name: str, simgrid: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, results = SETS[name]
    assert main(["evaluate", *options, "-o", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert len(document["results"]) == results
    for entry in document["results"]:
        clean, enough = entry["repetitions"] == 1, entry["repetitions"] >= 32
        ours, *others = entry["methods"]
        assert ours["method"] == OURS
        assert len(others) == 12
        for level, score in ours["scores"].items():
            where = (entry["system"], entry["placement"], entry["repetitions"], level)
            least = 1.0 if clean else 0.99 if enough and level in JUDGED else 0.0
            assert score["accuracy"] >= least, where
            best = max(other["scores"][level]["accuracy"] for other in others if not other["told"])
            assert score["accuracy"] >= best, where
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "accuracy.png",
        "placements.png",
        "repetitions.png",
        "variance.png",
    }
