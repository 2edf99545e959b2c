# SPDX-License-Identifier: BSD-3-Clause
"""Library: from a topology and measured collectives to ``library.json``, what the library should be told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files import (
    BCAST,
    NATIVE,
    BenchCase,
    LibraryReference,
    LibraryTuning,
    TopologyFileReference,
    provenance,
)
from isochrone.files.library import write_library as write_tuning
from isochrone.files.topology import read_topology
from isochrone.launch.target import Target
from isochrone.launch.told import check_untold
from isochrone.progress import kept_when_stopped, part
from isochrone.steps.bench import NO_LIMITS
from isochrone.steps.folder import LIBRARY_TUNING
from isochrone.steps.racing import OWN_SHARE
from isochrone.steps.rounds import check_ranks
from isochrone.steps.told_launches import ToldLaunches
from isochrone.steps.told_race import ToldRace, launches_of
from isochrone.tune.affordable import Grids, Times, affordable_grids
from isochrone.tune.collectives import collective, of_one_rule
from isochrone.tune.effort import left_to_measure
from isochrone.tune.layout import layout_of
from isochrone.tune.race import median_s
from isochrone.tune.roots import ShapeRoots
from isochrone.tune.sizes import first_of
from isochrone.tune.spots import Spot


def tune_library(
    target: Target,
    topology_file: Path,
    library_file: Path,
    collectives: Sequence[str] = (BCAST,),
    sizes_bytes: Sequence[int] | None = None,
    seed: int = 1,
    budget_s: float | None = None,
) -> LibraryTuning:
    """Finds what the library should be told for collectives of all ranks of the target, and writes it.

    They are measured at the sizes of `grids`, with a budget at a few of these. What was measured before an
    interruption is not measured again, until ``rounds.forget_rounds`` is called.

    Raises:
        IsochroneError: a benchmark fails, or the topology is not of the target's ranks.
    """
    check_untold(target)
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    ranks = len(topology.ranks)
    check_ranks(target, topology, topology_file)
    folder = library_file.with_name(LIBRARY_TUNING)
    launches = ToldLaunches(target, topology, topology_file, folder, seed)

    def own_s(sizes: Grids) -> Times:
        cases = [BenchCase(size, 0, name) for name, each in sizes.items() for size in each]
        with part("timing the library's own", OWN_SHARE):
            times = launches.measure(dict.fromkeys(cases, ()), 1, NO_LIMITS)
        return {(case.collective, case.size_bytes): median_s([times[case.key(NATIVE)]]) for case in cases}

    with kept_when_stopped(folder):
        users_s = None if target.simulated else budget_s
        if users_s is not None:
            users_s = left_to_measure(users_s, launches_of(launches, collectives) * launches.start_s())
        layout = layout_of(topology, topology_file)
        grid = affordable_grids(collectives, sizes_bytes, layout, users_s, own_s)
        spots = [
            # A library cannot be told one thing for one shape or root and another for the next.
            Spot(name, ShapeRoots("", (0,), ranks // 2 if collective(name)["rooted"] else 0), sizes)
            for name, all_sizes in grid.items()
            for sizes in of_one_rule(name, all_sizes if budget_s is None else first_of(all_sizes))
        ]
        rules = ToldRace(target, launches, users_s).run(spots)
    if launches.mpi is None:
        raise IsochroneError("nothing was measured", target.name)
    tuning = LibraryTuning(
        topology=TopologyFileReference(topology.fingerprint, topology_file.name),
        mpi=LibraryReference(launches.mpi.library, launches.mpi.abi),
        ranks=ranks,
        rules=tuple(rules),
        provenance=provenance(),
    )
    write_tuning(library_file, tuning)
    return tuning
