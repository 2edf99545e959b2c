# SPDX-License-Identifier: BSD-3-Clause
"""What is tried in a program's own calls: results stay right, all ranks agree, nothing hangs, and a plan
that is wrong is left.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from interposed import PROGRAMS, by_recipes, compiled, full_plan, launched, on_plan
from msgspec import structs
from planned import Bench, said, write_plan_of_recipes

from isochrone.files import read_measurements, read_plan, write_plan
from isochrone.files.learned import read_learned
from isochrone.files.plan import Surveyed

KINDS = ("world", "roots", "split", "freed", "threads", "reduce", "blocks")
# In segments of a few bytes, each from rank to rank: any library is several times as fast.
SLOW = "chain@16"
SLOW_RECIPES = {
    "bcast": SLOW,
    "allreduce": "pipeline@64",
    "reduce": "pipeline@64",
    "allgather": "ring",
    "alltoall": "pairwise",
}
FAST = "binomial"

_TRIALS = re.compile(
    r"isochrone: live trials on rank 0: (\d+) of recipes that the model found; "
    r"(\d+) times a recipe was kept, (\d+) times the MPI library's own"
)
_BROADCASTS = re.compile(
    r"isochrone: broadcasts on rank 0: (\d+) by the plan's recipes, (\d+) by .* as the plan says, "
    r"(\d+) by .* as nothing was measured(?:, (\d+) by recipes on trial or found live)?"
    r"(?:, (\d+) by the MPI library's own on trial or found live)?"
)


@pytest.fixture(scope="module")
def trials(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of many calls of one kind, whose results it checks."""
    return compiled(bench, tmp_path_factory.mktemp("trials") / "trials", PROGRAMS / "trials.c", "-pthread")


