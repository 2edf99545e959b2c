# SPDX-License-Identifier: BSD-3-Clause
"""Whether benchmarks are of the same: what else than time may have made a difference."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.files import Bench
from isochrone.units import number_of


def differing_conditions(benches: Sequence[Bench]) -> list[str]:
    """What differs between the runs of benchmarks, or was not well in one of them, a sentence each."""
    first, *rest = benches
    found = {}
    for other in rest:
        found.update(dict.fromkeys(_differences(first, other)))
    if any(bench.oversubscribed != first.oversubscribed for bench in rest):
        found["only in some of them a host had more ranks than processors"] = None
    unfinished = sum(bench.elapsed_s is None for bench in benches)
    if unfinished:
        found[f"{unfinished} of {len(benches)} did not come to the end"] = None
    return list(found)


def _differences(first: Bench, other: Bench) -> list[str]:
    found = []
    if first.simulated != other.simulated:
        found.append("one is simulated and another is not")
    if first.ranks != other.ranks:
        found.append(f"one has {number_of(first.ranks, 'rank')}, another {other.ranks}")
    elif [place.key for place in first.places] != [place.key for place in other.places]:
        found.append(_moved(first, other))
    if {place.signature for place in first.places} != {place.signature for place in other.places}:
        found.append("the hardware of the hosts differs")
    if first.mpi != other.mpi:
        names = [bench.mpi.library.split(",")[0][:80] for bench in (first, other)]
        if names[0] == names[1]:
            names = [f"{name} ({bench.mpi.abi})" for name, bench in zip(names, (first, other), strict=True)]
        found.append(f"the MPI library of one was {names[0]}, of another {names[1]}")
    return found


def _moved(first: Bench, other: Bench) -> str:
    """How ranks are elsewhere, of benchmarks with as many."""
    hosts, others = ([place.host for place in bench.places] for bench in (first, other))
    if hosts == others:
        return "ranks are bound to other processors"
    if set(hosts) == set(others):
        return "ranks are on the same hosts in another order"
    return "ranks are on other hosts"
