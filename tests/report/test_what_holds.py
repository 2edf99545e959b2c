# SPDX-License-Identifier: BSD-3-Clause
"""A report says what its files prove for this topology, and no more."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from report_page import Reader

from isochrone.cli.main import main
from isochrone.files import (
    BenchKey,
    Evidence,
    LibraryEvidence,
    LibraryReference,
    LibraryRule,
    LibraryTuning,
    Plan,
    PlannedTopology,
    Rule,
    TopologyFileReference,
    TopologyReference,
    compared,
    write_library,
)
from isochrone.report import read_facts, read_told, summary_lines, survey_document
from isochrone.report.comparison import compare
from isochrone.report.facts import Facts
from isochrone.report.headline import (
    accuracy_sentence,
    collective_sentence,
    collective_sentences,
    key_figures,
)
from isochrone.report.page import page

EVIDENCE = Evidence(1e-4, 1e-4 / 1.5, 1.5, (1.4, 1.6), 20)
OWN = Evidence(1e-4, 1e-4, 1.0, (1.0, 1.0), 20)


def everything(facts: Facts) -> list[str]:
    """What the page, the terminal and programs are told."""
    document = survey_document(facts, Path("report.html"))
    return [Reader(page(facts)).text, "\n".join(summary_lines(facts)), json.dumps(document)]


def say_nothing_of_speed(facts: Facts) -> bool:
    told = everything(facts)
    return (
        not facts.comparisons
        and json.loads(told[2])["broadcast"] is None
        and not any(word in text for text in told[:2] for word in ("× on average", "All sizes", "least 1."))
    )


def test_a_verification_that_was_cut_off_gives_no_figures_but_says_what_to_do(
    survey_of: Callable, tmp_path: Path
) -> None:
    made = survey_of("cluster")
    facts = read_facts(replace(made, bench=replace(made.bench, elapsed_s=None)).write(tmp_path))
    assert say_nothing_of_speed(facts)
    for text in everything(facts):
        assert "The verification (bench.jsonl) was cut off before its end" in text
        assert "`isochrone tune`" in text
    assert "mean of all sizes" in Reader(page(made.facts())).text


def test_a_plan_for_another_topology_is_not_shown_as_if_it_held(survey_of: Callable, tmp_path: Path) -> None:
    made = survey_of("cluster")
    facts = read_facts(
        replace(
            made, plan=structs.replace(made.plan, topology=PlannedTopology("0" * 64, "topology.json"))
        ).write(tmp_path)
    )
    assert say_nothing_of_speed(facts)
    assert facts.plan is None
    sentence = "The plan (plan.json) was made for another topology"
    assert "\n".join(summary_lines(facts)).count(sentence) == 1
    for text in everything(facts):
        assert sentence in text
        assert "`isochrone tune`" in text
    assert not [a for tag, a in Reader(page(facts)).elements if a.get("class") == "rules"]


def test_a_verification_of_another_number_of_ranks_is_not_of_this_topology(
    survey_of: Callable, tmp_path: Path
) -> None:
    made = survey_of("cluster")
    facts = read_facts(replace(made, bench=survey_of("laptop").bench).write(tmp_path))
    assert say_nothing_of_speed(facts)
    for text in everything(facts):
        assert "The verification (bench.jsonl) is of 4 ranks and the topology of 128" in text


def test_where_a_survey_of_another_topology_ran_is_not_shown(survey_of: Callable, tmp_path: Path) -> None:
    made = survey_of("cluster")
    facts = read_facts(
        replace(made, survey=structs.replace(made.survey, topology=TopologyReference("0" * 64))).write(
            tmp_path
        )
    )
    assert facts.survey is None
    for text in everything(facts):
        assert "The survey (survey.json) found another topology" in text


def test_a_later_report_knows_what_the_survey_knew(survey_of: Callable, tmp_path: Path) -> None:
    made = survey_of("laptop")
    made = replace(
        made,
        measurements=replace(made.measurements, simulated=False),
        survey=structs.replace(made.survey, target="mpiexec -n 4", cores=2, elapsed_s=61.0),
    )
    facts = read_facts(made.write(tmp_path))
    text = Reader(page(facts)).text
    assert "mpiexec -n 4" in text
    assert "61.0 s" in text
    assert "isochrone survey --sim fram" in text
    for told in (text, "\n".join(summary_lines(facts))):
        assert "4 ranks shared 2 cores" in told
    assert survey_document(facts, Path("report.html"))["oversubscribed"] is True


def with_agreement(made: Any, agreement: dict[str, object]) -> Facts:
    accuracy = {name: entry["accuracy"] for name, entry in agreement.items()}
    topology = structs.replace(made.topology, known=(), agreement=agreement, accuracy=accuracy)
    facts: Facts = replace(made, topology=topology).facts()
    return facts


NODE = {"source": "host names", "accuracy": 1.0, "level": "node", "agrees": True}


def test_accuracy_is_spoken_of_only_where_the_truth_is_known(survey_of: Callable) -> None:
    made = survey_of("cluster")
    assert ("Accuracy", "100 %", "at every known level") in key_figures(made.facts())
    facts = with_agreement(made, {"node": NODE})
    assert ("Host names", "agree", "node only; switch and socket are not checked") in key_figures(facts)
    sentence = "Compared with host names, every rank is in its node; switch and socket are not checked."
    assert accuracy_sentence(facts) == sentence
    for text in everything(facts)[:2]:
        assert sentence in text
        assert "Accuracy" not in text


def test_what_disagrees_is_said_with_its_share(survey_of: Callable) -> None:
    socket = {"source": "hwloc", "accuracy": 0.75, "level": None, "agrees": False}
    facts = with_agreement(survey_of("cluster"), {"node": NODE, "socket": socket})
    assert accuracy_sentence(facts) == (
        "Compared with host names and hwloc, every rank is in its node and 75 % of the ranks are in their "
        "socket; switch is not checked."
    )
    (figure,) = [each for each in key_figures(facts) if each[0] == "Host names and hwloc"]
    assert figure[1:] == ("75 %", "of the ranks, at its worst, by socket; switch is not checked")


def test_that_all_ranks_are_on_one_host_confirms_nothing(survey_of: Callable) -> None:
    facts = with_agreement(survey_of("laptop"), {"node": NODE})
    assert accuracy_sentence(facts) is None
    assert [name for name, _, _ in key_figures(facts)][3:] == ["Broadcast"]
    assert "Nothing is known of this machine to compare with" in Reader(page(facts)).text


def test_a_plan_that_keeps_to_the_librarys_own_has_no_figures_of_speed(survey_of: Callable) -> None:
    made = survey_of("laptop")
    facts = replace(made, plan=structs.replace(made.plan, rules=rules_of((SHAPE, 1, 1, "native")))).facts()
    figures = {name: (value, note) for name, value, note in key_figures(facts)}
    assert figures["Broadcast"] == ("no gain", "nothing tried was proven faster")
    assert "All sizes" not in figures


def rules_of(*rules: tuple[str, int, int, str], collective: str = "bcast") -> tuple[Rule, ...]:
    return tuple(
        Rule(collective, shape, low, high, recipe, OWN if recipe == "native" else EVIDENCE)
        for shape, low, high, recipe in rules
    )


def plan_section(made: Any, *rules: tuple[str, int, int, str]) -> str:
    plan: Plan = structs.replace(made.plan, rules=rules_of(*rules))
    text = Reader(page(replace(made, plan=plan).facts())).text
    return text[text.index("The plan") :]


SHAPE = "16 ranks in one machine; node 4x4; root in 4"


def test_sizes_where_nothing_was_faster_are_one_line_and_told_from_those_not_measured(
    survey_of: Callable,
) -> None:
    text = plan_section(
        survey_of("laptop"),
        (SHAPE, 1, 1, "native"),
        (SHAPE, 1024, 1024, "native"),
        (SHAPE, 65536, 65536, "native"),
        (SHAPE, 1 << 20, 1 << 20, "binomial"),
        (SHAPE, 1 << 21, 1 << 21, "native"),
    )
    own = "Nothing tried was proven faster than the library's own."
    assert text.count(own) == 2
    assert f"Up to 64 KiB{own}" in text
    assert f"At 2 MiB{own}" in text
    assert "Sizes and shapes in no line were not measured, and use the library's own." in text


def test_a_plan_that_keeps_to_the_librarys_own_is_one_sentence(survey_of: Callable) -> None:
    text = plan_section(survey_of("laptop"), (SHAPE, 1, 1, "native"), (SHAPE, 4096, 4096, "native"))
    assert (
        "Up to 4 KiB, nothing tried was proven faster than the library's own: every call uses that." in text
    )
    assert "Sizes and shapes in no line" not in text


def test_shapes_that_differ_in_the_root_only_are_told_apart(survey_of: Callable) -> None:
    uneven = "16 ranks in one machine; node 3x4+2x2"
    text = plan_section(
        survey_of("laptop"),
        (f"{uneven}; root in 4", 1, 64, "binomial"),
        (f"{uneven}; root in 2", 1, 64, "chain"),
    )
    for size in (2, 4):
        assert f"3 nodes of 4 and 2 of 2, where the root's node has {size}" in text


def plan_with(*recipes: str) -> Plan:
    rules = [(SHAPE, 1 << index, 1 << index, recipe) for index, recipe in enumerate(recipes)]
    return Plan(
        topology=PlannedTopology("0" * 64, "topology.json"),
        mpi=LibraryReference("", ""),
        rules=rules_of(*rules),
    )


def comparison_of(*speedups: float, collective: str = "bcast") -> Any:
    samples = {}
    for index, speedup in enumerate(speedups):
        native = 1e-5 * np.random.default_rng(index).lognormal(0, 0.01, 20)
        samples[BenchKey(1 << index, 0, "native", collective)] = native
        samples[BenchKey(1 << index, 0, "plan", collective)] = native / speedup
    return compare(samples, collective)


def test_many_collectives_make_few_sentences() -> None:
    gained, level, some = (1.5, 1.5), (1.0, 1.0), (1.5, 1.0)
    plan = structs.replace(plan_with("binomial"), rules=())
    for name in ("bcast", "allreduce", "alltoall"):
        plan = structs.replace(
            plan, rules=(*plan.rules, *rules_of((SHAPE, 1, 1, "binomial"), collective=name))
        )
    of = {"bcast": gained, "reduce": level, "allreduce": gained, "gather": level, "alltoall": some}
    few = [comparison_of(*speedups, collective=name) for name, speedups in of.items()]
    assert collective_sentences(few, plan) == [
        "With the plan, faster than the library's own at every size measured: broadcast (1.50×) and "
        "allreduce (1.50×) on average.",
        "With the plan, alltoall is proven faster than the library's own at 1 of 2 sizes.",
        "No gain for reduction and gather was proven: with the plan they are as fast as the library's own.",
    ]
    assert collective_sentences(few[:2], plan) == [
        "With the plan, broadcast is faster than the library's own at every size measured: 1.50× on average.",
        "No gain for reduction was proven: with the plan it is as fast as the library's own.",
    ]


@pytest.mark.parametrize(
    ("recipes", "speedups", "sentence"),
    [
        (
            ("native", "native"),
            (1.0, 1.1),
            "No gain for broadcast was proven: with the plan it is as fast as the library's own.",
        ),
        (("native",), (0.5,), "No gain for broadcast was proven. It is slower at 1 B."),
        (
            ("binomial", "native"),
            (1.5, 1.0),
            "With the plan, broadcast is proven faster than the library's own at 1 of 2 sizes.",
        ),
        (
            ("binomial", "native"),
            (1.0, 1.0),
            "With the plan, no gain for broadcast was proven at any of 2 sizes.",
        ),
    ],
)
def test_the_headline_agrees_with_the_plan(
    recipes: tuple[str, ...], speedups: tuple[float, ...], sentence: str
) -> None:
    assert collective_sentence(comparison_of(*speedups), plan_with(*recipes)) == sentence


def test_report_gives_programs_the_same_figures_as_survey(
    survey_of: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = survey_of("uneven").write(tmp_path)
    assert main(["report", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    facts = read_facts(folder, lambda _: ())
    assert document == json.loads(json.dumps(survey_document(facts, folder / "report.html")))
    assert document["broadcast"]["sizes"][0]["size_bytes"] == 1
    assert document["findings"] == []
    assert "summary" not in document


def library_of(made: Any, algorithm: str, collective: str = "bcast") -> LibraryTuning:
    evidence = LibraryEvidence.of(structs.replace(EVIDENCE, speedup=1.31))
    return LibraryTuning(
        topology=TopologyFileReference(made.topology.fingerprint, "topology.json"),
        mpi=made.plan.mpi,
        ranks=len(made.topology.ranks),
        rules=(
            LibraryRule(collective, 1, 65536, algorithm, evidence),
            LibraryRule(collective, 65537, 1 << 30, "default", LibraryEvidence.of(OWN)),
        ),
    )


def test_the_page_says_what_the_library_was_told_while_its_own_was_timed(
    survey_of: Callable, tmp_path: Path
) -> None:
    made = survey_of("cluster")
    only_own = {key: times for key, times in made.bench.slowest_s.items() if ":" not in key.recipe}
    made = replace(made, bench=replace(made.bench, slowest_s=only_own))
    tuning = library_of(made, "pipeline@16384")
    folder = replace(made, plan=compared(made.plan, tuning)).write(tmp_path)
    untold = read_facts(folder)
    assert not untold.comparisons[0].is_told
    write_library(folder / "library.json", tuning)
    facts = read_facts(folder)
    text, lines, document = everything(facts)
    for told_so in (text, lines):
        assert "The library was told the best of its own that was found, for broadcast." in told_so
    assert "pipeline@16384" in text
    assert "1.31×" in text
    sizes = json.loads(document)["broadcast"]["sizes"]
    assert {(row["best_native"], row["best_native_s"] == row["native_s"]) for row in sizes} == {
        ("pipeline@16384", True),
        ("native", True),
    }
    assert {row["best_native"] for row in json.loads(everything(untold)[2])["broadcast"]["sizes"]} == {None}


@pytest.mark.parametrize("what", ["another tuning", "another topology", "what it cannot be told"])
def test_a_library_that_was_not_told_so_is_left_to_itself(
    what: str, survey_of: Callable, tmp_path: Path
) -> None:
    made = survey_of("cluster")
    tuning = library_of(made, "segmented_ring" if what == "what it cannot be told" else "chain", "allreduce")
    plan = compared(made.plan, tuning)
    if what == "another tuning":
        tuning = library_of(made, "pipeline")
    if what == "another topology":
        tuning = structs.replace(tuning, topology=TopologyFileReference("0" * 64, "topology.json"))
    folder = replace(made, plan=plan).write(tmp_path)
    write_library(folder / "library.json", tuning)
    assert read_told(folder, plan) == {}
