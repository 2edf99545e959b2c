# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of a survey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from isochrone.detect import dendrogram
from isochrone.errors import IsochroneError
from isochrone.export.tuning import told_rules
from isochrone.files import (
    Bench,
    Graph,
    MappingFile,
    Measurements,
    Plan,
    Survey,
    Topology,
    read_bench,
    read_graph,
    read_mapping,
    read_measurements,
    read_plan,
    read_survey,
    read_topology,
)
from isochrone.files.library import is_compared, read_library
from isochrone.launch.library import parse_version
from isochrone.report.comparison import ToldRules, compare_all
from isochrone.report.facts import Facts, Findings
from isochrone.report.mergetree import MergeTree, merge_tree
from isochrone.report.rankmap import RankMap, at_places

_TUNE = "tune again with `isochrone tune`"
_MAP = "map again with `isochrone map`"


def read_facts(folder: Path, examine: Callable[[Measurements], Findings | None] = lambda _: None) -> Facts:
    """The survey in `folder`; all but its measurements.jsonl and topology.json may be
    missing.

    What does not hold for the topology, or did not come to its end, is left out, with a sentence. Raises
    IsochroneError for a file that is missing, damaged, or of another survey than the others.

    Args:
        folder: has the files.
        examine: says what is slow by all that was measured; None where that does not tell.
    """
    measurements = read_measurements(folder / "measurements.jsonl")
    topology = read_topology(folder / "topology.json")
    findings = examine(measurements)
    if topology.numbers and topology.numbers[-1] < measurements.ranks:
        measurements = measurements.only(topology.numbers)
    topology.check_measured(measurements.ranks, str(folder / "topology.json"))
    plan = read_plan(folder / "plan.json") if (folder / "plan.json").exists() else None
    bench = read_bench(folder / "bench.jsonl") if (folder / "bench.jsonl").exists() else None
    survey = read_survey(folder / "survey.json") if (folder / "survey.json").exists() else None
    not_shown = dict(_not_shown(topology, plan, bench, survey))
    plan = None if "plan.json" in not_shown else plan
    bench = None if "bench.jsonl" in not_shown else bench
    survey = None if "survey.json" in not_shown else survey
    mapping = _mapping(folder, topology, not_shown)
    ended = measurements.complete or measurements.ended
    return Facts(
        folder=folder,
        measurements=measurements,
        topology=topology,
        tree=_tree(measurements, topology) if ended else None,
        plan=plan,
        bench=bench,
        comparisons=() if bench is None else compare_all(bench, read_told(folder, plan)),
        survey=survey,
        findings=findings,
        not_shown=not_shown,
        mapping=mapping,
    )


def read_told(folder: Path, plan: Plan | None) -> ToldRules:
    """What the library was told when the plan in `folder` was verified, by its library.json. Without
    collectives of which that has more than the library can be told. Raises IsochroneError for a damaged file.
    """
    if plan is None or not (folder / "library.json").exists():
        return {}
    tuning = read_library(folder / "library.json")
    known = parse_version(tuning.mpi.library)
    if known is None or tuning.topology.fingerprint != plan.fingerprint or not is_compared(plan, tuning):
        return {}
    told = set(told_rules(tuning, known[0]))
    if not told:
        return {}
    return {
        name: [rule for rule in tuning.rules if rule.collective == name]
        for name in dict.fromkeys(rule.collective for rule in tuning.rules)
        if told.issuperset(tuning.told(name))
    }


def _tree(measurements: Measurements, topology: Topology) -> MergeTree | None:
    """In which order ranks merge; None where no measured pairs join some of them, as in merged surveys of
    different hosts.
    """
    try:
        return merge_tree(dendrogram(measurements), topology)
    except IsochroneError:
        return None


def _mapping(folder: Path, topology: Topology, not_shown: dict[str, str]) -> RankMap | None:
    """The mapping in the folder, with what was mapped. What does not fit is left out, and why goes into
    `not_shown`.
    """
    if not (folder / "mapping.json").exists():
        return None
    mapping = read_mapping(folder / "mapping.json")
    at = at_places(mapping, topology)
    if at is None:
        not_shown["mapping.json"] = (
            "The mapping (mapping.json) was made for other places than those of topology.json, so it is not "
            f"shown: {_MAP}."
        )
        return None
    graph = read_graph(folder / "graph.json") if (folder / "graph.json").exists() else None
    other = None if graph is None else _other_graph(graph, mapping)
    if other is not None:
        not_shown["graph.json"] = other
    return RankMap(mapping, at, graph if other is None else None)


def _other_graph(graph: Graph, mapping: MappingFile) -> str | None:
    """Why a graph is not the one that was mapped; None where it is."""
    if graph.ranks != len(mapping.at):
        return (
            f"The graph (graph.json) is of {graph.ranks:,} ranks and the mapping of {len(mapping.at):,}, so "
            f"what ranks send is not drawn: {_MAP}."
        )
    mapped_bytes = sum(level.before_bytes for level in mapping.levels)
    if mapping.levels and int(graph.task_graph().volume_bytes.sum()) != mapped_bytes:
        return (
            "The graph (graph.json) has other bytes than were mapped, so what ranks send is not drawn: "
            f"{_MAP}, all phases of it."
        )
    return None


def _not_shown(
    topology: Topology, plan: Plan | None, bench: Bench | None, survey: Survey | None
) -> Iterator[tuple[str, str]]:
    """The files that say nothing of this topology, each with a sentence."""
    if plan is not None and plan.fingerprint != topology.fingerprint:
        other = (
            "The plan (plan.json) was made for another topology than topology.json, so neither it nor its "
            f"verification is shown: {_TUNE}."
        )
        yield "plan.json", other
        if bench is not None:
            yield "bench.jsonl", other
    elif bench is not None and bench.ranks != len(topology.ranks):
        yield (
            "bench.jsonl",
            f"The verification (bench.jsonl) is of {bench.ranks:,} ranks and the topology of "
            f"{len(topology.ranks):,}, so nothing is compared: {_TUNE}.",
        )
    elif bench is not None and bench.elapsed_s is None:
        yield (
            "bench.jsonl",
            f"The verification (bench.jsonl) was cut off before its end, so nothing is compared: {_TUNE}.",
        )
    if survey is not None and survey.topology.fingerprint != topology.fingerprint:
        yield (
            "survey.json",
            "The survey (survey.json) found another topology than topology.json, so where it ran is not "
            "shown: survey again with `isochrone survey`.",
        )
