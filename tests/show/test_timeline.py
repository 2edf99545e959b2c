# SPDX-License-Identifier: BSD-3-Clause
"""The timeline of a call is that of its prediction, and one that could be."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from shown import calls, layout_of

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.show import Call, timeline_of, unsurveyed_layout

EVERY = settings(max_examples=150)


def meet(layout: _core.Layout, one: int, other: int) -> int:
    """The innermost level that has both in one group."""
    return max(level for level, groups in enumerate(layout.group_of) if groups[one] == groups[other])


@given(calls())
@EVERY
def test_the_last_step_ends_when_the_call_is_predicted_to(call: Call) -> None:
    predicted_s = _core.predict(call.collective, call.layout, call.recipe, call.root or 0, call.size_bytes)
    assert timeline_of(call).end_s == predicted_s


@given(calls())
@EVERY
def test_every_message_is_sent_before_it_is_received_and_received_once(call: Call) -> None:
    timeline = timeline_of(call)
    received = Counter(step.sent_by for step in timeline.steps if step.kind == "recv")
    sends = [index for index, step in enumerate(timeline.steps) if step.kind == "send"]
    assert received == Counter(sends)
    for send, receive in timeline.messages():
        assert (send.rank, send.peer) == (receive.peer, receive.rank)
        assert send.size_bytes == receive.size_bytes
        assert send.level == receive.level == meet(call.layout, send.rank, send.peer)
        assert send.begin_s <= send.leave_s <= receive.begin_s <= receive.end_s


@given(calls())
@EVERY
def test_no_processor_does_two_things_at_once(call: Call) -> None:
    busy: dict[int, list[tuple[float, float]]] = {}
    for step in timeline_of(call).steps:
        busy.setdefault(step.rank, []).append((step.begin_s, step.free_s))
    for spans in busy.values():
        spans.sort()
        for (_, free_s), (begin_s, _) in pairwise(spans):
            assert free_s <= begin_s


@given(calls())
@EVERY
def test_what_a_step_waits_for_is_of_its_rank_and_comes_before(call: Call) -> None:
    steps = timeline_of(call).steps
    for index, step in enumerate(steps):
        assert all(before < index for before in step.after)
        for before in step.after:
            assert steps[before].rank == step.rank
            assert steps[before].end_s <= step.begin_s
        if step.behind is not None:
            assert step.behind < index
            assert steps[step.behind].rank == step.rank
            assert steps[step.behind].begin_s <= step.begin_s


def test_the_librarys_own_is_a_step_of_all_ranks_of_a_group_at_once() -> None:
    layout = layout_of([[0] * 4, [0, 0, 1, 1]])
    call = Call.checked("bcast", "hierarchical(machine=flat,node=native)", layout, 0, 100)
    own = [step for step in timeline_of(call).steps if step.kind == "collective"]
    assert sorted((step.rank, step.peer) for step in own) == [(0, 0), (1, 0), (2, 2), (3, 2)]
    assert len({(step.begin_s, step.end_s) for step in own if step.rank < 2}) == 1


def test_more_steps_than_can_be_shown_are_refused_before_they_are_simulated() -> None:
    for recipe, ranks, collective in (("pipeline@1", 8, "bcast"), ("linear", 2000, "alltoall")):
        call = Call.checked(collective, recipe, unsurveyed_layout(ranks), 0, 1 << 20)
        with pytest.raises(UsageError, match="more than 200000 operations"):
            timeline_of(call)


def test_unsurveyed_ranks_are_one_group_or_on_hosts_with_slower_links_between_them() -> None:
    assert unsurveyed_layout(5).group_of == [[0] * 5]
    hosts = unsurveyed_layout(5, 2)
    assert hosts.levels == ["machine", "node"]
    assert hosts.group_of == [[0] * 5, [0, 0, 1, 1, 2]]
    inside, outside = (
        _core.predict("bcast", hosts.restricted_to(pair), "flat", 0, 8) for pair in ([0, 1], [1, 2])
    )
    assert outside > 5 * inside
    with pytest.raises(UsageError, match="65536"):
        unsurveyed_layout(65537)
