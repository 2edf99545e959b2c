# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of a library whose times are made up: a rule only for what is proven faster than its own choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from tuned import topology_of

from isochrone.errors import IsochroneError
from isochrone.export.tuning.intel import variable, without_equal
from isochrone.files import (
    Bench,
    BenchKey,
    MpiLibrary,
    read_library,
    read_work,
    write_bench,
    write_topology,
)
from isochrone.launch import library as known
from isochrone.launch.process import Talk
from isochrone.steps.library import tune_library
from isochrone.tune.sizes import first_of

HOSTS = ["a", "a", "b", "b"]
SIZES = (64, 1024, 16384, 262144)
Times = Callable[[str, int, str, Mapping[str, str]], float | None]
"""Of a collective, a size, a recipe and variables; None: that launch fails."""


def library(vendor: str, version: str) -> known.MpiLibrary:
    return known.MpiLibrary("x", vendor, version, "libmpi.so.40", "/lib/x", "mpicc", None, "PATH")


@dataclass
class MadeUpLibrary:
    """Answers with times of a function, with noise."""

    time_s: Times
    library: known.MpiLibrary | None = None
    names: Sequence[str] = ("native:one", "native:two", "native:three")
    noise: float = 0.02
    exact: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    launches: list[Mapping[str, str]] = field(default_factory=list)
    name: str = "made up"
    simulated: bool = False
    cores: int | None = None
    truth: dict[str, list[int]] | None = None
    rank_count: int | None = len(HOSTS)
    identity: str = ""
    launch_words: Sequence[str] = ()

    def with_variables(self, variables: Mapping[str, str]) -> MadeUpLibrary:
        return replace(self, variables={**self.variables, **variables})

    def baselines(self, collective: str) -> Sequence[str]:
        return ("native:*",)

    def check(self, program: str, output: Path) -> None:
        """All that is made up is true."""

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        work = read_work(given["--work"])
        self.launches.append(self.variables)
        random = np.random.default_rng(len(self.launches))
        times = {}
        for case in work.cases:
            for asked in case.recipes:
                for recipe in self.names if asked == "native:*" else (asked,):
                    once = self.time_s(case.collective, case.size_bytes, recipe, self.variables)
                    if once is None:
                        raise IsochroneError("the library gave up")
                    key = BenchKey(case.size_bytes, case.root, recipe, case.collective)
                    times[key] = once * random.lognormal(0, self.noise, work.repetitions)
        topology = topology_of(HOSTS)
        mpi = MpiLibrary("MPICH Version: 5.0", "4.0", "libmpi.so.12")
        write_bench(given["--output"], Bench(topology.places, mpi, "clock", 0.0, False, True, times, 1.0))


def tuned(tmp_path: Path, target: MadeUpLibrary, *collectives: str) -> dict[tuple[str, int], str]:
    """The algorithm for each collective and size."""
    write_topology(tmp_path / "topology.json", topology_of(HOSTS))
    path = tmp_path / "library.json"
    tuning = tune_library(target, tmp_path / "topology.json", path, collectives or ("bcast",), SIZES)
    assert read_library(path) == tuning
    assert tuning.ranks == len(HOSTS)
    return {
        (name, size): tuning.algorithm(name, size) for name in collectives or ("bcast",) for size in SIZES
    }


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


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("slower", "is_told"), [(1.0, True), (1.3, False)])
def test_what_is_as_fast_stands_for_the_own_choice_of_intel_mpi_at_each_size(
    tmp_path: Path, seed: int, slower: float, is_told: bool
) -> None:
    """By chance it is a little slower at half of the sizes."""

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        if variables.get("I_MPI_ADJUST_BCAST") != "7":
            return 2e-4 if variables else 1e-4
        return 0.3e-4 if size > 1000 else slower * 1e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.03)
    target.launches += [{}] * seed * 100
    tuned(tmp_path, target)
    own = [
        rule.equal for rule in read_library(tmp_path / "library.json").rules if rule.algorithm == "default"
    ]
    assert own
    assert (set(own) == {"7"}) == is_told


