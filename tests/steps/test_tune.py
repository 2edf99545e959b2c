# SPDX-License-Identifier: BSD-3-Clause
"""Tuning against a cluster whose times are made up: what is measured, and what the plan makes of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_target import MadeUpTarget, by_model, tuned_recipes

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    Work,
    read_plan,
    read_topology,
    read_work,
)
from isochrone.launch.process import Talk
from isochrone.steps.racing import Racing
from isochrone.steps.simulated_time import Simulated, foreseen, message_s
from isochrone.steps.tune import TuneOptions, tune
from isochrone.tune.collectives import collective, timed
from isochrone.tune.forms import Form
from isochrone.tune.layout import layout_of
from isochrone.units import format_duration

SIZES = (64, 65536, 1048576)


@pytest.mark.parametrize("sizes", [SIZES, SIZES[:1]])
@pytest.mark.parametrize("exact", [True, False])
def test_every_benchmark_has_something_to_time(
    topology_file: Path, sizes: Sequence[int], exact: bool
) -> None:
    target = MadeUpTarget(
        read_topology(topology_file), by_model(topology_file, 1.5), exact, 0 if exact else 0.01
    )
    chosen = tuned_recipes(topology_file, target, sizes)
    assert set(chosen) == set(sizes)
    assert "native" not in chosen.values()
    for cases in target.asked:
        assert cases
        assert all(recipes for _, _, recipes in cases)
    if exact and len(sizes) == 1:
        # The candidates against the library, and the plan: there is no next size to learn from.
        assert len(target.asked) == 2


@pytest.mark.parametrize("exact", [True, False])
def test_what_is_best_for_one_size_is_tried_for_the_next(topology_file: Path, exact: bool) -> None:
    topology, model = read_topology(topology_file), by_model(topology_file, 1.5)
    plain = MadeUpTarget(topology, model, exact)
    tuned_recipes(topology_file, plain, SIZES)
    first = {size: recipes for size, _, recipes in plain.asked[0]}
    unexpected = next(
        recipe
        for recipe in first[SIZES[2]]
        if recipe not in first[SIZES[1]] and Form.of(recipe).segment_bytes < SIZES[1]
    )

    def time_s(size_bytes: int, root: int, recipe: str) -> float:
        return model(size_bytes, root, recipe) / (10 if recipe == unexpected else 1)

    chosen = tuned_recipes(topology_file, MadeUpTarget(topology, time_s, exact), SIZES)
    assert chosen[SIZES[1]] == chosen[SIZES[2]] == unexpected


@pytest.mark.parametrize("sizes", [SIZES, None])
@pytest.mark.parametrize("names", [("bcast",), ("bcast", "allreduce", "barrier", "alltoall")])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_simulated_tuning_says_first_how_much_it_simulates(
    topology_file: Path,
    noise: float,
    sizes: Sequence[int] | None,
    names: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def time_s(size_bytes: int, root: int, recipe: str) -> float:
        return 2e-5 if recipe == "native" else 1e-5

    target = MadeUpTarget(read_topology(topology_file), time_s, noise == 0, noise)
    found: list[tuple[Simulated, int]] = []

    def told(racing: Racing) -> Simulated:
        found.append((foreseen(racing), target.calls))
        return found[-1][0]

    monkeypatch.setattr("isochrone.steps.tune.foreseen", told)
    caplog.set_level(logging.INFO)
    files = topology_file, topology_file.with_name("plan.json"), topology_file.with_name("b")
    tune(target, *files, TuneOptions(sizes, names))
    ((work, calls_before),) = found
    assert calls_before == 0
    assert 0.5 < work.calls / target.calls < 2
    # Among twelve ranks a call has 11 messages at the least.
    assert work.messages > 11 * target.calls / 2
    assert work.time_s > work.messages * message_s(12, 0)
    said = [record.getMessage() for record in caplog.records if "tuning simulates" in record.getMessage()]
    assert len(said) == 1
    assert f"about {format_duration(work.time_s)};" in said[0]


def test_each_collective_gets_rules_of_its_own(topology_file: Path) -> None:
    topology = read_topology(topology_file)
    layout = layout_of(topology, topology_file)
    target = MadeUpTarget(topology, lambda *_: 1.0)
    names = timed()
    priced: set[tuple[str, int]] = set()
    simplest = {row["name"]: row["across"][0]["name"] for row in _core.collectives()}

    def price(collective: str, root: int, size_bytes: int, recipe: str) -> float:
        priced.add((collective, size_bytes))
        by = simplest[collective] if recipe == "native" else recipe
        return _core.predict(collective, layout, by, root, size_bytes) * (3 if recipe == "native" else 1)

    target.price = price
    files = [topology_file.with_name(name) for name in ("plan.json", "b")]
    plan, bench = tune(target, topology_file, *files, TuneOptions(SIZES, names))
    assert set(bench.collectives) == set(names)
    measured = {size for cases in target.asked for size, _, recipes in cases if "plan" in recipes}
    text = files[0].read_text()
    # What is faster than the library's own depends on the order of the ranks, as that does.
    assert {rule.order for rule in plan.rules} == {layout.order()}
    for row in map(collective, names):
        name = row["name"]
        rules = [rule for rule in plan.rules if rule.collective == name]
        assert any(rule.recipe != "native" for rule in rules), name
        assert all(("root in" in rule.shape) == row["rooted"] for rule in rules)
        proven = [rule for rule in rules if rule.recipe != "native"]
        for rule in proven:
            at = rule.evidence.measured_bytes
            # Of what each rank knows the size of, a rule is for calls about the size that its times are of.
            assert (at is None) == (row["agreed"] == "nothing"), name
            assert at is None or (
                rule.min_bytes <= at <= rule.max_bytes and at in measured and (name, at) in priced
            )
        size = rules[0].min_bytes
        recipe, reason = _core.choose(text, name, layout, 0, size)
        assert recipe != "native", reason
        assert recipe == _core.parse_recipe(rules[0].recipe)
        if not row["has_data"] or row["agreed"] == "nothing":
            assert [(rule.min_bytes, rule.max_bytes) for rule in rules] == [(0, 0)]


@pytest.mark.parametrize("each_s", [0.0, 2e-5])
def test_a_plan_says_what_messages_took_in_its_races(topology_file: Path, each_s: float) -> None:
    layout = layout_of(read_topology(topology_file), topology_file)
    model = by_model(topology_file, 9.0)

    def time_s(size_bytes: int, root: int, recipe: str) -> float:
        if recipe == "native":
            return model(size_bytes, root, recipe)
        messages = _core.messages("bcast", layout, recipe, root, size_bytes)
        return model(size_bytes, root, recipe) + each_s * messages

    target = MadeUpTarget(read_topology(topology_file), time_s)
    files = [topology_file.with_name(name) for name in ("plan.json", "b")]
    plan, _ = tune(target, topology_file, *files, TuneOptions(SIZES))
    assert plan == read_plan(files[0])
    assert plan.messages is not None
    assert plan.messages.each_s == pytest.approx(each_s, rel=0.02, abs=1e-9)
    assert plan.messages.most > layout.size


def test_a_library_at_its_best_is_left_alone(topology_file: Path) -> None:
    target = MadeUpTarget(read_topology(topology_file), by_model(topology_file, 0.01), False, 0.05)
    assert tuned_recipes(topology_file, target, SIZES) == dict.fromkeys(SIZES, "native")


@pytest.mark.parametrize("factor", [1.5, 1.0], ids=["slower", "as fast"])
def test_a_rule_that_is_not_proven_again_when_verified_is_taken_back(
    topology_file: Path, factor: float
) -> None:
    sizes = (64, 512, 65536, 524288, 1048576)
    target = MadeUpTarget(
        read_topology(topology_file), by_model(topology_file, 1.5), plan_over_native={sizes[2]: factor}
    )
    chosen = tuned_recipes(topology_file, target, sizes)
    assert [size for size in sizes if chosen[size] == "native"] == [sizes[2]]


def test_simulated_noise_takes_a_bounded_number_of_calls(topology_file: Path) -> None:
    # A simulated call takes as much real time without noise as with it.
    topology, model = read_topology(topology_file), by_model(topology_file, 1.5)
    exact = MadeUpTarget(topology, model, True)
    noisy = MadeUpTarget(topology, model, False, 0.05)
    real = MadeUpTarget(topology, model, False, 0.05, simulated=False)
    for target in (exact, noisy, real):
        tuned_recipes(topology_file, target, SIZES)
    assert noisy.calls < 25 * exact.calls
    # A race takes few calls on a real machine as well, which has twice the roots and three launches.
    assert noisy.calls < real.calls / 2


def test_what_was_disturbed_in_the_race_is_no_evidence(topology_file: Path) -> None:
    topology, model = read_topology(topology_file), by_model(topology_file, 1.0)
    seen: set[int] = set()

    def time_s(size_bytes: int, root: int, recipe: str) -> float:
        first = recipe == "native" and size_bytes == SIZES[0] and size_bytes not in seen
        if recipe == "native":
            seen.add(size_bytes)
        return model(size_bytes, root, recipe) * (1e4 if first else 1)

    target = MadeUpTarget(topology, time_s)
    plan, _ = tune(
        target,
        topology_file,
        topology_file.with_name("plan.json"),
        topology_file.with_name("b"),
        TuneOptions(SIZES),
    )
    assert seen
    assert all(rule.evidence.speedup < 50 for rule in plan.rules)


@pytest.mark.parametrize("started", [4, 13])
def test_another_number_of_ranks_is_said_before_anything_is_run(topology_file: Path, started: int) -> None:
    target = MadeUpTarget(read_topology(topology_file), by_model(topology_file, 1.5), rank_count=started)
    with pytest.raises(
        IsochroneError, match=f"the survey is of 12 ranks, and made up starts {started}; tune with 12 ranks"
    ):
        tuned_recipes(topology_file, target, SIZES)
    assert not target.asked


def test_where_a_rule_is_taken_back_its_neighbours_claim_nothing_towards_it(topology_file: Path) -> None:
    sizes = (4096, 65536, 1048576)
    target = MadeUpTarget(
        read_topology(topology_file), by_model(topology_file, 1.5), plan_over_native={sizes[2]: 1.5}
    )
    files = [topology_file.with_name(name) for name in ("plan.json", "b")]
    plan, bench = tune(target, topology_file, *files, TuneOptions(sizes))
    shape = plan.rules[0].shape
    assert plan.recipe(shape, sizes[2]) == "native"
    assert plan.recipe(shape, sizes[1]) not in ("native", None)
    assert plan.recipe(shape, sizes[1] + 1) is None
    assert {case.size_bytes for case in bench.cases} == set(sizes)


@pytest.mark.parametrize(("border_gains", "low", "high"), [(True, 16384, 262144), (False, 65536, 65536)])
def test_a_gain_between_two_rules_taken_back_holds_as_far_as_it_is_proven(
    topology_file: Path, border_gains: bool, low: int, high: int
) -> None:
    sizes = (4096, 65536, 1048576)
    slower = {sizes[0]: 1.5, sizes[2]: 1.5} | ({} if border_gains else {16384: 1.5, 262144: 1.5})
    times = by_model(topology_file, 1.5)
    target = MadeUpTarget(read_topology(topology_file), times, plan_over_native=slower)
    files = [topology_file.with_name(name) for name in ("plan.json", "b")]
    plan, bench = tune(target, topology_file, *files, TuneOptions(sizes))
    shape = plan.rules[0].shape
    found = [plan.recipe(shape, size) for size in (low, 65536, high)]
    assert [recipe in ("native", None) for recipe in found] == [not border_gains] * 3
    assert [plan.recipe(shape, size) for size in (sizes[0], sizes[2])] == ["native"] * 2
    assert {case.size_bytes for case in bench.cases} == set(sizes)


def test_what_a_launch_leaves_alone_gets_borders_in_those_that_follow(
    topology_file: Path,
) -> None:
    sizes = (4096, 65536, 1048576)
    target = MadeUpTarget(
        read_topology(topology_file),
        by_model(topology_file, 1.5),
        exact=False,
        simulated=False,
        plan_over_native={sizes[0]: 1.5, sizes[2]: 1.5},
    )
    tuned_recipes(topology_file, target, sizes)
    verified = [{size for size, _, recipes in asked if "plan" in recipes} for asked in target.asked]
    first, *others = [sizes_of_launch for sizes_of_launch in verified if sizes_of_launch]
    assert first == set(sizes)
    # Each of them in three launches too, of which one is more than there were.
    assert others == [{16384, 65536, 262144}] * 2 + [{16384, 262144}]


@pytest.mark.parametrize("exact", [True, False])
def test_where_the_librarys_own_gives_way_is_found_between_the_sizes_raced_first(
    topology_file: Path, exact: bool
) -> None:
    sizes = tuple(8 << at for at in range(14))
    slow, fast = (by_model(topology_file, factor) for factor in (3.0, 0.3))
    target = MadeUpTarget(
        read_topology(topology_file),
        lambda size, root, recipe: (slow if size >= sizes[9] else fast)(size, root, recipe),
        exact,
        0 if exact else 0.02,
    )
    chosen = tuned_recipes(topology_file, target, sizes)
    assert [size for size in sizes if chosen[size] == "native"] == list(sizes[:9])


def test_a_gain_at_the_last_size_alone_is_neither_a_rule_nor_shown_as_one(topology_file: Path) -> None:
    def time_s(size: int, root: int, recipe: str) -> float:
        return 1e-3 if recipe == "native" else (0.5e-3 if size == SIZES[-1] else 2e-3)

    target = MadeUpTarget(read_topology(topology_file), time_s)
    files = [topology_file.with_name(name) for name in ("plan.json", "b")]
    plan, bench = tune(target, topology_file, *files, TuneOptions(SIZES))
    assert {rule.recipe for rule in plan.rules} == {"native"}
    for key, times in bench.slowest_s.items():
        assert times.tolist() == bench.slowest_s[key.case.key("native")].tolist()


def test_what_was_raced_is_expected_to_take_as_long_once_more(
    topology_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = MadeUpTarget(read_topology(topology_file), by_model(topology_file, 3.0), simulated=False)
    told: list[Work] = []
    run = MadeUpTarget.run

    def reading(self: MadeUpTarget, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        if talk is None:
            told.append(read_work(dict(zip(arguments[::2], arguments[1::2], strict=True))["--work"]))
        run(self, program, arguments, talk)

    monkeypatch.setattr(MadeUpTarget, "run", reading)
    tuned_recipes(topology_file, target, SIZES)
    assert not any(case.expected_s for case in told[0].cases)
    verified = [case for work in told for case in work.cases if "plan" in case.recipes]
    assert verified
    for case in verified:
        assert case.expected_s.keys() == {"native", "plan"}
        if case.size_bytes in SIZES:
            # It was raced from some roots, and is verified from others.
            native_s = [target.time_s(case.size_bytes, root, "native") for root in range(12)]
            assert min(native_s) <= case.expected_s["native"] <= max(native_s)
        assert case.expected_s["plan"] < case.expected_s["native"]
