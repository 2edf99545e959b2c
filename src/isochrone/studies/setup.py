# SPDX-License-Identifier: BSD-3-Clause
"""What a process spends, by itself, on the first call of a collective, on another one, and on another root.

As table III of Subramoni et al., "Design and Evaluation of Network Topology-/Speed-Aware Broadcast Algorithms
for InfiniBand Clusters" (CLUSTER 2011), has it for their broadcast, by the number of leaders: one of each
node of 16 ranks, in racks of eight nodes. At the first call a rank finds the job's places in the topology,
looks the plan up, and makes its schedule; another call with the same root uses what is kept. It is rank 0,
which has most to do. No message is sent for any of this: each rank has the files, and decides from what is
equal on all ranks. What MPI takes for a communicator of its own is not in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from isochrone import _core
from isochrone.files import Level, LibraryReference, Place, PlannedTopology, Topology, topology_document
from isochrone.files.plan import Evidence, Plan, Rule
from isochrone.statistics import Interval, median_ci
from isochrone.studies.figures import Panel, Series, time_by
from isochrone.studies.study import Figure, Part, Table

LEADERS = (8, 16, 32, 64)
PER_NODE, PER_RACK = 16, 8
SIZE_BYTES = 65536
REPETITIONS = 30
THEIRS_MS = {8: (11.6, 0.13), 16: (30.8, 1.5), 32: (115.5, 2.4)}
"""First call, and another root; the same root once more was nothing."""


def setup() -> Part:
    """The part of a page: measured now, by this process."""
    rows = [measured(leaders) for leaders in LEADERS]
    names = {
        "theirs: first call": [(each, THEIRS_MS[each][0] * 1e-3) for each in THEIRS_MS],
        "theirs: another root": [(each, THEIRS_MS[each][1] * 1e-3) for each in THEIRS_MS],
        "ours: first call": [(row["leaders"], first_call_s(row)) for row in rows],
        "ours: another root": [(row["leaders"], row["laid_other_root_s"][0]) for row in rows],
    }
    series = tuple(
        Series(name, tuple((x, Interval(y, y, y, 0.0)) for x, y in points), name == "theirs: first call")
        for name, points in names.items()
    )
    figure = Figure(
        "setup",
        "What it takes to set up a broadcast on a laid tree, by number of leaders: at the first call, and "
        "for another root. Theirs is table III of the experiment, on other machines.",
        "Set-up time by number of leaders, theirs and ours.",
        time_by([Panel("", series)], "leaders", False, "time of a process"),
    )
    cells = []
    for row in rows:
        theirs = THEIRS_MS.get(row["leaders"])
        parts = (row["places_s"][0], row["plan_s"][0], row["laid_s"][0], first_call_s(row))
        cells.append(
            (
                f"{row['leaders']}",
                f"{row['ranks']:,}",
                *(f"{value * 1e3:.3f}" for value in (*parts, row["laid_other_root_s"][0])),
                "–" if theirs is None else f"{theirs[0]:g}",
                "–" if theirs is None else f"{theirs[1]:g}",
            )
        )
    table = Table(
        "setup",
        f"What rank 0 takes by itself, in ms, medians of {REPETITIONS}: it finds the places of all ranks, "
        "looks the plan up, and makes the schedule of a tree that is laid depth first. Another call with "
        "the same root takes none of that, here and there",
        (
            "Leaders",
            "Ranks",
            "Places",
            "Plan",
            "Schedule",
            "First call",
            "Another root",
            "Theirs: first call",
            "Theirs: another root",
        ),
        tuple(cells),
    )
    sentence = (
        "Theirs asks a service for the switches, makes a matrix of delays on one rank, sends it to the "
        "others and makes a communicator. Ours reads files that each rank has, and sends nothing; what the "
        "MPI library takes for a communicator of its own is not in it. Measured on the machine that made "
        "this page, anew each time."
    )
    return Part("setup", "What it takes to set up", (sentence,), (figure,), (table,))


def first_call_s(row: dict[str, Any]) -> float:
    """Of a row of ``measured``, with a laid tree."""
    return float(row["places_s"][0] + row["plan_s"][0] + row["laid_s"][0])


def measured(leaders: int) -> dict[str, Any]:
    """The times of one number of leaders: medians and their 95 % intervals, in seconds."""
    ranks = leaders * PER_NODE
    rank = np.arange(ranks)
    members = {"machine": ranks, "rack": PER_NODE * PER_RACK, "node": PER_NODE}
    levels: list[Level] = []
    for name, size in members.items():
        groups = tuple(tuple(group.tolist()) for group in np.split(rank, range(size, ranks, size)))
        if not levels or len(groups) > len(levels[-1].groups):
            levels.append(Level(name, groups, None, None))
    places = [Place(f"n{at // PER_NODE}", str(at % PER_NODE), "made up") for at in range(ranks)]
    recipe = f"hierarchical({','.join(f'{level.name}=binomial' for level in levels)})"
    laid = "hierarchical(machine=depth_first(binomial),node=binomial)"
    topology = Topology(tuple(places), tuple(range(ranks)), tuple(levels))
    text = json.dumps(topology_document(topology))
    where = [(place.host, place.cpus, place.signature) for place in places]
    layout = _core.match(text, where)
    evidence = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20)
    rule = Rule("bcast", layout.shape(0), 0, 1 << 30, recipe, evidence)
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference("", "libmpi.so.12"),
        rules=(rule,),
    )
    plan_text = plan.text()
    root = ranks // 2
    return {
        "leaders": leaders,
        "ranks": ranks,
        "places_s": timed(lambda: _core.match(text, where)),
        "plan_s": timed(lambda: _core.choose(plan_text, "bcast", layout, 0, SIZE_BYTES)),
        "schedule_s": timed(lambda: _core.schedule("bcast", layout, recipe, 0, 0)),
        "other_root_s": timed(lambda: _core.schedule("bcast", layout, recipe, 0, root)),
        "laid_s": timed(lambda: _core.schedule("bcast", layout, laid, 0, 0)),
        "laid_other_root_s": timed(lambda: _core.schedule("bcast", layout, laid, 0, root)),
        "repetitions": REPETITIONS,
    }


def timed(act: Callable[[], object]) -> list[float]:
    """Median and its 95 % interval, in seconds of a processor: other programs don't count."""
    act()
    took = []
    for _ in range(REPETITIONS):
        begin = time.process_time()
        act()
        took.append(time.process_time() - begin)
    found = median_ci(took)
    return [found.estimate, found.low, found.high]