def test_what_is_as_fast_from_one_root_alone_does_not_stand_for_the_own_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        if variables.get("I_MPI_ADJUST_BCAST") != "7":
            return 2e-4 if variables else 1e-4
        return 0.3e-4 if size > 1000 else 1e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.0)
    plain = MadeUpLibrary.run

    def run(self: MadeUpLibrary, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        from isochrone.files import read_bench

        plain(self, program, arguments, talk)
        output = dict(zip(arguments[::2], arguments[1::2], strict=True))["--output"]
        bench = read_bench(output)
        if self.variables.get("I_MPI_ADJUST_BCAST") == "7":
            for key, times in bench.slowest_s.items():
                if key.size_bytes <= 1000:
                    times *= 0.7 if key.root == 0 else 1.4
        write_bench(output, bench)

    monkeypatch.setattr(MadeUpLibrary, "run", run)
    tuned(tmp_path, target)
    own = [
        rule.equal for rule in read_library(tmp_path / "library.json").rules if rule.algorithm == "default"
    ]
    assert own
    assert "7" not in own[:-1]


def told_numbers(variables: Mapping[str, str], collective: str, size: int) -> str | None:
    """The number that Intel MPI takes for a size."""
    text = variables.get(f"I_MPI_ADJUST_{collective.upper()}")
    if text is None or ":" not in text:
        return text
    ranges = [part.replace(":", "-").split("-") for part in text.split(";")]
    return next(number for number, first, last in ranges if int(first) <= size <= int(last))


@pytest.mark.parametrize("at_both", [True, False])
def test_one_algorithm_stands_for_the_own_choice_of_intel_mpi_from_each_size_to_the_next(
    tmp_path: Path, at_both: bool
) -> None:
    """Another one may do so beyond it. Where none is as fast at both the collective is not told."""
    least = 1000 if at_both else 2000

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        number = told_numbers(variables, "bcast", size)
        if number == "7" and size > 50_000:
            return 0.3e-4
        near = [None, *(["2"] if size <= 1100 else []), *(["5"] if size >= least else [])]
        return 1e-4 if number in near else 2e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.001)
    tuned(tmp_path, target)
    tuning = read_library(tmp_path / "library.json")
    assert tuning.told("bcast")
    assert (not without_equal(tuning, "bcast")) == at_both
    if at_both:
        given = variable(
            "bcast",
            [
                (r.min_bytes, r.max_bytes, r.equal if r.algorithm == "default" else r.algorithm)
                for r in tuning.rules
            ],
            tuning.ranks,
        )
        own = [time_s("bcast", size, "native", given) for size in (1, 64, 500, 1024, 4000, 16384)]
        assert own == [1e-4] * 6
        assert told_numbers(given, "bcast", 262144) == "7"


def test_one_launch_of_intel_mpi_proves_another_algorithm_at_each_size(tmp_path: Path) -> None:
    fast = dict(zip(SIZES, ["2", "5", "7", "9"], strict=True))

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        number = told_numbers(variables, "bcast", size)
        beside = {fast[max(s for s in SIZES if s <= size)], fast[min(s for s in SIZES if s >= size)]}
        return 0.5e-4 if number in beside else 1e-4 if number is None else 2e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.001)
    assert tuned(tmp_path, target) == {("bcast", size): number for size, number in fast.items()}
    # A look at each of eleven numbers, and three proofs: the own choice, one launch for all sizes, and one
    # more for what is between them.
    assert len(target.launches) == 12 + 3 * (1 + 1 + 1)


def test_what_intel_mpi_refuses_at_one_size_of_a_proof_costs_that_alone(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float | None:
        number = told_numbers(variables, "bcast", size)
        if number == "2" and size > 64 and ":" in variables["I_MPI_ADJUST_BCAST"]:
            return None
        best = "2" if size <= 64 else "5"
        return 0.5e-4 if number == best else 1e-4 if number is None else 2e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.001)
    found = tuned(tmp_path, target)
    assert {found["bcast", size] for size in SIZES[1:]} == {"5"}


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


def test_intel_mpi_is_started_once_for_each_number_and_what_it_cannot_do_is_left_out(tmp_path: Path) -> None:
    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float | None:
        number = variables.get("I_MPI_ADJUST_BCAST")
        if number == "3":
            return None
        if number == "7":
            return 1.0e-4 if size < 1000 else 0.5e-4
        return 1e-4 if number is None else 2e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.0)
    found = tuned(tmp_path, target)
    assert found == {("bcast", s): "7" if s > 1000 else "default" for s in SIZES}
    small = read_library(tmp_path / "library.json").rules[0]
    # Where its own choice is kept: what may stand for it.
    assert (small.algorithm, small.equal) == ("default", "7")
    # Also at a size between two that are tuned: Intel MPI is told all of them, or none.
    rules = read_library(tmp_path / "library.json").rules
    assert len(rules) > len(SIZES)
    assert {rule.equal for rule in rules if rule.algorithm == "default"} == {"7"}
    assert {v.get("I_MPI_ADJUST_BCAST") for v in target.launches} == {None, *map(str, range(1, 12))}


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
    assert {case.size_bytes for case in works[0].cases} == set(first_of(sizes))
    assert all(work.budget_s for work in works)
    assert sum(work.budget_s or 0 for work in works) <= 10.0
