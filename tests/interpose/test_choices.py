# SPDX-License-Identifier: BSD-3-Clause
"""What a user may choose of a plan: none of it, some of it; and what is said at the end. With a GPU's runtime
none of it runs.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from interposed import PROGRAMS, by_hand, by_recipes, compiled, full_plan, launched, on_plan
from planned import Bench, said

_PLAIN = "20 broadcasts, 0 wrong values\n"
_NATIVE = "the MPI library's own collectives run"


@pytest.fixture(scope="module")
def rounds(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of twenty broadcasts, of 200, 400 and so on up to 4000 bytes."""
    return compiled(bench, tmp_path_factory.mktemp("rounds") / "rounds", PROGRAMS / "rounds.c")


@pytest.fixture(scope="module")
def choices(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of as many broadcasts as it is told."""
    return compiled(bench, tmp_path_factory.mktemp("choices") / "choices", PROGRAMS / "choices.c", "-ldl")


@pytest.fixture(scope="module")
def plan(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan with a recipe for every broadcast."""
    return full_plan(bench, tmp_path_factory.mktemp("plan"))


def _each(settings: Mapping[str, str], *of_rank: Mapping[str, str], program: Path) -> list[tuple[str, ...]]:
    """A context for each rank, with variables that all have and some of its own."""
    return [
        ("-n", "1", "env", *(f"{name}={value}" for name, value in {**settings, **own}.items()), str(program))
        for own in of_rank
    ]


def _on_plan(bench: Bench, rounds: Path, plan: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = launched(bench, ("-n", "3", rounds), before=on_plan(plan), **environment)
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    return done


@pytest.mark.parametrize("value", ["off", "0"])
def test_nothing_is_done_or_said_with_isochrone_off(
    bench: Bench, rounds: Path, plan: Path, value: str
) -> None:
    # A topology that cannot be read would cost a line: nobody looks for it.
    settings = by_hand(bench, plan, rounds) | {"ISOCHRONE_TOPOLOGY": "/nowhere", "ISOCHRONE_EXPLAIN": "1"}
    contexts = _each(settings, *[{"ISOCHRONE": value}] * 3, program=rounds)
    done = launched(bench, *contexts, ISOCHRONE_SUMMARY="1")
    assert (done.returncode, done.stdout, said(done)) == (0, _PLAIN, [])
    contexts = _each(settings, *[{"ISOCHRONE": "on"}] * 3, program=rounds)
    (line,) = said(launched(bench, *contexts))
    assert "/nowhere cannot be read" in line


def test_run_hands_isochrone_off_on(bench: Bench, rounds: Path, plan: Path) -> None:
    done = _on_plan(bench, rounds, plan, ISOCHRONE="off", ISOCHRONE_EXPLAIN="1")
    assert said(done) == []
    assert by_recipes(_on_plan(bench, rounds, plan, ISOCHRONE="on", ISOCHRONE_EXPLAIN="1")) == 20


@pytest.mark.parametrize("off", [1, pytest.param(0, marks=pytest.mark.long)])
def test_isochrone_off_on_one_rank_costs_one_line(bench: Bench, rounds: Path, plan: Path, off: int) -> None:
    settings = by_hand(bench, plan, rounds)
    own = [{"ISOCHRONE": "off"} if rank == off else {} for rank in range(3)]
    done = launched(bench, *_each(settings, *own, program=rounds))
    shown = "".join(text for text in done.stdout.splitlines(keepends=True) if " UCX " not in text)
    # MPICH 5 minds what rank 0 has not received.
    assert done.returncode == 0 or (off == 0 and "unmatched message" in done.stderr), done.stderr
    assert shown == _PLAIN
    (line,) = said(done)
    assert line.startswith(f"isochrone: rank {off}")
    assert line.endswith(f"has not loaded this preload, or turned it off: {_NATIVE}")


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("ISOCHRONE", "of", "ISOCHRONE is 'of', and neither on nor off"),
        ("ISOCHRONE_ONLY", "broadcast", "ISOCHRONE_ONLY: 'broadcast' is no collective: write all, bcast, "),
        ("ISOCHRONE_ONLY", "bcast:1-2k", "ISOCHRONE_ONLY: '2k' is no size: write bytes, such as 512"),
        ("ISOCHRONE_ONLY", ",", "ISOCHRONE_ONLY: no collective is named"),
        ("ISOCHRONE_ONLY", "a\nb", "ISOCHRONE_ONLY: 'a?b' is no collective: "),
    ],
)
def test_a_wrong_setting_costs_one_line(
    bench: Bench, rounds: Path, plan: Path, variable: str, value: str, line: str
) -> None:
    settings = by_hand(bench, plan, rounds) | {variable: value}
    done = launched(bench, *_each(settings, {}, {}, program=rounds))
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    (found,) = said(done)
    assert found.startswith(f"isochrone: {line}")
    assert found.endswith(f": {_NATIVE}")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "parse error at line 1"),
        ('{"isochrone": "plan", "schema_version": 1}', "key 'topology' not found"),
        ('{"isochrone": "plan", "schema_version": 1, "topology": 5}', "a value is of another type"),
    ],
)
def test_a_damaged_plan_costs_one_line_with_its_name(
    bench: Bench, rounds: Path, plan: Path, tmp_path: Path, text: str, what: str
) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text(text, encoding="utf-8")
    settings = by_hand(bench, plan, rounds) | {"ISOCHRONE_PLAN": str(damaged)}
    done = launched(bench, *_each(settings, {}, {}, program=rounds))
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    (found,) = said(done)
    assert found.startswith(f"isochrone: {damaged}: {what}")
    assert found.endswith(f"; make it again with `isochrone tune`: {_NATIVE}")


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ("bcast", 20),
        ("all", 20),
        ("bcast:1K-2K", 5),  # 1200 to 2000 bytes
        ("reduce bcast:200,bcast:3800-", 3),
        ("allreduce,barrier", 0),
    ],
)
def test_only_the_recipes_that_are_named_run(
    bench: Bench, rounds: Path, plan: Path, only: str, count: int
) -> None:
    done = _on_plan(bench, rounds, plan, ISOCHRONE_ONLY=only, ISOCHRONE_EXPLAIN="1")
    assert by_recipes(done) == count
    left_out = f", {20 - count} by the MPI library's own as ISOCHRONE_ONLY leaves them out"
    (told,) = [line for line in said(done) if line.startswith("isochrone: broadcasts on rank 0: ")]
    assert told.endswith(left_out) == (count < 20), done.stderr
    assert ("native: ISOCHRONE_ONLY leaves it out for 3 ranks" in done.stderr) == (count < 20)


