# SPDX-License-Identifier: BSD-3-Clause
"""What each message takes beside the price, as races show it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone import _core
from isochrone.statistics import FloatArray
from isochrone.tune.collectives import collective
from isochrone.tune.messages import message_cost
from isochrone.tune.roots import shapes_of
from isochrone.tune.spots import Spot

LINKS = (1e-5, [(0, 1e-7)], [(0, 1e-7)], [(0, 1e-7), (1 << 20, 1e-3)], None)
UNCUT, SEGMENTS = "hierarchical(node=binomial)", ("@65536", "@4096")
REDUCED = (UNCUT, *(UNCUT + cut for cut in SEGMENTS))
RECIPES = {"bcast": ("chain@65536", "pipeline", *REDUCED), "reduce": REDUCED, "allreduce": REDUCED}


def _layout(ranks: int) -> _core.Layout:
    return _core.layout(["node"], [[0] * ranks], [LINKS])


def _spot(name: str, ranks: int, *sizes: int, members: str = "") -> Spot:
    """From two roots, where it has any."""
    shape = shapes_of(_layout(ranks), 2, collective(name)["rooted"])[0]
    return Spot(name, shape, sizes, members)


def _times(
    spot: Spot, layout: _core.Layout, each_s: float, all_s: float, recipes: Sequence[str]
) -> dict[str, list[FloatArray]]:
    """As if each message took so long beside the price, and all so much in the first case and more in others,
    with noise beside the median.
    """
    times: dict[str, list[FloatArray]] = {"native": [np.array([1.0]) for _ in spot.tuned]}
    for recipe in recipes:
        times[recipe] = []
        for at, case in enumerate(spot.tuned):
            price_s = _core.predict(case.collective, layout, recipe, case.root, case.size_bytes)
            count = _core.messages(case.collective, layout, recipe, case.root, case.size_bytes)
            took_s = price_s + (1 + 9 * at) * all_s + each_s * count
            times[recipe].append(took_s * np.array([0.9, 1.0, 1.7]))
    return times


def test_messages_are_counted_as_algorithms_cut_them() -> None:
    layout = _layout(5)
    counts = {
        recipe: _core.messages("bcast", layout, recipe, 0, 100_000)
        for recipe in ("chain", "chain@4096", "pipeline")
    }
    assert counts == {"chain": 4, "chain@4096": 100, "pipeline": 16}
    assert _core.messages("bcast", layout, "chain@4096", 0, 0) == 4
    with pytest.raises(ValueError, match="no broadcast"):
        _core.messages("bcast", layout, "nonsense", 0, 8)


@settings(max_examples=30, deadline=None)
@given(
    st.floats(0, 1e-3),
    st.lists(
        st.tuples(st.sampled_from(sorted(RECIPES)), st.floats(0, 1e-1)),
        min_size=1,
        max_size=6,
    ),
    st.integers(3, 9),
)
def test_it_is_found_from_races_of_any_collectives(
    each_s: float, kinds: list[tuple[str, float]], ranks: int
) -> None:
    layouts = {"": _layout(ranks), "0-1": _layout(2)}
    times = {}
    for at, (name, all_s) in enumerate(kinds):
        members = "0-1" if at % 2 else ""
        spot = _spot(name, layouts[members].size, (1 << 20) + 4096 * at, members=members)
        times[spot] = _times(spot, layouts[members], each_s, all_s, RECIPES[name])
    found = message_cost(times, layouts)
    assert found is not None
    assert found.each_s == pytest.approx(each_s, rel=1e-3, abs=1e-9)
    assert found.most >= 256


def test_it_is_not_known_where_all_recipes_send_as_many_messages() -> None:
    layouts = {"": _layout(4)}
    small = _spot("bcast", 4, 8)
    assert message_cost({small: _times(small, layouts[""], 1e-3, 0, REDUCED)}, layouts) is None
    barrier = _spot("barrier", 4, 0)
    times = _times(barrier, layouts[""], 1e-3, 0, ("dissemination",))
    assert message_cost({barrier: times}, layouts) is None
    assert message_cost({}, layouts) is None


def test_a_recipe_without_a_price_and_a_communicator_of_many_ranks_tell_nothing() -> None:
    layouts = {"": _layout(4), "0-299": _layout(300)}
    spot = _spot("bcast", 4, 1 << 20)
    times = _times(spot, layouts[""], 1e-4, 0.1, REDUCED)
    for strange in ("hierarchical(rack=flat)", "nonsense"):
        times[strange] = [np.array([1.0]) for _ in spot.tuned]
    found = message_cost({spot: times}, layouts)
    assert found is not None
    assert found.each_s == pytest.approx(1e-4, rel=1e-3)
    many = Spot("bcast", spot.shape, spot.measured_bytes, "0-299")
    assert message_cost({many: times}, layouts) is None


def test_it_is_not_below_zero() -> None:
    layouts = {"": _layout(4)}
    spot = _spot("bcast", 4, 1 << 20)
    found = message_cost({spot: _times(spot, layouts[""], -1e-7, 1.0, REDUCED)}, layouts)
    assert found is not None
    assert found.each_s == 0