@pytest.fixture(scope="module")
def wrong_plan(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of slow recipes, said to be twice as fast as the library's own."""
    folder = tmp_path_factory.mktemp("wrong")
    write_plan_of_recipes(folder, read_measurements(bench.folder / "m.jsonl"), SLOW_RECIPES)
    return folder / "plan.json"


def _unsurveyed(folder: Path) -> list[str]:
    """The words before a launch line that run it where there is no plan."""
    return ["env", "-C", str(folder), sys.executable, "-m", "isochrone", "run", "--"]


def _run(
    bench: Bench, program: Path, before: Sequence[str], kind: str, ranks: int, calls: int, **settings: str
) -> list[str]:
    settings = {"ISOCHRONE_SUMMARY": "1", "ISOCHRONE_EXPLAIN": "1"} | settings
    line = ("-n", str(ranks), program, str(calls), kind)
    done = launched(bench, line, before=before, **settings)
    assert (done.returncode, done.stdout) == (0, f"{kind}: 0 wrong values\n"), done.stderr
    return said(done)


def _found(lines: Sequence[str], pattern: re.Pattern[str]) -> list[int]:
    """The counts in the one line of a form."""
    (found,) = [match for line in lines if (match := pattern.fullmatch(line))]
    return [int(count or 0) for count in found.groups()]


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_right_while_a_wrong_plan_is_left(
    bench: Bench, trials: Path, wrong_plan: Path, kind: str
) -> None:
    _run(bench, trials, on_plan(wrong_plan), kind, 3, 300, ISOCHRONE_TRIALS="all")


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_right_without_a_survey(bench: Bench, trials: Path, tmp_path: Path, kind: str) -> None:
    _run(bench, trials, _unsurveyed(tmp_path), kind, 4, 600, ISOCHRONE_TRIALS="all")


@pytest.mark.long
@pytest.mark.parametrize("ranks", range(1, 10))
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_right_with_any_number_of_ranks(
    bench: Bench, trials: Path, wrong_plan: Path, tmp_path: Path, kind: str, ranks: int
) -> None:
    for before in (on_plan(wrong_plan), _unsurveyed(tmp_path)):
        _run(bench, trials, before, kind, ranks, 1000, ISOCHRONE_TRIALS="all")


def test_a_wrong_plan_is_left_and_that_is_said_once(bench: Bench, trials: Path, wrong_plan: Path) -> None:
    lines = _run(bench, trials, on_plan(wrong_plan), "world", 4, 1000)
    planned, native, unmeasured, tried, found_live = _found(lines, _BROADCASTS)
    assert (native, unmeasured, tried) == (0, 0, 0)
    assert planned + found_live == 1000
    assert found_live > 50
    assert [line for line in lines if "the machine differs from what was surveyed: bcast of" in line]
    assert len([line for line in lines if "the machine differs" in line]) == 1
    assert _found(lines, _TRIALS) == [0, 0, 1]


def test_communicators_may_be_freed_while_ranks_agree(bench: Bench, trials: Path, tmp_path: Path) -> None:
    """MPICH has two thousand, and takes back none that something is under way on."""
    _run(bench, trials, _unsurveyed(tmp_path), "briefly", 2, 2100)


@pytest.mark.parametrize("calls", [127, 129, 131, 140])
def test_a_program_may_end_in_the_middle_of_a_trial(
    bench: Bench, trials: Path, wrong_plan: Path, calls: int
) -> None:
    lines = _run(bench, trials, on_plan(wrong_plan), "world", 3, calls)
    planned, *_, found_live = _found(lines, _BROADCASTS)
    assert planned + found_live == calls


@pytest.mark.parametrize("calls", [8, 9, 11, 12, 13, 16])
def test_a_program_may_end_while_ranks_agree(bench: Bench, trials: Path, tmp_path: Path, calls: int) -> None:
    """On times, from the eighth call on, and then on what to try."""
    _run(bench, trials, _unsurveyed(tmp_path), "world", 3, calls)


def test_without_a_survey_the_model_finds_something_to_try(
    bench: Bench, trials: Path, tmp_path: Path
) -> None:
    lines = _run(bench, trials, _unsurveyed(tmp_path), "large", 4, 600)
    planned, native, unmeasured, tried, found_live = _found(lines, _BROADCASTS)
    assert (planned, native) == (0, 0)
    assert unmeasured + tried + found_live == 600
    # Prices are worked out when calls have taken enough time for that, a moment at most.
    assert tried > 0
    assert _found(lines, _TRIALS)[0] >= 1


def test_trials_can_be_turned_off(bench: Bench, trials: Path, wrong_plan: Path, tmp_path: Path) -> None:
    lines = _run(bench, trials, on_plan(wrong_plan), "world", 3, 200, ISOCHRONE_TRIALS="off")
    assert _found(lines, _BROADCASTS) == [200, 0, 0, 0, 0]
    off = [*_unsurveyed(tmp_path)[:-1], "--trials", "off", "--"]
    assert _run(bench, trials, off, "world", 3, 50) == []
    settings = {"ISOCHRONE_TRIALS": "perhaps"}
    (line,) = _run(bench, trials, on_plan(wrong_plan), "world", 3, 50, **settings)
    assert "ISOCHRONE_TRIALS is 'perhaps'" in line


def test_sums_of_floating_point_numbers_are_tried_only_if_that_is_asked_for(
    bench: Bench, trials: Path, tmp_path: Path
) -> None:
    recipes = {"allreduce": "pipeline@64", "reduce": "pipeline@64"}
    write_plan_of_recipes(tmp_path, read_measurements(bench.folder / "m.jsonl"), recipes)
    explained = "isochrone: allreduce of 800 bytes: native: found live"
    for settings, is_tried in (({}, False), ({"ISOCHRONE_TRIALS": "all"}, True)):
        lines = _run(bench, trials, on_plan(tmp_path / "plan.json"), "reduce", 4, 250, **settings)
        # In segments of 64 bytes the sums of 800 take several times as long, which shows in 200 calls.
        assert any(line.startswith(explained) for line in lines) <= is_tried, lines


def test_only_some_recipes_are_not_tried(bench: Bench, trials: Path, wrong_plan: Path) -> None:
    lines = _run(bench, trials, on_plan(wrong_plan), "world", 3, 200, ISOCHRONE_ONLY="bcast")
    assert _found(lines, _BROADCASTS) == [200, 0, 0, 0, 0]


def test_what_was_learned_is_in_the_next_run(bench: Bench, trials: Path, tmp_path: Path) -> None:
    write_plan_of_recipes(tmp_path, read_measurements(bench.folder / "m.jsonl"), SLOW)
    plan = tmp_path / "plan.json"
    learn = [*on_plan(plan)[:-1], "--learn", "--"]
    _run(bench, trials, learn, "world", 4, 1000)
    (left,) = (tmp_path / "learned").glob("*.json")
    (rule,) = read_learned(left).rules
    assert (rule.collective, rule.shape, rule.recipe, rule.basis) == (
        "bcast",
        "4 ranks in one node",
        "native",
        "live",
    )
    assert (rule.min_bytes, rule.max_bytes, rule.order) == (4096, 8191, "block")
    lines = _run(bench, trials, learn, "world", 4, 100)
    assert any("native: found live: nothing tried was faster" in line for line in lines), lines
    assert _found(lines, _BROADCASTS)[:2] == [0, 100]
    assert not list((tmp_path / "learned").glob("*.json"))
    here = [rule for rule in read_plan(plan).rules if rule.shape == "4 ranks in one node"]
    assert [(rule.min_bytes, rule.max_bytes) for rule in here] == [(0, 4095), (4096, 8191), (8192, 1 << 40)]
    assert [rule.basis for rule in here] == ["measured", "live", "measured"]


@pytest.mark.parametrize("calls", [400, 800])
def test_the_library_s_own_is_learned_only_when_nothing_is_left_to_be_tried(
    bench: Bench, trials: Path, tmp_path: Path, calls: int
) -> None:
    """A rule for it ends all trials, also of what another run would try next."""
    write_plan_of_recipes(
        tmp_path, read_measurements(bench.folder / "m.jsonl"), {"reduce": SLOW_RECIPES["reduce"]}
    )
    learn = [*on_plan(tmp_path / "plan.json")[:-1], "--learn", "--"]
    lines = _run(bench, trials, learn, "large", 4, calls)
    begun = sum(_found([line], _TRIALS)[0] for line in lines if _TRIALS.fullmatch(line))
    rules = [rule for left in (tmp_path / "learned").glob("*.json") for rule in read_learned(left).rules]
    assert begun >= 3 or all(rule.recipe != "native" for rule in rules), (begun, rules)


def test_what_was_found_for_integers_changes_no_sums_of_floating_point_numbers(
    bench: Bench, trials: Path, tmp_path: Path
) -> None:
    write_plan_of_recipes(tmp_path, read_measurements(bench.folder / "m.jsonl"), {"allreduce": "binomial"})
    plan = read_plan(tmp_path / "plan.json")
    rules = tuple(structs.replace(rule, basis="live") for rule in plan.rules)
    write_plan(tmp_path / "plan.json", structs.replace(plan, rules=rules))
    own = "allreduce of 800 bytes: native: its rule was found live, where no algorithm changes a bit"
    found = "isochrone: allreduce of 5000 bytes: binomial: found live"
    for settings in ({}, {"ISOCHRONE_TRIALS": "off"}):
        lines = _run(bench, trials, on_plan(tmp_path / "plan.json"), "reduce", 4, 5, **settings)
        assert any(own in line for line in lines), lines
        assert any(line.startswith(found) for line in lines), lines
    lines = _run(bench, trials, on_plan(tmp_path / "plan.json"), "reduce", 4, 5, ISOCHRONE_TRIALS="all")
    assert not any(own in line for line in lines), lines
    # What a survey has measured before is for them, too.
    rules = tuple(structs.replace(rule, surveyed=Surveyed("flat", rule.evidence)) for rule in rules)
    write_plan(tmp_path / "plan.json", structs.replace(plan, rules=rules))
    lines = _run(bench, trials, on_plan(tmp_path / "plan.json"), "reduce", 4, 5)
    own = "isochrone: allreduce of 800 bytes: flat: measured"
    assert any(line.startswith(own) for line in lines), lines
    assert any(line.startswith(found) for line in lines), lines


def test_a_right_plan_stays(bench: Bench, trials: Path, tmp_path: Path) -> None:
    plan = full_plan(bench, tmp_path, {3: "binomial"})
    done = launched(bench, ("-n", "3", trials, "30"), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    # Before the first look nothing but the plan's recipe runs.
    assert by_recipes(done) == 30
