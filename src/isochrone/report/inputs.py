# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of a survey."""

from __future__ import annotations

from pathlib import Path

from isochrone.detect import dendrogram
from isochrone.errors import IsochroneError
from isochrone.files import read_bench, read_measurements, read_plan, read_topology
from isochrone.report.comparison import compare
from isochrone.report.facts import Facts, Survey
from isochrone.report.mergetree import merge_tree


def read_facts(folder: Path, survey: Survey | None = None) -> Facts:
    """The survey in `folder`; its plan.json and bench.jsonl may be missing.

    Raises IsochroneError for a file that is missing, damaged, or of another survey than the others.
    """
    measurements = read_measurements(folder / "measurements.jsonl")
    topology = read_topology(folder / "topology.json")
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
    ended = measurements.complete or measurements.ended
    return Facts(
        folder=folder,
        measurements=measurements,
        topology=topology,
        tree=merge_tree(dendrogram(measurements).linkage, topology) if ended else None,
        plan=plan,
        bench=bench,
        comparison=None if bench is None else compare(bench.slowest_s, bench.collective),
        survey=survey,
    )
