# SPDX-License-Identifier: BSD-3-Clause
"""A tuning leaves out the sizes that it has no time for, and says so."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from grouped import grouped

from isochrone import _core
from isochrone.files import read_topology
from isochrone.tune import affordable
from isochrone.tune.affordable import Grids, Times, affordable_grids
from isochrone.tune.candidates import rough_s
from isochrone.tune.collectives import grids
from isochrone.tune.effort import NOISY, WINDOW, least_of, left_to_measure
from isochrone.tune.layout import layout_of
from isochrone.tune.sizes import few_of

SIZES = (64, 4096, 65536, 1048576)
NAMES = ("bcast", "allreduce", "barrier", "alltoall")


@pytest.fixture(scope="module", autouse=True)
def prices() -> Iterator[None]:
    """Each price is searched once: it takes most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(affordable, "rough_s", cache(affordable.rough_s))
        yield


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> _core.Layout:
    """Four sites of two ranks, 10 ms apart."""
    folder = tmp_path_factory.mktemp("sites")
    file = grouped(folder, 8, 2, 1e5, 1e7)
    return layout_of(read_topology(file), file)


def test_with_time_enough_every_size_is_tuned(layout: _core.Layout, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for budget_s in (None, 1e6):
        assert affordable_grids(NAMES, SIZES, layout, budget_s) == grids(NAMES, SIZES, layout.size)
    assert not caplog.records


def _left(found: Grids, whole: Grids) -> dict[str, int]:
    """How many of the sizes of each collective, from the least one on, it has few of, or all."""
    if found == whole:
        return {name: len(sizes) for name, sizes in whole.items()}
    left = {}
    for name, sizes in found.items():
        left[name] = whole[name].index(sizes[-1]) + 1
        assert sizes == few_of(whole[name][: left[name]])
    return left


@pytest.mark.parametrize("budget_s", [1e-6, 5.0, 20.0, 60.0])
def test_what_is_dear_is_left_out_and_named(
    layout: _core.Layout, budget_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    whole = grids(NAMES, SIZES, layout.size)
    longer = affordable_grids(NAMES, SIZES, layout, 2 * budget_s)
    caplog.set_level(logging.INFO)
    caplog.clear()
    found = affordable_grids(NAMES, SIZES, layout, budget_s)
    left = _left(found, whole)
    assert all(_left(longer, whole)[name] >= count for name, count in left.items())
    left_out = [name for name in NAMES if left[name] < len(whole[name])]
    said = [record.getMessage() for record in caplog.records]
    assert all((f"{name} from" in "".join(said)) == (name in left_out) for name in NAMES)
    assert budget_s > 1 or {"bcast", "allreduce"} <= set(left_out)
    thinned = [name for name in NAMES if name not in left_out and found[name] != whole[name]]
    assert all((f"{name} at" in "".join(said)) == (name in thinned) for name in NAMES)
    assert len(said) == bool(left_out) + bool(thinned)


def test_where_the_library_s_own_is_slow_there_is_time_for_fewer_sizes(
    layout: _core.Layout, caplog: pytest.LogCaptureFixture
) -> None:
    """A plan is held against it at each size, so that it takes most of the time."""
    wanted = grids(NAMES, None, layout.size)
    whole = grids(NAMES, None, layout.size, thinned=())
    asked: list[tuple[float, float]] = []
    budgets_s = np.geomspace(1, 1e6, 25)

    def grids_of(slower: float) -> list[Grids]:
        def own_s(sizes: Grids) -> Times:
            once_s = {(name, size): rough_s(name, layout, size) for name in sizes for size in sizes[name]}
            asked.append((sum(once_s.values()), budget_s))
            return {key: slower * one_s for key, one_s in once_s.items()}

        found = []
        for budget_s in budgets_s.tolist():
            found.append(affordable_grids(NAMES, None, layout, budget_s, own_s))
        return found

    without = [affordable_grids(NAMES, None, layout, budget_s) for budget_s in budgets_s]
    for slower in (0.5, 1.0, 10.0):
        found = grids_of(slower)
        enough = [grid == wanted for grid in found]
        assert enough == sorted(enough)
        assert (sum(enough) < sum(grid == wanted for grid in without)) == (slower > 1)
        for grid, other in zip(found, without, strict=True):
            if wanted not in (grid, other):
                fewer = sum(_left(grid, whole).values()) - sum(_left(other, whole).values())
                assert fewer == 0 if slower == 1 else fewer * (slower - 1) <= 0
    # To ask for it takes a small part of the budget, were it as fast as a good recipe: three calls of each.
    assert asked
    assert all(3 * took_s <= 0.02 * budget_s for took_s, budget_s in asked)
    caplog.set_level(logging.INFO)
    # A command that ran before in this process may have set the level, so that the lines above are here too.
    caplog.clear()
    assert affordable_grids(NAMES, None, layout, None) == wanted
    assert not caplog.records


def test_where_the_library_s_own_is_slow_at_large_sizes_alone_these_alone_are_left_out(
    layout: _core.Layout,
) -> None:
    whole = grids(["bcast"], None, layout.size)["bcast"]

    def own_s(sizes: Grids) -> Times:
        return {
            (name, size): (100.0 if size >= 1 << 20 else 1.0) * rough_s(name, layout, size)
            for name in sizes
            for size in sizes[name]
        }

    def most(budget_s: float, own_s: Callable[[Grids], Times] | None) -> int:
        return affordable_grids(["bcast"], None, layout, budget_s, own_s)["bcast"][-1]

    budgets_s = np.geomspace(100, 1e5, 15).tolist()
    later = [budget_s for budget_s in budgets_s if most(budget_s, own_s) != most(budget_s, None)]
    assert later
    assert all(most(budget_s, own_s) >= whole[len(whole) // 2] for budget_s in later)


def test_what_launches_take_to_start_is_of_the_budget_and_at_most_half_of_it() -> None:
    for budget_s in np.geomspace(10, 1000, 9).tolist():
        for starts_s, left_s in (
            (0.0, budget_s),
            (0.3 * budget_s, 0.7 * budget_s),
            (3 * budget_s, budget_s / 2),
        ):
            assert left_to_measure(budget_s, starts_s) == pytest.approx(left_s)


def test_a_slower_library_never_takes_less_time_to_prove() -> None:
    least = least_of(NOISY)
    times_s = [least.time_s(1.0, own_s, 0.1) for own_s in np.linspace(0.5, 8, 100)]
    assert times_s == sorted(times_s)
    # Far behind it is not in all looks.
    assert least.time_s(1.0, 8.0, 0.0) < WINDOW * (least.calls + 8 * least.own_calls)
    assert least.time_s(1.0, 1.0, 0.0) == pytest.approx(WINDOW * (least.calls + least.own_calls))


@pytest.mark.parametrize("seed", range(8))
def test_a_size_that_the_model_finds_cheaper_than_a_smaller_one_is_not_skipped(
    layout: _core.Layout, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = tuple(8 << at for at in range(18))
    prices = dict(zip(sizes, np.random.default_rng(seed).lognormal(0, 0.05, len(sizes)), strict=True))
    monkeypatch.setattr(affordable, "rough_s", lambda name, layout, size: float(prices.get(size, 1.0)))
    counts = []
    for budget_s in np.geomspace(1, 1e5, 400):
        found = affordable_grids(["bcast"], sizes, layout, float(budget_s))
        counts.append(len(sizes) + 1 if found["bcast"] == sizes else _left(found, {"bcast": sizes})["bcast"])
    # There is time for one after the other, until all fit.
    assert counts == sorted(counts)
    assert {counts[0], counts[-1]} == {1, len(sizes) + 1}
