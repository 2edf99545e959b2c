# SPDX-License-Identifier: BSD-3-Clause
"""Schedules in GOAL, read back by the grammar of LogGOPSim's txt2bin."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from shown import calls, layout_of

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.export.goal import goal
from isochrone.show import Call, timeline_of, unsurveyed_layout

EVERY = settings(max_examples=150)
OPERATION = re.compile(
    r"(?P<label>[a-zA-Z][a-zA-Z0-9_]*): "
    r"(?:(?P<kind>send|recv) (?P<size>[0-9]+)b (?P<word>to|from) (?P<peer>[0-9]+) tag (?P<tag>[0-9]+)"
    r"|calc (?P<ns>[0-9]+))"
)
DEPENDENCY = re.compile(r"(?P<later>[a-zA-Z][a-zA-Z0-9_]*) (?P<word>requires|irequires) (?P<earlier>\w+)")


@dataclass
class Operation:
    kind: str
    peer: int = -1
    size: int = 0
    tag: int = 0
    requires: list[str] = field(default_factory=list)
    irequires: list[str] = field(default_factory=list)


def parse(text: str) -> list[dict[str, Operation]]:
    """[rank], its operations by their labels. Fails for what txt2bin would not take."""
    lines = iter(line for line in text.splitlines() if line and not line.startswith("//"))
    count = re.fullmatch(r"num_ranks ([0-9]+)", next(lines))
    assert count
    ranks: list[dict[str, Operation]] = []
    for line in lines:
        assert line == f"rank {len(ranks)} {{"
        ranks.append({})
        for inside in lines:
            if inside == "}":
                break
            if found := DEPENDENCY.fullmatch(inside):
                assert found["earlier"] in ranks[-1]  # txt2bin wants labels to be known
                getattr(ranks[-1][found["later"]], found["word"]).append(found["earlier"])
                continue
            found = OPERATION.fullmatch(inside)
            assert found, inside
            assert found["label"] not in ranks[-1]
            operation = Operation("calc")
            if found["kind"]:
                assert found["word"] == ("to" if found["kind"] == "send" else "from")
                operation = Operation(
                    found["kind"], int(found["peer"]), int(found["size"]), int(found["tag"])
                )
            ranks[-1][found["label"]] = operation
    assert len(ranks) == int(count[1])
    return ranks


def run(ranks: list[dict[str, Operation]]) -> int:
    """How many operations come to their end where a receive waits for its message, and all for what they
    require.
    """
    started: set[tuple[int, str]] = set()
    done: set[tuple[int, str]] = set()
    sent: set[tuple[int, int, int]] = set()
    moved = True
    while moved:
        moved = False
        for rank, operations in enumerate(ranks):
            for label, operation in operations.items():
                may = all((rank, each) in done for each in operation.requires) and all(
                    (rank, each) in started for each in operation.irequires
                )
                if not may or (rank, label) in done:
                    continue
                moved = moved or (rank, label) not in started
                started.add((rank, label))
                if operation.kind == "send":
                    sent.add((rank, operation.peer, operation.tag))
                if operation.kind != "recv" or (operation.peer, rank, operation.tag) in sent:
                    done.add((rank, label))
                    moved = True
    return len(done)


@given(calls())
@EVERY
def test_every_send_has_one_receive_with_its_size_and_tag(call: Call) -> None:
    messages: dict[str, Counter[tuple[int, int, int, int]]] = {"send": Counter(), "recv": Counter()}
    for rank, operations in enumerate(parse(goal(timeline_of(call)))):
        for each in operations.values():
            ends = (rank, each.peer) if each.kind == "send" else (each.peer, rank)
            if each.kind != "calc":
                messages[each.kind][(*ends, each.size, each.tag)] += 1
    assert messages["send"] == messages["recv"]
    assert all(count == 1 for count in messages["send"].values())


@given(calls())
@EVERY
def test_all_operations_come_to_their_end(call: Call) -> None:
    ranks = parse(goal(timeline_of(call)))
    assert run(ranks) == sum(map(len, ranks))


@given(calls(segmented=False))
@EVERY
def test_what_is_required_is_what_the_schedule_says(call: Call) -> None:
    timeline = timeline_of(call)
    kinds = {"send": "send", "recv": "recv", "reduce": "calc", "copy": "calc"}
    for rank, operations in enumerate(parse(goal(timeline))):
        schedule = _core.schedule(call.collective, call.layout, call.recipe, rank, call.root or 0)
        mine = (step for step in timeline.steps if step.rank == rank)
        label_of = {step.op: f"l{number}" for number, step in enumerate(mine, 1)}
        assert len(operations) == len(schedule)
        for op, wanted in enumerate(schedule):
            found = operations[label_of[op]]
            assert found.kind == kinds[wanted["kind"]]
            assert found.kind == "calc" or found.peer == wanted["peer"]
            assert sorted(found.requires) == sorted(label_of[before] for before in wanted["after"])


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allreduce", "scan"])
def test_late_segments_require_what_the_schedule_says_of_segments_at_one_distance(collective: str) -> None:
    layout = layout_of([[0] * 8, [0, 0, 0, 0, 1, 1, 1, 1]])
    inside = {"scan": "chain+flat"}.get(collective, "binomial")
    across = {"allreduce": "pipeline", "scan": "chain"}.get(collective, "binary")
    call = Call.checked(collective, f"hierarchical(machine={across},node={inside})@512", layout, 0, 1 << 16)
    steps = timeline_of(call).steps
    lags: dict[tuple[int, int, int], set[int]] = {}
    for rank in range(layout.size):
        schedule = _core.schedule(collective, layout, call.recipe, rank, 0)
        for step in (step for step in steps if step.rank == rank):
            of = [steps[before].op for before in step.after]
            assert len(set(of)) == len(of)
            assert set(of) <= set(schedule[step.op]["after"])
            if step.segment >= 100:
                assert set(of) == set(schedule[step.op]["after"])
            for before in step.after:
                lag = step.segment - steps[before].segment
                lags.setdefault((rank, step.op, steps[before].op), set()).add(lag)
    assert lags
    assert all(len(lag) == 1 for lag in lags.values())


def test_segments_wait_for_their_own_and_go_in_order() -> None:
    call = Call.checked("bcast", "pipeline@100", unsurveyed_layout(3), 0, 250)
    ranks = parse(goal(timeline_of(call)))
    assert [each.size for each in ranks[0].values()] == [100, 100, 50]
    middle = list(ranks[1].items())
    received = [label for label, each in middle if each.kind == "recv"]
    sends = [(label, each) for label, each in middle if each.kind == "send"]
    assert [each.requires for _, each in sends] == [[label] for label in received]
    assert [each.irequires for _, each in sends] == [[], [sends[0][0]], [sends[1][0]]]


def test_local_work_is_in_nanoseconds_and_an_empty_message_has_a_byte() -> None:
    call = Call.checked("reduce", "flat", unsurveyed_layout(2), 0, 100_000)
    assert "calc 10000" in goal(timeline_of(call))
    barrier = Call.checked("barrier", "dissemination", unsurveyed_layout(2), 0, None)
    assert "send 1b to 1 tag 0" in goal(timeline_of(barrier))


def test_the_librarys_own_is_refused() -> None:
    layout = layout_of([[0] * 4, [0, 0, 1, 1]])
    call = Call.checked("bcast", "hierarchical(machine=flat,node=native)", layout, 0, 100)
    with pytest.raises(IsochroneError, match="not known"):
        goal(timeline_of(call))
