# SPDX-License-Identifier: BSD-3-Clause
"""Model: from files of times to models of them, and which to trust."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from isochrone import _core
from isochrone.detect import detect
from isochrone.errors import IsochroneError
from isochrone.files import (
    Links,
    Topology,
    read_bench,
    read_measurements,
    read_study,
    read_topology,
    topology_document,
)
from isochrone.files.text import kind_of
from isochrone.models.observation import Found, together, with_regions
from isochrone.models.readers import read_foreign_times
from isochrone.models.readers.bench import layout_at, of_bench
from isochrone.models.readers.labels import Labels
from isochrone.models.readers.measurements import of_measurements
from isochrone.models.readers.study import Arranged, arrangements, of_study
from isochrone.models.subjects import Subject, subjects
from isochrone.progress import part
from isochrone.steps.detect import is_of
from isochrone.steps.folder import BENCH, MEASURED, MEASUREMENTS, STUDY, TOPOLOGY, arrangement_file

_MOST_TIMES = 1 << 17


def model(
    given: Sequence[tuple[Path, Labels]], topology: Path | None, borders: Sequence[int], within: float
) -> tuple[list[Subject], Found]:
    """Fits and judges models of all times in files.

    Args:
        given: files and what is said of them; a folder of a survey stands for its measurements and benchmark,
            that of a study for its medians.
        topology: of the hosts; None: what is beside a file, or else beside another one.
        borders: up to which numbers of ranks regions reach, for files that tell no places.
        within: the error, as a ratio, that models are to keep to.

    Raises:
        IsochroneError: a file cannot be read, is damaged, or has no times.
    """
    with part("reading times", 0.1):
        found = read_times(given, topology)
    if borders:
        found = replace(found, observations=with_regions(found.observations, borders))
    return subjects(found, within), found


def read_times(given: Sequence[tuple[Path, Labels]], topology: Path | None = None) -> Found:
    """All times in files; arguments and errors as of `model`."""
    common = _beside(path for path, _ in given)
    found = together(_read(path, labels, topology, common) for path, labels in given)
    if not found.observations:
        raise IsochroneError(
            "there are no times to fit models to", todo="give latencies, not bandwidths alone"
        )
    if len(found.observations) > _MOST_TIMES:
        raise IsochroneError(f"there are more than {_MOST_TIMES} times", todo="give fewer files at once")
    return found


def _beside(paths: Iterable[Path]) -> Path | None:
    """The only topology that is beside any of the files; None where there are several, or none."""
    found = {(path if path.is_dir() else path.parent) / TOPOLOGY for path in paths}
    there = [each for each in found if each.is_file()]
    return there[0] if len(there) == 1 else None


def _read(path: Path, labels: Labels, topology: Path | None, common: Path | None) -> Found:
    if path.is_dir():
        inside = [path / name for name in (MEASUREMENTS, BENCH, STUDY) if (path / name).is_file()]
        if not inside:
            raise IsochroneError(
                f"has no {MEASUREMENTS}, {BENCH} or {STUDY}",
                str(path),
                "give the folder of a survey or a study",
            )
        return together(_read(each, labels, topology, common) for each in inside)
    kind = kind_of(path)
    if kind not in ("measurements", "bench", "study"):
        if kind is not None:
            raise IsochroneError(
                f"holds {kind}, and no times", str(path), "give measurements, a benchmark or a study"
            )
        return read_foreign_times(path, labels)
    if labels != Labels():
        raise IsochroneError("says itself what it is of", str(path), "leave the labels out")
    beside = path.with_name(TOPOLOGY)
    chosen = topology or (beside if beside.is_file() else common)
    known = None if chosen is None else read_topology(chosen)
    if kind == "study":
        found = _of_study(path, known)
        return found if known is None else replace(found, links=_links(known))
    if kind == "bench":
        timed = of_bench(read_bench(path), path, None if known is None else _text(known))
        return timed if known is None else replace(timed, links=_links(known))
    measured = read_measurements(path)
    if known is None or not is_of(known, measured):
        if topology is not None:
            raise IsochroneError("is of other ranks than the measurements", str(topology), "leave it out")
        known = detect(measured)[0]
    return replace(of_measurements(measured, known), links=_links(known))


def _of_study(path: Path, surveyed: Topology | None) -> Found:
    """Its medians; the ranks are at places of the survey, or where the study's own files put them."""
    study = read_study(path)
    if not study.done:
        raise IsochroneError("is of a study that is not done", str(path), "go on with it by its command")
    layouts: dict[Arranged, _core.Layout | None] = {}
    for arranged in arrangements(study):
        file = path.parent / MEASURED / arrangement_file(*arranged)
        own = read_topology(file)
        if len(own.ranks) < arranged[1]:
            raise IsochroneError(f"has places for {len(own.ranks)} ranks, not {arranged[1]}", str(file))
        # Ranks that take no part are the last ones.
        places = [own.places[place] for place in own.ranks[: arranged[1]]]
        layouts[arranged] = layout_at(places, file, _text(surveyed or own))
    return of_study(study, layouts, str(path))


def _links(topology: Topology) -> dict[str, Links]:
    return {level.name: level.links for level in topology.levels if level.links is not None}


def _text(topology: Topology) -> str:
    return json.dumps(topology_document(topology))
