# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of a library whose times are made up: a rule only for what is proven faster than its own choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_library import HOSTS, SIZES, MadeUpLibrary, library, tuned
from tuned import topology_of

from isochrone.errors import IsochroneError
from isochrone.files import (
    read_library,
    read_work,
    write_bench,
    write_topology,
)
from isochrone.launch.process import Talk
from isochrone.launch.target import Target
from isochrone.steps.library import tune_library
from isochrone.steps.told_launches import ToldLaunches
from isochrone.steps.told_race import ToldRace, launches_of
from isochrone.tune.sizes import first_of


def test_what_is_faster_gets_a_rule_where_it_is(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, _: Mapping[str, str]) -> float:
        if recipe == "native:two" and size >= 16384:
            return 0.5e-4
        return {"native": 1e-4, "native:one": 0.9e-3, "native:two": 1.2e-4}.get(recipe, 1.05e-4)

    found = tuned(tmp_path, MadeUpLibrary(time_s))
    assert found == {("bcast", s): "two" if s >= 16384 else "default" for s in SIZES}
    rule = read_library(tmp_path / "library.json").told("bcast")[0]
    # Between 1024 bytes and 16384 one more size was measured, and the rule begins there at the earliest.
    assert 1024 < rule.min_bytes <= 16384
    assert rule.evidence.speedup == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_makes_no_rules(tmp_path: Path, seed: int) -> None:
    def same(name: str, size: int, recipe: str, _: Mapping[str, str]) -> float:
        return 1e-4

    target = MadeUpLibrary(same, noise=0.3)
    target.launches += [{}] * seed * 100
    assert set(tuned(tmp_path, target, "bcast", "barrier").values()) == {"default"}


@pytest.mark.parametrize(
    ("vendor", "names", "looks", "proofs"),
    [("MPICH", ["native:binomial"], 1, 1), ("Intel MPI", [], 12, 2 * 3)],
)
def test_what_is_slower_in_one_launch_is_not_timed_in_the_next(
    tmp_path: Path, vendor: str, names: Sequence[str], looks: int, proofs: int
) -> None:
    """Except where the library is told something for each size: then what is no slower counts too."""

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        screened = len(target.launches) <= looks
        is_told = recipe == "native:binomial" or variables.get("I_MPI_ADJUST_BCAST") == "1"
        return (0.5e-4 if screened else 2e-4) if is_told else 1e-4

    target = MadeUpLibrary(time_s, library=library(vendor, "2021.18"), names=names)
    assert set(tuned(tmp_path, target).values()) == {"default"}
    assert len(target.launches) == looks + proofs


