# SPDX-License-Identifier: BSD-3-Clause
"""A tuning leaves out the sizes that it has no time for, and says so."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from isochrone import _core
from isochrone.files import read_topology
from isochrone.steps.detect import detect
from isochrone.tune import affordable
from isochrone.tune.affordable import affordable_grids
from isochrone.tune.candidates import rough_s
from isochrone.tune.collectives import grids
from isochrone.tune.layout import layout_of

SIZES = (64, 4096, 65536, 1048576)
NAMES = ("bcast", "allreduce", "barrier", "alltoall")


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> _core.Layout:
    """Four sites of two ranks, 10 ms apart."""
    folder = tmp_path_factory.mktemp("sites")
    site = np.arange(8) // 2
    latency_ns = np.where(site[:, None] == site[None, :], 1e5, 1e7)
    np.fill_diagonal(latency_ns, 0)
    np.save(folder / "matrix.npy", latency_ns)
    detect(folder / "matrix.npy", folder / "topology.json")
    return layout_of(read_topology(folder / "topology.json"), folder / "topology.json")


def test_with_time_enough_every_size_is_tuned(layout: _core.Layout, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for budget_s in (None, 1e6):
        assert affordable_grids(NAMES, SIZES, layout, budget_s) == grids(NAMES, SIZES, layout.size)
    assert not caplog.records


@pytest.mark.parametrize("budget_s", [1e-6, 5.0, 20.0, 60.0])
def test_what_is_dear_is_left_out_and_named(
    layout: _core.Layout, budget_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    whole = grids(NAMES, SIZES, layout.size)
    few = grids(NAMES, SIZES, layout.size, thinned=NAMES)
    found = affordable_grids(NAMES, SIZES, layout, budget_s)
    longer = affordable_grids(NAMES, SIZES, layout, 2 * budget_s)
    for name, sizes in found.items():
        # All, or of every third the least without a gap, one at least, and no fewer with more time.
        assert sizes in (whole[name], few[name][: len(sizes)])
        assert len(longer[name]) >= len(sizes) >= 1
    left_out = [name for name in NAMES if found[name] not in (whole[name], few[name])]
    said = caplog.records[0].getMessage() if caplog.records else ""
    assert all((f"{name} from" in said) == (name in left_out) for name in NAMES)
    assert budget_s > 1 or {"bcast", "allreduce"} <= set(left_out)
    thinned = [name for name in NAMES if found[name] == few[name] != whole[name]]
    last = caplog.records[1 if left_out else 0].getMessage() if thinned else ""
    assert all((f"{name} up to" in last) == (name in thinned) for name in NAMES)


def test_where_the_library_s_own_is_slow_there_is_time_for_fewer_sizes(
    layout: _core.Layout, caplog: pytest.LogCaptureFixture
) -> None:
    """A plan is held against it at each size, so that it takes most of the time."""
    whole = grids(NAMES, None, layout.size)
    few = grids(NAMES, None, layout.size, thinned=NAMES)
    asked: list[dict[str, int]] = []

    def own_s(sizes: Mapping[str, int], slower: float) -> dict[str, float]:
        asked.append(dict(sizes))
        return {name: slower * rough_s(name, layout, size) for name, size in sizes.items()}

    budgets_s = np.geomspace(1, 1e6, 60)
    for slower in (0.5, 1.0, 10.0):
        found = [
            affordable_grids(NAMES, None, layout, budget_s, partial(own_s, slower=slower))
            for budget_s in budgets_s
        ]
        enough = [grid == whole for grid in found]
        assert enough == sorted(enough)
        # Nothing is left out for it that there would be time for otherwise.
        without = [affordable_grids(NAMES, None, layout, budget_s) for budget_s in budgets_s]
        assert all(grid in (other, few) for grid, other in zip(found, without, strict=True))
        later = sum(enough) - sum(grid == whole for grid in without)
        assert (later < 0) == (slower > 1)
    # Of the usual sizes the first collective has more than every third.
    assert asked
    assert all(each == {"bcast": whole["bcast"][-1]} for each in asked)
    caplog.set_level(logging.INFO)
    # A command that ran before in this process may have set the level, so that the lines above are here too.
    caplog.clear()
    assert affordable_grids(NAMES, None, layout, None, partial(own_s, slower=10.0)) == whole
    assert not caplog.records


@pytest.mark.parametrize("seed", range(8))
def test_a_size_that_the_model_finds_cheaper_than_a_smaller_one_is_not_skipped(
    layout: _core.Layout, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = tuple(8 << at for at in range(18))
    prices = dict(zip(sizes, np.random.default_rng(seed).lognormal(0, 0.05, len(sizes)), strict=True))
    monkeypatch.setattr(affordable, "rough_s", lambda name, layout, size: float(prices.get(size, 1.0)))
    (few,) = grids(["bcast"], sizes, layout.size, thinned=["bcast"]).values()
    counts = []
    for budget_s in np.geomspace(1, 1e5, 400):
        (found,) = affordable_grids(["bcast"], sizes, layout, float(budget_s)).values()
        assert found in (sizes, few[: len(found)])
        counts.append(len(found))
    # There is time for one after the other, until all fit.
    assert counts == sorted(counts)
    assert set(counts) == {*range(1, len(few) + 1), len(sizes)}
