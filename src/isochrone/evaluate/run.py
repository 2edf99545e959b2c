# SPDX-License-Identifier: BSD-3-Clause
"""Measures the clusters, and runs all methods on what was measured with noise."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.detect.distance import Ints, distances
from isochrone.detect.levels import find_levels
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.methods.objects import objects_of
from isochrone.detect.methods.search import at_counts, choose, search
from isochrone.detect.methods.table import METHODS
from isochrone.evaluate.cases import Case
from isochrone.evaluate.noise import disturb
from isochrone.evaluate.scores import Score, scores
from isochrone.files import Measurements
from isochrone.sim.target import SimTarget
from isochrone.steps.folder import MEASUREMENTS, open_folder
from isochrone.steps.probe import ProbeOptions, probe

SIZES_BYTES = (0, 1024, 65536)
OURS = "isochrone"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What one method made of one cluster's measurements.

    Attributes:
        told: whether it was told the number of groups of each level.
        levels: how many levels it found besides the single group of all; of methods that are told None.
        levels_known: how many there are.
        scores: of what it found by itself, or told; one for each level that is there.
        searched: accuracy of the best partition over all settings of the search, by level: what the truth
            would have chosen. Of methods without settings, and told ones, the same as in ``scores``.
    """

    case: Case
    repetitions: int
    method: str
    told: bool
    levels: int | None
    levels_known: int
    scores: tuple[Score, ...]
    searched: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """For a result file, within what is the same for all methods."""
        return {
            "method": self.method,
            "told": self.told,
            "levels_found": self.levels,
            "scores": {
                score.level: {**score.to_json(), "accuracy_of_best_setting": self.searched[score.level]}
                for score in self.scores
            },
        }


def results(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """For a result file: an entry for each cluster, placement, noise and number of round trips."""
    found: dict[tuple[Case, int], dict[str, Any]] = {}
    for outcome in outcomes:
        case = outcome.case
        entry = found.setdefault(
            (case, outcome.repetitions),
            {
                "system": case.system.name,
                "ranks": case.system.ranks,
                "placement": case.system.placement,
                "placement_seed": case.system.seed,
                "noise": dataclasses.asdict(case.noise),
                "repetitions": outcome.repetitions,
                "levels_known": outcome.levels_known,
                "groups_known": {score.level: score.groups for score in outcome.scores},
                "methods": [],
            },
        )
        entry["methods"].append(outcome.to_json())
    return list(found.values())


def evaluate(cases: Sequence[Case], folder: Path) -> Iterator[Outcome]:
    """Runs every method on every case.

    Args:
        cases: which clusters, with which noise.
        folder: for what is measured without noise; what is there already is not measured again.

    Raises:
        IsochroneError: SimGrid is missing, or a simulation fails.
    """
    for number, case in enumerate(cases, 1):
        _log.info("%d of %d: %s, %s placement, noise: %s", number, len(cases), *case.words)
        truth = SimTarget(case.system).truth or {}
        for measurements in disturb(measure(case, folder), case.noise, case.repetitions):
            yield _ours(case, measurements, truth)
            objects = objects_of(measurements)
            for method in METHODS:
                yield _theirs(case, measurements, truth, method, objects)


def measure(case: Case, folder: Path) -> Measurements:
    """All pairs of the case's cluster without noise, however many ranks it has: other methods need them all.
    What is in `folder` already is not measured again.
    """
    path = open_folder(folder / case.name) / MEASUREMENTS
    return probe(SimTarget(case.system), path, ProbeOptions(SIZES_BYTES, mode="all"))


def _ours(case: Case, measurements: Measurements, truth: Mapping[str, Sequence[int]]) -> Outcome:
    pairs = distances(measurements)
    levels = [level[pairs.place_of] for level in find_levels(pairs)][1:]
    found = scores(levels, truth)
    return Outcome(
        case,
        measurements.repetitions,
        OURS,
        False,
        len(levels),
        _known(truth, measurements.ranks),
        tuple(found),
        {score.level: score.accuracy for score in found},
    )


def _theirs(
    case: Case,
    measurements: Measurements,
    truth: Mapping[str, Sequence[int]],
    method: Method,
    objects: Objects,
) -> Outcome:
    chosen: list[Ints]
    if method.told:
        counts = sorted({len(set(labels)) for labels in truth.values()})
        chosen = at_counts(method, objects, counts)
        found = scores(chosen, truth)
        best = {score.level: score.accuracy for score in found}
    else:
        every = search(method, objects)
        chosen = choose(objects, every)
        found = scores(chosen, truth)
        best = {score.level: score.accuracy for score in scores([each.labels for each in every], truth)}
    return Outcome(
        case,
        measurements.repetitions,
        method.name,
        method.told,
        None if method.told else len(chosen),
        _known(truth, measurements.ranks),
        tuple(found),
        best,
    )


def _known(truth: Mapping[str, Sequence[int]], ranks: int) -> int:
    """Levels that separate something: neither all ranks in one group, nor each in its own."""
    return sum(1 < len(set(labels)) < ranks for labels in truth.values())