@pytest.mark.parametrize(
    ("vendor", "names"),
    [("MPICH", ["native:binomial"]), ("Open MPI", ["native:pipeline"]), ("Intel MPI", [])],
)
def test_what_launches_take_to_start_is_of_the_budget(
    tmp_path: Path, vendor: str, names: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many are foreseen as there are, where one thing is the best. A tuning that goes on has the same
    budget, and finds what was measured.
    """
    launch_s = 2.0

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        is_fast = recipe in names or variables.get("I_MPI_ADJUST_BCAST") == "1"
        return 0.5e-4 if is_fast else 1e-4 if recipe == "native" and not variables else 2e-4

    target = MadeUpLibrary(time_s, library=library(vendor, "2021.18"), names=names)
    budgets_s: list[float | None] = []
    foreseen: list[int] = []

    class Race(ToldRace):
        def __init__(self, target: Target, launches: ToldLaunches, budget_s: float | None) -> None:
            super().__init__(target, launches, budget_s)
            budgets_s.append(budget_s)
            foreseen.append(launches_of(launches, ["bcast"]))

    monkeypatch.setattr("isochrone.steps.library.ToldRace", Race)
    monkeypatch.setattr("isochrone.steps.rounds.build_for", lambda library: None)
    monkeypatch.setattr("isochrone.steps.rounds.time.monotonic", lambda: launch_s * len(target.launches))
    write_topology(tmp_path / "topology.json", topology_of(HOSTS))
    for _ in range(2):
        tune_library(target, tmp_path / "topology.json", tmp_path / "library.json", budget_s=100.0)  # type: ignore[arg-type]
        assert foreseen[-1] == len(target.launches)
        assert budgets_s[-1] == 100.0 - 2.0 * foreseen[0]
        launch_s = 5.0


def test_what_is_faster_at_one_root_and_slower_at_another_gets_none(tmp_path: Path) -> None:
    target = MadeUpLibrary(lambda *_: 1e-4)
    plain = target.run

    def run(program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        from isochrone.files import read_bench

        plain(program, arguments, talk)
        output = dict(zip(arguments[::2], arguments[1::2], strict=True))["--output"]
        bench = read_bench(output)
        for key, times in bench.slowest_s.items():
            if key.recipe == "native:one":
                times *= 0.5 if key.root == 0 else 2.0
        write_bench(output, bench)

    target.run = run  # type: ignore[method-assign]
    assert set(tuned(tmp_path, target).values()) == {"default"}


def test_open_mpi_4_is_started_with_han_too(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        han = "OMPI_MCA_coll_han_priority" in variables
        return 0.5e-4 if han and recipe == "native" else 1e-4

    assert set(tuned(tmp_path, MadeUpLibrary(time_s, library("Open MPI", "4.1.4"))).values()) == {"han"}


def test_open_mpi_5_is_told_all_in_the_launches_that_time_its_own_choice(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        assert not variables
        return {"native:tuned": 0.7e-4, "native:chain": 0.5e-4}.get(recipe, 1e-4)

    names = ("native:pipeline", "native:chain", "native:tuned")
    target = MadeUpLibrary(time_s, library=library("Open MPI", "5.0.1"), names=names)
    assert set(tuned(tmp_path, target).values()) == {"chain"}
    assert len(target.launches) == 1 + 3


def test_what_a_program_s_library_cannot_be_told_is_not_chosen(tmp_path: Path) -> None:
    """By a file, for sizes and communicators; nor what would be wrong for operations that do not commute."""
    for number, (vendor, collective, cannot, can) in enumerate(
        [("MPICH", "bcast", "tree", "binomial"), ("Open MPI", "reduce", "binomial", "rabenseifner")]
    ):
        fast = {f"native:{cannot}": 0.3e-4, f"native:{can}": 0.6e-4}
        target = MadeUpLibrary(
            lambda _name, _size, recipe, _variables, fast=fast: fast.get(recipe, 1e-4),
            library=library(vendor, "5.0.1"),
            names=tuple(fast),
        )
        folder = tmp_path / str(number)
        folder.mkdir()
        assert set(tuned(folder, target, collective).values()) == {can}


def test_of_a_library_that_is_told_nothing_all_is_chosen_from(tmp_path: Path) -> None:
    """The function in C has it."""
    target = MadeUpLibrary(lambda _n, _s, recipe, _v: 0.5e-4 if recipe == "native:two" else 1e-4)
    target.library = library("MVAPICH", "3.0")
    assert set(tuned(tmp_path, target).values()) == {"two"}


@pytest.mark.parametrize(("gain", "is_told"), [(1.02, False), (1.06, True)])
def test_what_ran_in_other_launches_must_gain_more_than_launches_differ(
    tmp_path: Path, gain: float, is_told: bool
) -> None:
    """No turn of it was beside one of the library's own."""

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        return {None: 1e-4, "7": 1e-4 / gain}.get(variables.get("I_MPI_ADJUST_BCAST"), 2e-4)

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.0)
    assert set(tuned(tmp_path, target).values()) == {"7" if is_told else "default"}


@pytest.mark.parametrize(
    ("vendor", "name"),
    [
        ("Open MPI", "OMPI_MCA_coll_tuned_dynamic_rules_filename"),
        ("MPICH", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"),
        ("MPICH", "MPIR_CVAR_BCAST_INTRA_ALGORITHM"),
        ("Intel MPI", "I_MPI_ADJUST_BCAST"),
    ],
)
def test_a_library_that_is_told_already_is_not_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendor: str, name: str
) -> None:
    monkeypatch.setenv(name, "x")
    target = MadeUpLibrary(lambda *_: 1e-4, library=library(vendor, "5.0.1"))
    with pytest.raises(IsochroneError, match=f"{name}: .* is told already what to use, .*; unset it"):
        tuned(tmp_path, target)
    assert not target.launches


