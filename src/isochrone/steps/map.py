# SPDX-License-Identifier: BSD-3-Clause
"""Map: from a task graph and places to the mapping of ranks, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.files import Graph, LevelTraffic, Place, Prediction, read_graph
from isochrone.files.text import kind_of
from isochrone.mapping.collectives import broken_down
from isochrone.mapping.extend import extended, extended_system
from isochrone.mapping.graph import TaskGraph, Whole
from isochrone.mapping.objective import BusyWay, busiest_way
from isochrone.mapping.optimise import Mapping, optimise
from isochrone.mapping.predict import exchange_time_s
from isochrone.mapping.readers import read_foreign_graph
from isochrone.mapping.system import System
from isochrone.progress import part
from isochrone.units import number_of
from isochrone.words import join_words

_LITTLE = 0.01
"""A gain that nobody feels."""
_EVEN = 0.1
"""Pairs whose bytes scatter less than this around their mean are alike."""
_MOST_PAIRS = 0.9
"""Of all pairs, with which a pattern is that of all with all."""


@dataclass(frozen=True)
class Program:
    """What is known of a program.

    Attributes:
        tasks: what its ranks send one another.
        run_s: what the recorded runs took together; None where that is not known.
        places: of each rank in them; empty where they are not known.
        recorded: what ``isochrone record`` wrote; None for what another program did.
        phase: of the recording, that the messages are of; None: of all phases.
    """

    tasks: TaskGraph
    run_s: float | None = None
    places: tuple[Place, ...] = ()
    recorded: Graph | None = None
    phase: int | None = None


@dataclass(frozen=True)
class Mapped:
    """A mapping and what it means.

    Attributes:
        mapping: the mapping.
        traffic: by level, outermost first; the last is what stays within a place.
        advice: in words, why mapping helps little here; None where it helps.
        prediction: by simulation; None where nothing can be predicted.
        unpredicted: why not.
        busiest: the busiest way with ranks in their order, and mapped; None where nothing was measured or no
            way is shared.
    """

    mapping: Mapping
    traffic: tuple[LevelTraffic, ...]
    advice: str | None
    prediction: Prediction | None = None
    unpredicted: str | None = None
    busiest: tuple[BusyWay | None, BusyWay | None] = (None, None)


def read_program(path: Path, form: str | None = None, phase: int | None = None) -> Program:
    """The program of a file: what ``isochrone record`` wrote, or another program's task graph.

    Raises:
        IsochroneError: the file cannot be read, is damaged, or has no such phase.
    """
    if form is None and kind_of(path) is not None:
        recorded = read_graph(path)
        if phase is not None and phase not in recorded.phases:
            raise IsochroneError(
                f"there is no phase {phase}",
                str(path),
                f"it has {', '.join(map(str, recorded.phases)) or 'none at all'}",
            )
        run_s = recorded.seconds if phase is None else None
        return Program(recorded.task_graph(phase), run_s, recorded.places, recorded, phase)
    if phase is not None:
        raise IsochroneError("only what `isochrone record` wrote has phases", str(path), "leave --phase away")
    return Program(read_foreign_graph(path, form))


def map_ranks(
    program: Program,
    system: System,
    objective: str,
    distances: Sequence[float] | None = None,
    *,
    method: str = "portfolio",
    seed: int = 0,
    seconds: float | None = None,
    fixed: Sequence[int] = (),
    dimensions: Sequence[int] = (),
) -> Mapped:
    """Finds a mapping, and says what it changes; the arguments are those of `optimise`.

    Raises:
        IsochroneError: the ranks have no room, or the method does not apply.
    """
    graph = program.tasks
    with part("mapping ranks") as advance:
        mapping = optimise(
            graph,
            system,
            objective,
            distances,
            method=method,
            seed=seed,
            seconds=seconds,
            fixed=fixed,
            dimensions=dimensions,
            tick=None if seconds is None else lambda gone_s: advance(round(gone_s), round(seconds)),
        )
    traffic, advice = _traffic(graph, system, mapping), _advice(program, mapping)
    before, after = (
        busiest_way(graph, system, at) if system.is_measured else None
        for at in (mapping.identity, mapping.at)
    )
    mapped = Mapped(mapping, traffic, advice, busiest=(before, after))
    try:
        return replace(mapped, prediction=predict(program, system, mapping))
    except IsochroneError as error:
        return replace(mapped, unpredicted=error.what)


def predict(program: Program, system: System, mapping: Mapping) -> Prediction:
    """What a mapping changes, by simulation.

    Raises:
        IsochroneError: only weights are known, a link is not measured, or there are too many messages.
    """
    identity_s, mapped_s = (
        exchange_time_s(program.tasks, system, at) for at in (mapping.identity, mapping.at)
    )
    hosts = [place.host for place in program.places]
    was_in_order = bool(system.places) and hosts == [system.places[at].host for at in mapping.identity]
    return Prediction(identity_s, mapped_s, program.run_s if was_in_order else None)


def predict_more(
    program: Program, mapped: Mapped, system: System, grid: Sequence[int], larger: Sequence[int], **how: Any
) -> Prediction:
    """What mapping would change on more nodes of the same kind, with as much for each rank to do.

    Args:
        program: recorded, of ranks that are a grid.
        mapped: its mapping, with what it is predicted to change.
        system: its places.
        grid, larger: that it is, and that it shall be.
        how: further arguments of `map_ranks`.

    Raises:
        IsochroneError: the program's pattern or the machine does not tell how it grows, or there is nothing
            to predict by.
    """
    if program.recorded is None or mapped.prediction is None:
        raise IsochroneError(
            mapped.unpredicted or "only what `isochrone record` wrote can be extended",
            "--extend",
            "record it",
        )
    more = extended(program.recorded, grid, larger)
    # Collectives that were left apart in the recorded graph are so in the larger one.
    if program.recorded.broken_down is not None:
        parts = broken_down(more)
        if parts.apart:
            raise IsochroneError(
                f"among {more.ranks} ranks {join_words(parts.apart)} would be too many messages",
                "--extend",
                "extend it less",
            )
        more = replace(more, broken_down=parts.rows)
    bigger = extended_system(system, more.ranks)
    found = map_ranks(Program(more.task_graph(program.phase)), bigger, dimensions=larger, **how)
    if found.prediction is None:
        raise IsochroneError(found.unpredicted or "", "--extend", "extend it less")
    if mapped.prediction.run_s is None:
        return found.prediction
    rest_s = max(0.0, mapped.prediction.run_s - mapped.prediction.identity_s)
    return replace(found.prediction, run_s=rest_s + found.prediction.identity_s)


def meeting_levels(graph: TaskGraph, system: System, at: Sequence[int]) -> Whole:
    """[row], the number of the level where its ranks meet, outermost 0; the number of levels for ranks at one
    place.
    """
    place = np.asarray(at)
    source, target = place[graph.sources], place[graph.targets]
    level = np.zeros(len(graph.sources), np.int64)
    for number, groups in enumerate(system.groups):
        labels = np.asarray(groups)
        level[labels[source] == labels[target]] = number
    level[source == target] = len(system.groups)
    return level


def _traffic(graph: TaskGraph, system: System, mapping: Mapping) -> tuple[LevelTraffic, ...]:
    names = (*system.levels, "place")
    before, after = (
        np.bincount(meeting_levels(graph, system, at), graph.volume_bytes, len(names))
        for at in (mapping.identity, mapping.at)
    )
    return tuple(
        LevelTraffic(name, int(was), int(now)) for name, was, now in zip(names, before, after, strict=True)
    )


def _advice(program: Program, mapping: Mapping) -> str | None:
    why_not = _no_help(program.tasks, mapping)
    if why_not is None or program.recorded is None:
        return why_not
    apart = program.recorded.calls_apart(program.phase)
    if apart == 0:
        return why_not
    beside = f"{why_not} beside" if len(program.tasks.sources) else "there is nothing but"
    # Those that were asked to be kept apart can be listed without another run.
    todo = (
        "list their messages with isochrone record --add GRAPH -o LISTED"
        if program.recorded.broken_down is None
        else "they have too many messages to be listed, so record on fewer ranks"
    )
    return f"{beside} {number_of(apart, 'call')} of collectives, kept apart and not counted: {todo}"


def _no_help(graph: TaskGraph, mapping: Mapping) -> str | None:
    if len(graph.sources) == 0:
        return "the ranks send each other nothing"
    if mapping.cost < (1 - _LITTLE) * mapping.identity_cost:
        return None
    pair = graph.sources * graph.ranks + graph.targets
    volume_bytes = np.bincount(np.unique(pair, return_inverse=True)[1], graph.volume_bytes)
    most = graph.ranks * (graph.ranks - 1)
    if len(volume_bytes) >= _MOST_PAIRS * most and volume_bytes.std() <= _EVEN * volume_bytes.mean():
        return "all ranks send each other about the same, so no order is better than another"
    return "the ranks' own order is as good already"
