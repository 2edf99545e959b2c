# SPDX-License-Identifier: BSD-3-Clause
"""Models of messages: known parameters are found again, and each says of sizes what its formula says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timed import SIZES, messages

from isochrone import _core
from isochrone.models import logp
from isochrone.models.fitting import fit_groups, fit_positive
from isochrone.models.hockney import fit_hockney
from isochrone.models.loggp import fit_loggp
from isochrone.models.logp import fit_logp
from isochrone.models.messages import FittedMessages, Messages, Parameter, TooLittleError, messages_of
from isochrone.models.observation import Cost
from isochrone.models.plogp import fit_plogp
from isochrone.models.table import MESSAGE_MODELS

ALPHA_S, BETA_S = 2e-6, 1e-10


def hockney_s(size: int) -> float:
    return ALPHA_S + BETA_S * size


def named(fitted: FittedMessages, name: str) -> Parameter:
    (found,) = (each for each in fitted.parameters if each.name == name)
    return found


def test_parameters_are_recovered_within_their_intervals_as_often_as_these_promise() -> None:
    hits = []
    for seed in range(60):
        fitted = fit_hockney(messages_of(messages(hockney_s, 0.05, seed), ()))
        for name, truth in (("alpha", ALPHA_S), ("beta", BETA_S)):
            found = named(fitted, name)
            hits.append(found.low <= truth <= found.high)
    # 95 % of 120; fewer than 105 come of correct intervals once in 10,000.
    assert 105 <= sum(hits) < 120


def test_pairs_that_differ_widen_the_interval() -> None:
    # Each pair has a latency of its own: 500 messages of 20 pairs do not tell alpha as 500 pairs would.
    generator = np.random.default_rng(1)
    observations = []
    for pair, own in enumerate(np.exp(0.2 * generator.normal(size=20)).tolist()):
        one = messages(hockney_s, 0.01, pair)
        observations += [replace(each, time_s=own * each.time_s) for each in one]
    alike = messages_of(observations, ())
    apart = [replace(each, source=f"ranks 0 and {k // len(SIZES)}") for k, each in enumerate(observations)]
    wide = named(fit_hockney(messages_of(apart, ())), "alpha")
    narrow = named(fit_hockney(alike), "alpha")
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert wide.low <= ALPHA_S <= wide.high


def test_packets_of_logp_are_found() -> None:
    packet = 4096
    steps = messages(lambda size: 3e-6 + 5e-7 * (max(-(-size // packet), 1) - 1), 0.01, 2)
    fitted = fit_logp(messages_of(steps, (Cost("send_overhead", 0, 4e-7),)))
    assert named(fitted, "w").estimate == packet
    gap = named(fitted, "g")
    assert gap.low <= 5e-7 <= gap.high
    latency = named(fitted, "L")
    assert latency.low <= 3e-6 - 2 * 4e-7 <= latency.high


def test_loggp_says_of_messages_what_it_was_made_of_and_tells_overheads_apart() -> None:
    measured = messages(lambda size: 5e-6 + 2e-10 * max(size - 1, 0), 0.01, 3)
    costs = (Cost("send_overhead", 0, 1e-6), Cost("receive_overhead", 0, 2e-6), Cost("gap", 1, 1.7e-6))
    fitted = fit_loggp(messages_of(measured, costs))
    assert named(fitted, "o").estimate == pytest.approx(1.5e-6)
    assert named(fitted, "g").estimate == 1.7e-6
    base = named(fitted, "L")
    assert base.low <= 5e-6 - 3e-6 <= base.high
    per_byte = named(fitted, "G")
    assert per_byte.low <= 2e-10 <= per_byte.high


def test_a_processor_slower_than_the_gap_is_what_a_next_message_waits_for() -> None:
    steps = messages(lambda size: 5e-6 + 5e-7 * (max(-(-size // 4096), 1) - 1), 0.0, 1)
    overhead = Cost("send_overhead", 0, 1e-6)
    for fit, gap in ((fit_logp, ()), (fit_loggp, (Cost("gap", 0, 2e-7),))):
        links = fit(messages_of(steps, (overhead, *gap))).links
        assert links.gap_s[0][1] == pytest.approx(1e-6), fit.__name__
        assert links.send_overhead_s == links.receive_overhead_s == ((0, 1e-6),)
    slower = fit_loggp(messages_of(steps, (overhead, Cost("gap", 0, 2e-6)))).links
    assert slower.gap_s[0][1] == pytest.approx(2e-6)


def test_plogp_goes_through_every_size_and_on_straight_lines_between() -> None:
    fitted = fit_plogp(messages_of(messages(hockney_s, 0.0, 1, sizes=(0, 1000, 3000)), ()))
    at = np.array([0.0, 500.0, 1000.0, 2000.0, 3000.0, 9000.0])
    assert fitted.time_s(at) == pytest.approx([hockney_s(int(size)) for size in at])


def test_a_receiver_of_many_small_messages_pays_its_overhead_for_each() -> None:
    costs = (Cost("receive_overhead", 0, 5e-7), Cost("receive_overhead", 65536, 9e-4))
    links = fit_plogp(messages_of(messages(hockney_s, 0.0, 1), costs)).links
    layout = _core.layout(["machine"], [[0] * 9], [links.for_core])
    alone = _core.layout(["machine"], [[0] * 2], [links.for_core])
    for size in (0, 65536):
        assert _core.predict("bcast", alone, "flat", 0, size) == pytest.approx(hockney_s(size))
    together_s = _core.predict("gather", layout, "flat", 0, 1)
    assert together_s == pytest.approx(hockney_s(1) + 7 * 5e-7, rel=0.05)


@settings(max_examples=25)
@given(
    alpha_us=st.floats(0.1, 1000),
    rate=st.floats(1e6, 1e11),
    size=st.sampled_from([0, 1, 100, 8192, 1 << 20]),
)
def test_the_core_is_told_of_links_that_cost_one_message_what_the_model_says(
    alpha_us: float, rate: float, size: int
) -> None:
    measured = messages_of(messages(lambda m: alpha_us * 1e-6 + m / rate, 0.0, 1), ())
    for model in MESSAGE_MODELS:
        fitted = model.fit(measured)
        links = fitted.links
        layout = _core.layout(
            ["machine"],
            [[0, 0]],
            [(links.latency_s, links.send_overhead_s, links.receive_overhead_s, links.gap_s, None)],
        )
        alone_s = _core.predict("bcast", layout, "flat", 0, size)
        said_s = float(fitted.time_s(np.array([float(size)]))[0])
        # Between whole packets LogP's links are on a line.
        assert alone_s == pytest.approx(said_s, rel=0.5 if model.name == "logp" else 1e-6), model.name


@pytest.mark.parametrize("model", MESSAGE_MODELS, ids=lambda model: model.name)
def test_one_size_is_too_little(model: object) -> None:
    with pytest.raises(TooLittleError):
        model.fit(messages_of(messages(hockney_s, 0.1, 1, pairs=5, sizes=(8,)), ()))  # type: ignore[attr-defined]


def test_of_very_many_sizes_some_are_tried_as_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []
    fit = logp.fit_line

    def counted(steps: np.ndarray, found: Messages) -> object:
        tried.append(float(steps.max()))
        return fit(steps, found)

    monkeypatch.setattr(logp, "fit_line", counted)
    many = [replace(messages(hockney_s, 0.01, 1)[0], size_bytes=size) for size in range(1, 1001)]
    fit_logp(messages_of(many, ()))
    # With the least size and the last but one.
    assert len(tried) == 32
    assert (max(tried), min(tried)) == (999, 1)


@pytest.mark.parametrize(("clusters", "members"), [(3, 4), (20, 4), (40, 1)])
def test_one_parameter_for_each_size_is_the_fit_by_least_squares(clusters: int, members: int) -> None:
    generator = np.random.default_rng(5)
    which = np.repeat(np.arange(3), clusters * members)
    which[:2] = 2
    cluster = np.tile(np.repeat(np.arange(clusters), members), 3)
    times_s = np.exp(generator.normal(size=len(which)) + 0.3 * cluster % 1)
    found, ends = fit_groups(which, times_s, cluster)
    start = found * np.array([1.1, 0.9, 1.0])
    wanted, wanted_ends = fit_positive(lambda each: each[which], start, times_s, cluster)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(ends, wanted_ends, rtol=1e-5)


def test_very_many_sizes_need_no_room_for_each_pair_of_them() -> None:
    one = messages(hockney_s, 0.01, 1)[0]
    many = [replace(one, size_bytes=size) for size in range(1, 50_001)]
    assert fit_plogp(messages_of(many, ())).fitted == 50_000
