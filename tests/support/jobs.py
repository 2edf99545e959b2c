# SPDX-License-Identifier: BSD-3-Clause
"""Surveys of jobs on one machine, which has hosts in racks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from surveyed import layout, places, rule, topology, write

from isochrone import _core
from isochrone.files import (
    Place,
    Rule,
    Topology,
    read_plan,
    read_topology,
)

RACKS = {"r0": ["n0", "n1"], "r1": ["n2", "n3"], "r2": ["n4", "n5"]}


@dataclass(frozen=True)
class Job:
    """Hosts of which each has so many ranks, as they were surveyed."""

    hosts: Sequence[str]
    cores: int

    @property
    def ranks(self) -> tuple[Place, ...]:
        return places(self.hosts, self.cores)


def hosts(*numbers: int) -> list[str]:
    return [f"n{number}" for number in numbers]


CLASSES = {
    "more ranks": (Job(hosts(0, 1), 2), Job(hosts(0, 1), 4)),
    "one a node, then all": (Job(hosts(0, 1, 2, 3), 1), Job(hosts(0, 1, 2, 3), 4)),
    "overlapping": (Job(hosts(0, 1, 2, 3), 2), Job(hosts(2, 3, 4, 5), 2)),
    "in one host, then between": (Job(hosts(1), 4), Job(hosts(0, 1, 2), 1)),
    "disjoint": (Job(hosts(0, 1), 4), Job(hosts(2, 3), 4)),
    "three that are disjoint": (Job(hosts(0, 1), 2), Job(hosts(4, 5), 2), Job(hosts(2, 3), 4)),
    "joined by the last": (Job(hosts(0, 1), 2), Job(hosts(4, 5), 2), Job(hosts(1, 2, 3, 4), 2)),
}


DISJOINT = {"disjoint", "three that are disjoint"}


def rules_for(of: Topology, ranks: Sequence[Place], name: str) -> tuple[Rule, ...]:
    """One recipe for broadcasts from the first rank, one for barriers; named levels where there are any."""
    there = layout(of, ranks)
    inner = there.shape().rpartition("; ")[2].split(" ")[0] if ";" in there.shape() else ""
    recipe = f"hierarchical({of.levels[0].name}={name},{inner}=chain)@4096" if inner else name
    return (
        rule(there.shape(0), recipe),
        rule(there.shape(), "dissemination", 0, 0, "barrier"),
    )


def written(folder: Path, jobs: Sequence[Job], rack: str = "rack") -> list[Path]:
    """A survey for each job."""
    folders = []
    for number, job in enumerate(jobs):
        of = topology(job.ranks, RACKS, rack)
        names = ("binomial", "flat", "knomial/4")
        time = f"2026-01-0{number + 1}T00:00:00Z"
        found = write(folder / f"s{number}", of, rules_for(of, job.ranks, names[number % 3]), time=time)
        folders.append(found)
    return folders


def chosen(folder: Path, ranks: Sequence[Place], collective: str, size_bytes: int) -> tuple[str, str]:
    """What a program at these places would run, and why."""
    plan = read_plan(folder / "plan.json")
    there = layout(read_topology(folder / "topology.json"), ranks, plan.level_names)
    return _core.choose(plan.text(), collective, there, 0, size_bytes)


def parts(of: Topology, ranks: Sequence[Place]) -> list[list[int]]:
    """The groups that some ranks are in, level by level, without levels that are as the one before."""
    found: list[list[int]] = []
    for groups in layout(of, ranks).group_of:
        if groups not in found:
            found.append(groups)
    return found


def peers(of: _core.Layout, recipe: str, rank: int) -> list[tuple[str, int]]:
    return [(step["kind"], step["peer"]) for step in _core.schedule("bcast", of, recipe, rank, 0)]
