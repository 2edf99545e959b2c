# SPDX-License-Identifier: BSD-3-Clause
"""What programs found in their own calls becomes part of the plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from planned import EVIDENCE

from isochrone.files import LibraryReference, Plan, PlannedTopology, Rule, read_plan, write_plan
from isochrone.steps.folder import alone_in
from isochrone.steps.learn import (
    fold_learned,
    last_changed,
    learned_beside,
    read_plan_with_learned,
    with_rules,
)

SHAPE = "8 ranks in one machine; node 2x4; root in 4"
LIVE = Rule("bcast", SHAPE, 100, 199, "native", EVIDENCE, "live", "block")


def _plan(*rules: Rule) -> Plan:
    return Plan(
        topology=PlannedTopology("0" * 64, "topology.json"),
        mpi=LibraryReference("MPICH 4.0.2", "libmpi.so.12"),
        rules=rules,
    )


def _learned() -> str:
    """What a job leaves that has found the live rule."""
    head = {key: value for key, value in _plan().document().items() if key not in ("isochrone", "provenance")}
    head["topology"] = {"fingerprint": "0" * 64}
    return json.dumps({"isochrone": "learned", **head, "rules": _plan(LIVE).document()["rules"]})


def test_a_live_rule_takes_the_place_of_what_was_measured_for_its_sizes_alone() -> None:
    before = Rule("bcast", SHAPE, 1, 1000, "chain", EVIDENCE, order="block")
    other = replace(before, collective="reduce")
    found = with_rules(_plan(before, other), [LIVE]).rules
    assert [
        (rule.min_bytes, rule.max_bytes, rule.recipe) for rule in found if rule.collective == "bcast"
    ] == [
        (1, 99, "chain"),
        (100, 199, "native"),
        (200, 1000, "chain"),
    ]
    assert other in found


@pytest.mark.parametrize("order", [None, "block"])
@pytest.mark.parametrize("name", ["bcast", "allreduce"])
def test_a_reduction_that_is_as_it_was_measured_keeps_that_rule(name: str, order: str | None) -> None:
    """Which holds for floating-point numbers, too, as one that was found live does not."""
    before = Rule(name, SHAPE, 1, 150, "chain", EVIDENCE, order=order)
    learned = replace(LIVE, collective=name, recipe="chain")
    found = [
        (rule.min_bytes, rule.max_bytes, rule.basis) for rule in with_rules(_plan(before), [learned]).rules
    ]
    if name == "bcast":
        assert found == [(1, 99, "measured"), (100, 199, "live")]
    else:
        assert found == [(1, 150, "measured"), (151, 199, "live")]
    # Another recipe is what programs found to be better.
    other = replace(learned, recipe="flat")
    assert [rule.recipe for rule in with_rules(_plan(before), [other]).rules[:2]] == ["chain", "flat"]


def test_a_reduction_found_live_keeps_what_was_measured_for_floating_point_numbers() -> None:
    measured = [
        Rule("reduce", SHAPE, 1, 120, "chain", EVIDENCE),
        Rule("reduce", SHAPE, 121, 150, "flat", EVIDENCE),
    ]
    found = with_rules(_plan(*measured), [replace(LIVE, collective="reduce", recipe="binary")])
    assert [
        (rule.min_bytes, rule.max_bytes, rule.recipe, rule.surveyed and rule.surveyed.recipe)
        for rule in found.rules
    ] == [
        (1, 99, "chain", None),
        (100, 120, "binary", "chain"),
        (121, 150, "binary", "flat"),
        (151, 199, "binary", None),
    ]
    # What was measured holds again for all where programs find that later, and goes along where they do not.
    again = with_rules(found, [replace(LIVE, collective="reduce", recipe="flat")])
    assert [
        (rule.min_bytes, rule.max_bytes, rule.recipe, rule.basis, rule.surveyed and rule.surveyed.recipe)
        for rule in again.rules
    ] == [
        (1, 99, "chain", "measured", None),
        (100, 120, "flat", "live", "chain"),
        (121, 150, "flat", "measured", None),
        (151, 199, "flat", "live", None),
    ]


def test_rules_of_another_order_stay() -> None:
    before = Rule("bcast", SHAPE, 1, 1000, "chain", EVIDENCE, order="cyclic")
    assert set(with_rules(_plan(before), [LIVE]).rules) == {before, LIVE}


def test_among_rules_for_any_order_a_live_one_is_for_any_too() -> None:
    before = Rule("bcast", SHAPE, 1, 150, "chain", EVIDENCE)
    found = with_rules(_plan(before), [LIVE]).rules
    assert [rule.order for rule in found] == [None, None]


def test_rules_for_any_order_hold_beside_a_live_one_where_other_orders_have_rules() -> None:
    for_any = Rule("bcast", SHAPE, 1, 1000, "chain", EVIDENCE)
    other = Rule("bcast", SHAPE, 1, 1000, "flat", EVIDENCE, order="cyclic")
    found = with_rules(_plan(for_any, other), [LIVE]).rules
    assert {for_any, other} <= set(found)
    of_block = [rule for rule in found if rule.order == "block"]
    assert [(rule.min_bytes, rule.max_bytes) for rule in of_block] == [(1, 99), (100, 199), (200, 1000)]
    assert of_block[1] == LIVE


def test_while_a_tuning_writes_the_plan_what_was_learned_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan_file = tmp_path / "plan.json"
    write_plan(plan_file, _plan())
    learned = learned_beside(plan_file) / "0.json"
    learned.parent.mkdir()
    learned.write_text(_learned())
    before = plan_file.read_bytes()
    with alone_in(tmp_path):
        fold_learned(plan_file)
    assert plan_file.read_bytes() == before
    assert learned.exists()
    assert len(caplog.messages) == 1
    assert "what was learned stays out of the plan" in caplog.messages[0]
    fold_learned(plan_file)
    assert read_plan(plan_file).rules == (LIVE,)
    assert not learned.exists()


def test_a_file_that_cannot_be_read_is_not_in_the_way_of_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan_file = tmp_path / "plan.json"
    write_plan(plan_file, _plan())
    folder = learned_beside(plan_file)
    folder.mkdir()
    (folder / "0.json").write_text("{")
    (folder / "1.json").write_text('{"isochrone": "learned", "schema_version": 99}')
    (folder / "2.json").write_text(_learned())
    fold_learned(plan_file)
    assert read_plan(plan_file).rules == (LIVE,)
    assert not list(folder.glob("*.json"))
    for name in ("0", "1"):
        assert (folder / name).with_suffix(".refused").exists()
        assert len([line for line in caplog.messages if str(folder / f"{name}.json") in line]) == 1


@pytest.mark.parametrize(("plan_time", "counts"), [("", True), ("2026-01-02", True), ("2026-01-01", False)])
def test_what_was_learned_with_an_earlier_plan_is_dropped(
    tmp_path: Path, plan_time: str, counts: bool
) -> None:
    """A later tuning holds recipes against a library that may be told something else."""
    plan_file = tmp_path / "plan.json"
    plan = replace(_plan(), provenance={"time": "2026-01-02"})
    write_plan(plan_file, plan)
    folder = learned_beside(plan_file)
    folder.mkdir()
    head = {
        "isochrone": "learned",
        "schema_version": 1,
        "topology": {"fingerprint": plan.fingerprint},
        "mpi": {"library": plan.mpi.library, "abi": plan.mpi.abi},
    }
    rules = replace(plan, rules=(LIVE,)).document()["rules"]
    (folder / "1.json").write_text(json.dumps({**head, "plan_time": plan_time, "rules": rules}))
    assert read_plan_with_learned(plan_file).rules == ((LIVE,) if counts else ())
    fold_learned(plan_file)
    folded = read_plan(plan_file)
    assert folded.rules == ((LIVE,) if counts else ())
    assert folded.provenance["time"] == "2026-01-02"
    assert (last_changed(folded) > "2026-01-02") == counts
    assert not list(folder.glob("*.json"))


def test_what_a_plan_does_not_say_is_not_written() -> None:
    (first, second) = _plan(Rule("bcast", SHAPE, 1, 9, "chain", EVIDENCE), LIVE).document()["rules"]
    assert "basis" not in first
    assert "order" not in first
    assert (second["basis"], second["order"]) == ("live", "block")


@given(
    st.lists(
        st.tuples(
            st.integers(0, 50), st.integers(0, 50), st.sampled_from(["block", "cyclic", None]), st.booleans()
        ),
        max_size=12,
    )
)
def test_rules_never_overlap_and_the_last_word_counts(found: list[tuple[int, int, str | None, bool]]) -> None:
    plan = _plan()
    for number, (one, other, order, is_other_shape) in enumerate(found):
        shape = "2 ranks in one node" if is_other_shape else SHAPE
        recipe = f"knomial/{number + 2}"
        rule = Rule("bcast", shape, min(one, other), max(one, other), recipe, EVIDENCE, "live", order)
        plan = with_rules(plan, [rule])
        mine = [kept for kept in plan.rules if kept.recipe == recipe]
        assert [(kept.min_bytes, kept.max_bytes) for kept in mine] == [(rule.min_bytes, rule.max_bytes)]
    for a in plan.rules:
        for b in plan.rules:
            if a is not b and (a.shape, a.order) == (b.shape, b.order):
                assert a.max_bytes < b.min_bytes or b.max_bytes < a.min_bytes
