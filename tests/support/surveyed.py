# SPDX-License-Identifier: BSD-3-Clause
"""Folders of surveys of machines that were made up: hosts in racks, with sockets and cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import structs
from planned import EVIDENCE, LINKS
from squares import of_squares

from isochrone import _core
from isochrone.files import (
    Evidence,
    Level,
    LibraryReference,
    Measurements,
    MpiLibrary,
    Place,
    Plan,
    PlannedTopology,
    Rule,
    Survey,
    Topology,
    TopologyReference,
    topology_document,
    write_measurements,
    write_plan,
    write_survey,
    write_topology,
)
from isochrone.files.stream import Stream

LIBRARY = MpiLibrary("MPICH Version: 4.0.2", "4.0", "libmpich.so.12")
SOCKET = 2
"""Cores of a socket."""


def places(hosts: Sequence[str], cores: int) -> tuple[Place, ...]:
    """So many cores of each host, host by host."""
    return tuple(Place(host, str(core), "a node") for host in hosts for core in range(cores))


def topology(ranks: Sequence[Place], racks: Mapping[str, Sequence[str]], rack: str = "rack") -> Topology:
    """The machine as a detection finds it: levels that divide nothing more, or nothing, are not there."""
    hosts = {place.host for place in ranks}
    names = {
        "machine" if len(hosts) > 1 else "node": lambda place: 0,
        rack: lambda place: _rack_of(place.host, racks),
    }
    names |= {"node": lambda place: place.host} if len(hosts) > 1 else {}
    names |= {"socket": lambda place: (place.host, int(place.cpus or 0) // SOCKET)}
    levels: list[Level] = []
    numbers = range(len(ranks))
    seen = [list(numbers), [[number] for number in numbers]]
    for name, of in names.items():
        groups: dict[object, list[int]] = {}
        for number in numbers:
            groups.setdefault(of(ranks[number]), []).append(number)
        found = list(groups.values())
        if levels and found in seen:
            continue
        if len(found) == 1 and levels:
            continue
        seen.append(found)
        links = structs.replace(LINKS, latency_s=1e-5 / 10 ** len(levels), pairs=len(ranks))
        levels.append(Level(name, tuple(tuple(group) for group in found), 1.0, links))
    return Topology(tuple(ranks), tuple(numbers), tuple(levels))


def _rack_of(host: str, racks: Mapping[str, Sequence[str]]) -> str:
    return next((name for name, hosts in racks.items() if host in hosts), "")


def layout(of: Topology, ranks: Sequence[Place], names: Sequence[str] = ()) -> _core.Layout:
    """Of ranks in a topology."""
    import json

    named = structs.replace(
        of,
        levels=tuple(
            structs.replace(level, name=name)
            for level, name in zip(of.levels, names or [level.name for level in of.levels], strict=True)
        ),
    )
    return _core.match(json.dumps(topology_document(named)), [(p.host, p.cpus, p.signature) for p in ranks])


def write(
    folder: Path,
    of: Topology,
    rules: Sequence[Rule],
    *,
    time: str = "2026-01-01T00:00:00Z",
    library: MpiLibrary = LIBRARY,
    names: Sequence[str] = (),
) -> Path:
    """A survey's files."""
    folder.mkdir(parents=True)
    write_topology(folder / "topology.json", of)
    names = tuple(names) or tuple(level.name for level in of.levels)
    plan = Plan(
        topology=PlannedTopology(of.fingerprint, "topology.json", names),
        mpi=LibraryReference(library.library, library.abi),
        rules=tuple(rules),
        provenance={"time": time},
    )
    write_plan(folder / "plan.json", plan)
    write_measurements(folder / "measurements.jsonl", measurements(of, library))
    write_survey(
        folder / "survey.json",
        Survey(
            topology=TopologyReference(of.fingerprint),
            target="made up",
            command=("isochrone", "survey"),
            cores=2,
            elapsed_s=1.0,
        ),
    )
    return folder


def measurements(of: Topology, library: MpiLibrary = LIBRARY) -> Measurements:
    """Times that go by the level at which two ranks meet, and those of the first two sending by
    themselves.
    """
    ranks = len(of.ranks)
    meets = np.zeros((ranks, ranks), dtype=int)
    for level in of.levels:
        group = np.array(of.labels(level))
        meets += group[:, None] == group[None, :]
    times = np.repeat((1e-5 / 10.0**meets)[:, :, None], 2, axis=2)
    times[np.arange(ranks), np.arange(ranks)] = np.nan
    return Measurements(
        sizes_bytes=(0, 1024),
        repetitions=10,
        seed=1,
        places=tuple(of.places[place] for place in of.ranks),
        mpi=library,
        resolution_s=1e-9,
        overhead_s=1e-8,
        simulated=False,
        **of_squares(rtt_min_s=times, rtt_median_s=times, send_overhead_s=times / 10),
        streams=(Stream(((0, 1),), 1024, 10, (1e-3,)),),
        elapsed_s=1.0,
    )


def rule(
    shape: str,
    recipe: str,
    low: int = 1,
    high: int = 1 << 20,
    collective: str = "bcast",
    gain: tuple[float, float, float] = (1.9, 2.0, 2.1),
) -> Rule:
    """A rule whose gain is in an interval."""
    least, speedup, most = gain
    evidence = Evidence(EVIDENCE.recipe_s * speedup, EVIDENCE.recipe_s, speedup, (least, most), 20)
    return Rule(collective, shape, low, high, recipe, evidence)
