# SPDX-License-Identifier: BSD-3-Clause
"""What the recipes of a plan make the ranks do, on the page."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from report_page import Reader

from isochrone.cli.main import main
from isochrone.files import Evidence, Rule
from isochrone.report import read_facts
from isochrone.report.page import page
from isochrone.report.schedules import MOST_PICTURES
from isochrone.show.call import topology_layout
from isochrone.tune.collectives import collective, is_rooted

SHAPE = "9 ranks in one machine; node 1x5+1x3+1x1"


def rule(
    collective: str, recipe: str, speedup: float, shape: str = SHAPE, least: int = 1, most: int = 1 << 53
) -> Rule:
    """One that gains so much, measured."""
    evidence = Evidence(1e-4, 1e-4 / speedup, speedup, (speedup * 0.97, speedup * 1.04), 20)
    return Rule(collective, shape, least, most, recipe, evidence)


@pytest.fixture
def planned(survey_of: Callable, tmp_path: Path) -> Callable:
    """Writes the survey of a machine with a plan of these rules; gives its folder."""

    def write(*rules: Rule, machine: Any = "uneven", levels: tuple[str, ...] = ()) -> Path:
        made = survey_of(machine)
        topology = structs.replace(made.plan.topology, levels=levels)
        made = replace(made, plan=structs.replace(made.plan, rules=rules, topology=topology))
        return made.write(tmp_path / "survey", leave_out=["bench.jsonl"])

    return write


def pictures(text: str) -> list[dict[str, str | None]]:
    reader = Reader(text)
    assert reader.closed()
    return [attributes for tag, attributes in reader.elements if tag == "img"]


def svg_of(picture: dict[str, str | None]) -> bytes:
    return base64.b64decode((picture["src"] or "").removeprefix("data:image/svg+xml;base64,"))


def commands(text: str) -> list[list[str]]:
    return [shlex.split(unescape(line)) for line in re.findall("<code>isochrone (show .*?)</code>", text)]


def test_the_recipe_of_the_largest_gain_of_each_collective_is_drawn_as_its_command_draws_it(
    planned: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = planned(
        rule("allreduce", "ring", 1.3),
        rule("bcast", "chain", 1.5, f"{SHAPE}; root in 3", most=4096),
        rule("bcast", "hierarchical(machine=binomial,node=flat)", 2.5, f"{SHAPE}; root in 3", least=4097),
        rule("bcast", "binomial", 3.5, "4 ranks in one node; root in 4"),
        rule("reduce", "native", 1.0, f"{SHAPE}; root in 3"),
    )
    text = page(read_facts(folder))
    bcast, allreduce = pictures(text)
    assert (bcast["alt"] or "").startswith("Broadcast of 64 KiB, root ")
    assert "by hierarchical(machine=binomial,node=flat): each rank's sends" in (bcast["alt"] or "")
    assert (allreduce["alt"] or "").startswith("Allreduce of 64 KiB, by ring: ")
    monkeypatch.chdir(tmp_path)
    for picture, command in zip((bcast, allreduce), commands(text), strict=True):
        assert main([*command, "-o", "again.svg"]) == 0
        assert Path("again.svg").read_bytes() == svg_of(picture)
    root = int(commands(text)[0][commands(text)[0].index("--root") + 1])
    assert topology_layout(folder / "topology.json").shape(root) == f"{SHAPE}; root in 3"


def test_they_are_folded_and_few(planned: Callable) -> None:
    names = ["bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "scan"]
    gains = [1.1, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.2]
    recipes = [next(iter(collective(name)["across"]))["name"] for name in names]
    made = [
        rule(name, recipe, gain, f"{SHAPE}; root in 5" if is_rooted(name) else SHAPE)
        for name, recipe, gain in zip(names, recipes, gains, strict=True)
    ]
    text = page(read_facts(planned(*made)))
    drawn = [(each["alt"] or "").split()[0] for each in pictures(text)]
    assert drawn == ["Reduction", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"]
    assert f"{MOST_PICTURES} pictures at most" in text
    assert re.search('<details id="schedules">', text)


def test_of_many_operations_or_ranks_there_is_the_tree_alone_and_the_page_stays_small(
    planned: Callable, machine_of: Callable
) -> None:
    machine = machine_of([("machine", 1, 2e-6), ("node", 8, 1e-6), ("core", 16, 0)])
    shape = "128 ranks in one machine; node 8x16"
    folder = planned(
        rule("bcast", "pipeline@4096", 2.0, f"{shape}; root in 16"),
        rule("allreduce", "recursive_doubling", 2.0, shape),
        machine=machine,
    )
    text = page(read_facts(folder))
    assert [": who hears from whom." in (each["alt"] or "") for each in pictures(text)] == [True, True]
    assert all(len(svg_of(each)) < 300_000 for each in pictures(text))
    few = planned(rule("bcast", "pipeline@1024", 2.0, f"{SHAPE}; root in 5"))
    assert ": who hears from whom." in (pictures(page(read_facts(few)))[0]["alt"] or "")


def test_more_ranks_than_anybody_could_see_are_not_drawn_and_the_page_says_so(
    planned: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = read_facts(planned(rule("allreduce", "ring", 2.0)))
    assert len(pictures(page(facts))) == 1
    for module in ("schedules", "sections.schedules"):
        monkeypatch.setattr(f"isochrone.report.{module}.MOST_RANKS", 8)
    assert "What more than 8 ranks do is not drawn." in page(facts)
    assert pictures(page(facts)) == []


def test_a_rule_for_other_ranks_is_drawn_with_a_word_and_one_that_cannot_be_says_why(
    planned: Callable,
) -> None:
    text = page(
        read_facts(
            planned(
                rule("bcast", "binomial", 2.0, "4 ranks; node 2x2; root in 2"),
                rule("allreduce", "hierarchical(rack=ring,node=binomial)", 2.0),
            )
        )
    )
    assert len(pictures(text)) == 1
    assert "The rule is for 4 ranks, 2 nodes of 2; drawn is what all surveyed ranks would do." in text
    assert re.search("Not drawn: .*rack", text)


def test_a_topology_with_other_names_than_the_plan_is_drawn_without_a_command(planned: Callable) -> None:
    text = page(
        read_facts(
            planned(
                rule("allreduce", "hierarchical(site=ring,rack=binomial)", 2.0, "9 ranks; rack 9x1"),
                levels=("site", "rack"),
            )
        )
    )
    assert len(pictures(text)) == 1
    assert commands(text) == []