def test_a_survey_of_other_ranks_is_refused(tmp_path: Path) -> None:
    target = replace(MadeUpLibrary(lambda *_: 1e-4), rank_count=3)
    with pytest.raises(IsochroneError, match="survey is of 4 ranks, and made up starts 3"):
        tuned(tmp_path, target)


def test_where_times_have_no_noise_one_repetition_tells(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, _: Mapping[str, str]) -> float:
        return 0.5e-4 if recipe == "native:two" and size >= 1024 else 1e-4

    found = tuned(tmp_path, MadeUpLibrary(time_s, noise=0.0, exact=True))
    assert found == {("bcast", s): "two" if s >= 1024 else "default" for s in SIZES}


def test_several_collectives_share_the_launches_and_one_that_fails_is_tried_by_itself(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float | None:
        if variables.get("I_MPI_ADJUST_BCAST") == "3":
            return None
        return 0.5e-4 if variables.get("I_MPI_ADJUST_ALLREDUCE") == "3" and name == "allreduce" else 1e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.0)
    found = tuned(tmp_path, target, "bcast", "allreduce")
    assert found["allreduce", 1024] == "3"
    assert {algorithm for (name, _), algorithm in found.items() if name == "bcast"} == {"default"}
    together = [v for v in target.launches if len(v) == 2]
    assert {tuple(sorted(v.values())) for v in together} >= {(str(k), str(k)) for k in range(1, 12)}
    # Twelve ways at once, two by themselves; three proofs, each with two launches, and three of an end.
    assert len(target.launches) <= 1 + 12 + 2 + 2 * 3 + 2 * 3


def test_an_algorithm_that_ends_the_program_is_left_out_where_it_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def time_s(name: str, size: int, recipe: str, _: Mapping[str, str]) -> float | None:
        if (name, recipe) == ("reduce", "native:two") and size >= 16384:
            return None
        return {"native": 1e-4, "native:one": 0.5e-4}.get(recipe, 2e-4)

    caplog.set_level("INFO")
    found = tuned(tmp_path, MadeUpLibrary(time_s), "bcast", "reduce")
    assert found == {
        (name, size): "one" if name == "bcast" or size < 16384 else "default"
        for name in ("bcast", "reduce")
        for size in SIZES
    }
    said = [record.getMessage() for record in caplog.records if "is left out" in record.getMessage()]
    assert any(line.startswith("what else reduce of 256 KiB can be told is left out: ") for line in said), (
        said
    )


def test_an_interrupted_tuning_goes_on(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, _: Mapping[str, str]) -> float:
        return 0.5e-4 if recipe == "native:two" else 1e-4

    whole = MadeUpLibrary(time_s)
    (tmp_path / "whole").mkdir()
    expected = tuned(tmp_path / "whole", whole)
    cut = MadeUpLibrary(time_s)
    plain = cut.run

    def run(program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        if len(cut.launches) == 2:
            raise KeyboardInterrupt
        plain(program, arguments, talk)

    cut.run = run  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path, cut)
    cut.run = plain  # type: ignore[method-assign]
    assert tuned(tmp_path, cut) == expected
    assert len(cut.launches) == len(whole.launches)


def test_a_budget_asks_for_fewer_sizes_and_limits_each_launch(tmp_path: Path) -> None:
    from isochrone.files import Work

    works: list[Work] = []
    target = MadeUpLibrary(lambda *_: 1e-4)
    plain = target.run

    def run(program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        works.append(read_work(dict(zip(arguments[::2], arguments[1::2], strict=True))["--work"]))
        plain(program, arguments, talk)

    target.run = run  # type: ignore[method-assign]
    write_topology(tmp_path / "topology.json", topology_of(HOSTS))
    sizes = tuple(2**k for k in range(14))
    tune_library(
        target, tmp_path / "topology.json", tmp_path / "library.json", ("bcast",), sizes, budget_s=10.0
    )
    # How long a launch takes to start is asked first, and then once what its own choice takes.
    nothing, asked, *raced = works
    assert not nothing.cases
    assert {case.recipes for case in asked.cases} == {("native",)}
    assert asked.repetitions == 1
    assert {case.size_bytes for case in raced[0].cases} == set(first_of(sizes))
    assert all(work.budget_s for work in raced)
    assert sum(work.budget_s or 0 for work in raced) <= 10.0
