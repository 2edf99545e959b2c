# SPDX-License-Identifier: BSD-3-Clause
"""What a merged plan says of messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from jobs import hosts
from msgspec import structs
from surveyed import layout, places, rule, topology, write

from isochrone.files import MessageCost, read_plan, write_plan
from isochrone.steps.merge import merge

NEW, OLD = MessageCost(2e-5, 64), MessageCost(1e-5, 256)


@pytest.mark.parametrize(
    ("of_plans", "expected"),
    [((OLD, NEW), NEW), ((OLD, None), OLD), ((None, NEW), NEW), ((None, None), None)],
)
def test_it_is_what_the_newest_plan_says_that_says_something(
    tmp_path: Path, of_plans: Sequence[MessageCost | None], expected: MessageCost | None
) -> None:
    ranks = places(hosts(0, 1), 2)
    of = topology(ranks, {})
    folders = []
    for at, messages in enumerate(of_plans):
        rules = [rule(layout(of, ranks).shape(0), "binomial")]
        folders.append(write(tmp_path / str(at), of, rules, time=f"2026-0{at + 1}-01T00:00:00Z"))
        plan = folders[at] / "plan.json"
        write_plan(plan, structs.replace(read_plan(plan), messages=messages))
    for given in (folders, folders[::-1]):
        merge(given, tmp_path / "all")
        assert read_plan(tmp_path / "all" / "plan.json").messages == expected


def test_of_plans_of_one_time_the_last_counts(tmp_path: Path) -> None:
    ranks = places(hosts(0, 1), 2)
    of = topology(ranks, {})
    folders = []
    for at, messages in enumerate((OLD, NEW)):
        folders.append(write(tmp_path / str(at), of, [rule(layout(of, ranks).shape(0), "binomial")]))
        plan = folders[at] / "plan.json"
        write_plan(plan, structs.replace(read_plan(plan), messages=messages))
    for given, last in ((folders, NEW), (folders[::-1], OLD)):
        merge(given, tmp_path / "all")
        assert read_plan(tmp_path / "all" / "plan.json").messages == last