def test_the_recipes_that_rank_0_names_run_on_all_ranks(bench: Bench, rounds: Path, plan: Path) -> None:
    settings = by_hand(bench, plan, rounds) | {"ISOCHRONE_EXPLAIN": "1"}
    own = ({"ISOCHRONE_ONLY": "bcast:-1000"}, {"ISOCHRONE_ONLY": "reduce"}, {})
    done = launched(bench, *_each(settings, *own, program=rounds))
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert by_recipes(done) == 5


@pytest.mark.parametrize("name", ["libcudart.so.12", "libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"])
def test_one_rank_with_a_gpus_runtime_leaves_all_to_the_library(
    bench: Bench, rounds: Path, plan: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty.c").touch()
    runtime = compiled(bench, tmp_path / name, "-shared", "-fPIC", tmp_path / "empty.c")
    settings = by_hand(bench, plan, rounds)
    own = {"LD_PRELOAD": f"{settings['LD_PRELOAD']}:{runtime}"}
    done = launched(bench, *_each(settings, {}, {}, own, program=rounds))
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert said(done) == [
        f"isochrone: rank 2 of 3 has loaded a GPU's runtime, so buffers may be memory of a GPU: {_NATIVE}"
    ]


def test_a_gpus_runtime_that_one_rank_loads_later_leaves_all_to_the_library(
    bench: Bench, choices: Path, plan: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.c").touch()
    runtime = compiled(bench, tmp_path / "libcudart.so.12", "-shared", "-fPIC", tmp_path / "empty.c")
    for arguments, count in (("7",), 7), (("7", str(runtime)), 0):
        line = ("-n", "3", choices, *arguments)
        done = launched(bench, line, before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert by_recipes(done) == count


_TIME = r"([\d.]+) (us|ms|s)"


def test_run_ends_with_what_ran_and_what_it_saved(bench: Bench, choices: Path, plan: Path) -> None:
    before = on_plan(plan)
    done = launched(bench, ("-n", "3", choices, "40"), before=before, ISOCHRONE_SUMMARY="")
    assert (done.returncode, said(done)) == (0, []), done.stderr
    quiet = [*before[:-1], "--quiet", "--"]
    environment = ["env", "-u", "ISOCHRONE_SUMMARY"]
    assert said(launched(bench, ("-n", "3", choices, "40"), before=[*environment, *quiet])) == []
    (line,) = said(launched(bench, ("-n", "3", choices, "40"), before=[*environment, *before]))
    told = rf"isochrone: 40 broadcasts by binomial on rank 0: {_TIME} in them, about {_TIME} saved"
    match = re.fullmatch(told, line)
    assert match is not None, line
    # The rule says twice as fast: as much was saved as it took.
    assert match.group(1, 2) == match.group(3, 4)
    assert float(match[1]) > 0


def test_a_recipe_on_which_two_shapes_agree_runs_without_trials_and_unexplained(
    bench: Bench, choices: Path, tmp_path: Path
) -> None:
    before = on_plan(full_plan(bench, tmp_path, {2: "binomial", 5: "binomial"}))
    settings = {"ISOCHRONE_SUMMARY": "1", "ISOCHRONE_TRIALS": "off"}
    done = launched(bench, ("-n", "3", choices, "40"), before=before, **settings)
    *_, line = said(done)  # after what the plan has not measured
    assert line.startswith("isochrone: 40 broadcasts by binomial on rank 0: ")


def test_run_says_where_nothing_ran_by_a_recipe(bench: Bench, choices: Path, plan: Path) -> None:
    settings = {"ISOCHRONE_SUMMARY": "1", "ISOCHRONE_ONLY": "barrier"}
    done = launched(bench, ("-n", "3", choices, "4"), before=on_plan(plan), **settings)
    assert said(done) == ["isochrone: no collective ran by a recipe on rank 0"]


def test_an_explained_program_without_collectives_ends_with_a_line(
    bench: Bench, choices: Path, plan: Path
) -> None:
    done = launched(bench, ("-n", "3", choices, "0"), before=on_plan(plan), ISOCHRONE_EXPLAIN="1")
    assert said(done) == ["isochrone: rank 0 has called no collective that a plan can be for"]
