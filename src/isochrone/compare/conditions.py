# SPDX-License-Identifier: BSD-3-Clause
"""Whether two benchmarks are of the same: what else than time may have made a difference."""

from __future__ import annotations

from isochrone.files import Bench
from isochrone.units import number_of


def differing_conditions(first: Bench, second: Bench) -> list[str]:
    """What differs between the runs of two benchmarks, or was not well in one of them, a sentence each."""
    found = []
    if first.simulated != second.simulated:
        found.append("one is simulated and the other is not")
    if first.ranks != second.ranks:
        found.append(f"{number_of(first.ranks, 'rank')} in the first, {second.ranks} in the second")
    elif [place.key for place in first.places] != [place.key for place in second.places]:
        found.append(_moved(first, second))
    if {place.signature for place in first.places} != {place.signature for place in second.places}:
        found.append("the hardware of the hosts differs")
    if first.mpi != second.mpi:
        names = [bench.mpi.library.split(",")[0][:80] for bench in (first, second)]
        if names[0] == names[1]:
            names = [f"{name} ({bench.mpi.abi})" for name, bench in zip(names, (first, second), strict=True)]
        found.append(f"the MPI library was {names[0]} in the first, {names[1]} in the second")
    if first.oversubscribed != second.oversubscribed:
        which = "first" if first.oversubscribed else "second"
        found.append(f"only in the {which} some host had more ranks than processors")
    for name, bench in (("first", first), ("second", second)):
        if bench.elapsed_s is None:
            found.append(f"the {name} did not come to its end")
    return found


def _moved(first: Bench, second: Bench) -> str:
    """How ranks are elsewhere, of benchmarks with as many."""
    hosts, others = ([place.host for place in bench.places] for bench in (first, second))
    if hosts == others:
        return "ranks are bound to other processors"
    if set(hosts) == set(others):
        return "ranks are on the same hosts in another order"
    missing = number_of(len(set(hosts) - set(others)), "host")
    return f"ranks are on other hosts: {missing} of the first are not in the second"
