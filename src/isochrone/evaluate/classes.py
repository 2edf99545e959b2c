# SPDX-License-Identifier: BSD-3-Clause
"""Made machines of each class, by every method: which levels are found, missed, and made up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from isochrone.detect.cuts import average_linkage, cut_above
from isochrone.detect.distance import Ints, distances_of
from isochrone.detect.evidence import LEAST_STEP
from isochrone.detect.levels import find_levels
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.methods.search import at_counts, choose, search
from isochrone.detect.methods.table import METHODS
from isochrone.evaluate.machines.machine import Made
from isochrone.evaluate.machines.table import KINDS, made
from isochrone.evaluate.run import OURS
from isochrone.evaluate.scores import found_and_made_up

GAPS = "average, gaps"
_NOISES = 3.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClassScore:
    """What a method made of the machines of one class.

    Attributes:
        kind: of ``machines.table.KINDS``.
        method: its name.
        told: whether it was told the number of groups of each level.
        machines, exact: how many there were, and of how many it found all that is there and nothing else.
        levels, missed: how many are there, and how many of them it did not find.
        made_up: how many it found that are not there.
    """

    kind: str
    method: str
    told: bool
    machines: int
    exact: int
    levels: int
    missed: int
    made_up: int

    def to_json(self) -> dict[str, Any]:
        """For a result file."""
        return asdict(self)


def by_class(machines: int) -> Iterator[ClassScore]:
    """Every method on so many machines of each class, with seeds from 0 on."""
    for number, kind in enumerate(KINDS, 1):
        _log.info("%d of %d classes of made machines: %s", number, len(KINDS), kind)
        chosen = [made(kind, seed) for seed in range(machines)]
        with threadpool_limits(limits=1, user_api="blas"):
            yield _score(kind, OURS, False, chosen, _ours)
            yield _score(kind, GAPS, False, chosen, at_gaps)
            for method in METHODS:
                yield _score(kind, method.name, method.told, chosen, _finder(method))


def at_gaps(machine: Made) -> list[Ints]:
    """Average linkage cut wherever one merge is farther than the one before by a useful step, and by more
    than noise: what one would write first.
    """
    log_s = machine.log_s
    if len(log_s) < 3:
        return []
    tree, _ = average_linkage(log_s[np.triu_indices(len(log_s), 1)])
    return cut_above(tree, np.flatnonzero(np.diff(tree[:, 2]) > max(LEAST_STEP, _NOISES * machine.noise)))


def _ours(machine: Made) -> list[Ints]:
    return list(find_levels(distances_of(machine.log_s, machine.noise)))[1:]


def _finder(method: Method) -> Callable[[Made], Sequence[Ints]]:
    def find(machine: Made) -> Sequence[Ints]:
        distance_s = np.exp(machine.log_s)
        np.fill_diagonal(distance_s, 0.0)
        objects = Objects(distance_s, distance_s / distance_s.max())
        if not method.told:
            return choose(objects, search(method, objects))
        counts = [len(np.unique(labels)) for labels in machine.levels]
        return at_counts(method, objects, counts)

    return find


def _score(
    kind: str, name: str, told: bool, machines: Sequence[Made], find: Callable[[Made], Sequence[Ints]]
) -> ClassScore:
    exact = levels = missed = made_up = 0
    for machine in machines:
        found, other = found_and_made_up(find(machine), machine.levels)
        exact += (found, other) == (len(machine.levels), 0)
        levels += len(machine.levels)
        missed += len(machine.levels) - found
        made_up += other
    return ClassScore(kind, name, told, len(machines), exact, levels, missed, made_up)
