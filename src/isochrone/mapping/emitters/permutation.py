# SPDX-License-Identifier: BSD-3-Clause
"""For launchers that cannot place: processes stay where they are, and take other ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from isochrone.errors import IsochroneError, UsageError
from isochrone.files.place import Place, parse_cpus
from isochrone.mapping.emitters.job import Job

_Key = tuple[str, frozenset[int] | None]


def permutation(places: Sequence[Place], started: Sequence[Place]) -> list[int]:
    """[process], the rank that it shall take. Processes of one place take its ranks in ascending order.

    Where hosts have the same numbers of both but CPUs differ, hosts alone decide.

    Args:
        places: [rank], where it shall run.
        started: [process], where it runs.

    Raises:
        IsochroneError: a host has other numbers of ranks and of processes.
    """
    try:
        return _matched([_exact(place) for place in places], [_exact(place) for place in started])
    except IsochroneError:
        return _matched([(p.host, None) for p in places], [(p.host, None) for p in started])


def write_permutation(job: Job) -> str:
    """The rank of each process, a line each. Raises UsageError where it is not known how they are started."""
    if job.started is None:
        raise UsageError("a permutation needs to know where the launcher puts processes by itself")
    return "".join(f"{rank}\n" for rank in permutation(job.places, job.started))


def launch(job: Job, file: str) -> list[str]:
    """The launch line."""
    program = job.program or ("PROGRAM",)
    return ["isochrone", "run", "--map", file, "--", "mpirun", *job.count_words(), *program]


def _exact(place: Place) -> _Key:
    return place.host, None if place.cpus is None else parse_cpus(place.cpus)


def _matched(places: Sequence[_Key], started: Sequence[_Key]) -> list[int]:
    free: dict[_Key, list[int]] = defaultdict(list)
    for rank in reversed(range(len(places))):
        free[places[rank]].append(rank)
    taken = []
    for key in started:
        if not free.get(key):
            raise IsochroneError(f"more processes are started on {key[0]} than ranks are placed there")
        taken.append(free[key].pop())
    left = next((key[0] for key, ranks in free.items() if ranks), None)
    if left is not None:
        raise IsochroneError(f"more ranks are placed on {left} than processes are started there")
    return taken
