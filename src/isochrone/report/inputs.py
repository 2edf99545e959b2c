# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of a survey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from isochrone.detect import dendrogram
from isochrone.errors import IsochroneError
from isochrone.files import (
    Bench,
    Measurements,
    Plan,
    Survey,
    Topology,
    read_bench,
    read_measurements,
    read_plan,
    read_survey,
    read_topology,
)
from isochrone.report.comparison import compare_all
from isochrone.report.facts import Facts, Findings
from isochrone.report.mergetree import merge_tree

_TUNE = "tune again with `isochrone tune`"


def read_facts(folder: Path, examine: Callable[[Measurements], Findings | None] = lambda _: None) -> Facts:
    """The survey in `folder`; its plan.json, bench.jsonl and survey.json may be missing.

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
    if len(topology.ranks) != measurements.ranks:
        raise IsochroneError(
            f"{len(topology.ranks)} ranks, but measurements.jsonl has {measurements.ranks}",
            where=str(folder / "topology.json"),
            todo="detect it again from these measurements",
        )
    plan = read_plan(folder / "plan.json") if (folder / "plan.json").exists() else None
    bench = read_bench(folder / "bench.jsonl") if (folder / "bench.jsonl").exists() else None
    survey = read_survey(folder / "survey.json") if (folder / "survey.json").exists() else None
    not_shown = dict(_not_shown(topology, plan, bench, survey))
    plan = None if "plan.json" in not_shown else plan
    bench = None if "bench.jsonl" in not_shown else bench
    survey = None if "survey.json" in not_shown else survey
    ended = measurements.complete or measurements.ended
    return Facts(
        folder=folder,
        measurements=measurements,
        topology=topology,
        tree=merge_tree(dendrogram(measurements).linkage, topology) if ended else None,
        plan=plan,
        bench=bench,
        comparisons=() if bench is None else compare_all(bench),
        survey=survey,
        findings=findings,
        not_shown=not_shown,
    )


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
    if survey is not None and survey.fingerprint != topology.fingerprint:
        yield (
            "survey.json",
            "The survey (survey.json) found another topology than topology.json, so where it ran is not "
            "shown: survey again with `isochrone survey`.",
        )
