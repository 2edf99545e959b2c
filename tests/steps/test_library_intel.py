# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of Intel MPI, whose variables say for all sizes of a collective at once what it is to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from made_library import SIZES, MadeUpLibrary, library, tuned

from isochrone.export.tuning.intel import variable, without_equal
from isochrone.files import (
    read_library,
    write_bench,
)
from isochrone.launch.process import Talk


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
        sizes = (1, 64, 500, 1024, 4000, 16384, 20_000, 32_000, 40_000, 50_000)
        own = [time_s("bcast", size, "native", given) for size in sizes]
        assert own == [1e-4] * len(sizes)
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


@pytest.mark.parametrize("begins", [20_000, 50_000, 60_000])
def test_where_a_rule_of_intel_mpi_begins_nothing_that_is_slower_is_told(tmp_path: Path, begins: int) -> None:
    """What is faster from some size on is slower below it, and no other is as fast as the own choice."""

    def time_s(name: str, size: int, recipe: str, variables: Mapping[str, str]) -> float:
        number = told_numbers(variables, "bcast", size)
        if number == "7":
            return 0.3e-4 if size > begins else 2e-4
        return 1e-4 if number is None or (number == "5" and size <= begins) else 2e-4

    target = MadeUpLibrary(time_s, library("Intel MPI", "2021.18"), names=(), noise=0.001)
    tuned(tmp_path, target)
    tuning = read_library(tmp_path / "library.json")
    assert tuning.told("bcast")
    assert without_equal(tuning, "bcast")
