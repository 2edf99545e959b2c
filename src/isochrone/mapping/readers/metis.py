# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of METIS, KaHIP and the DIMACS challenge: the neighbours of each vertex on a line of its own.

The first line says ``vertices edges [fmt [ncon]]``. The three digits of ``fmt`` say whether vertices have
sizes, vertices have weights (``ncon`` of them), and edges have weights. Vertices count from 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.mapping.graph import TaskGraph, Whole
from isochrone.mapping.readers.limits import check_ranks, check_weights
from isochrone.mapping.readers.numbers import Numbers, parse_numbers

_FORMS = {0, 1, 10, 11, 100, 101, 110, 111}
_MOST_WEIGHTS_OF_VERTEX = 64
_TODO = "write it as METIS wants it"


def read_metis(path: Path, data: bytes) -> TaskGraph:
    """The graph of a file; its edges go both ways, and what they weigh are bytes without messages.

    Raises:
        IsochroneError: it is damaged, not symmetric, or has vertices that are not.
    """
    numbers = parse_numbers(data, path, whole=True)
    # Empty lines are vertices without neighbours, but not before the first line of numbers.
    filled = np.flatnonzero(np.diff(numbers.first))
    if not len(filled):
        raise IsochroneError("holds no graph", str(path), _TODO)
    head = int(filled[0])
    vertices, edges, form, constraints = _header(numbers, head, path)
    sizes, weights, edge_weights = form // 100, form // 10 % 10, form % 10
    first = _lines_of_vertices(numbers, head, vertices, path)
    before, step = sizes + weights * constraints, 1 + edge_weights

    count = np.diff(first)
    bad = np.flatnonzero((count < before) | ((count - before) % step != 0))
    if len(bad):
        what = "a neighbour lacks its weight" if count[bad[0]] >= before else "sizes or weights are missing"
        raise IsochroneError(what, _where(numbers, head + 1 + int(bad[0]), path), _TODO)
    values = numbers.values[first[0] : first[-1]]
    if np.any(values < 0):
        index = int(first[0]) + int(np.argmax(values < 0))
        raise IsochroneError(
            f"{values.min()} is negative", f"{path}:{numbers.line_of(index)}", "use weights of 0 or more"
        )
    place = np.arange(len(values)) - np.repeat(first[:-1] - first[0], count) - before
    at = np.flatnonzero((place >= 0) & (place % step == 0))
    sources = np.repeat(np.arange(vertices), (count - before) // step)
    targets = values[at] - 1
    volume = values[at + 1] if edge_weights else np.ones(len(at), np.int64)
    _check(numbers, head, sources, targets, vertices, path)
    if len(at) != 2 * edges:
        raise IsochroneError(
            f"the first line says {edges} edges, so {2 * edges} neighbours, and {len(at)} are listed",
            _where(numbers, head, path),
            "is the file whole?",
        )
    check_weights(volume, path)
    return _both_ways(numbers, head, vertices, sources, targets, volume, path)


def _header(numbers: Numbers, head: int, path: Path) -> tuple[int, int, int, int]:
    where = _where(numbers, head, path)
    words = [int(v) for v in numbers.values[numbers.first[head] : numbers.first[head + 1]]]
    if not 2 <= len(words) <= 4 or min(words) < 0:
        raise IsochroneError("the first line must be: vertices edges [fmt [ncon]]", where, _TODO)
    vertices, edges, form, constraints = (*words, *(0, 1)[len(words) - 2 :]) if len(words) < 4 else words
    check_ranks(vertices, where)
    if form not in _FORMS:
        raise IsochroneError(f"{form} is no fmt", where, "use 0, 1, 10, 11, 100, 101, 110 or 111")
    if constraints > _MOST_WEIGHTS_OF_VERTEX:
        raise IsochroneError(f"vertices with {constraints} weights cannot be", where, _TODO)
    return vertices, edges, form, constraints


def _lines_of_vertices(numbers: Numbers, head: int, vertices: int, path: Path) -> Whole:
    """[vertices + 1], where the numbers of each vertex's line begin."""
    first = numbers.first[head + 1 :]
    if len(first) - 1 < vertices:
        raise IsochroneError(
            f"the file ends after {len(first) - 1} of {vertices} vertices", str(path), "is the file whole?"
        )
    if first[vertices] != first[-1]:
        raise IsochroneError(
            f"there are more lines than the {vertices} vertices of the first line",
            f"{path}:{numbers.line_of(int(first[vertices]))}",
            _TODO,
        )
    return first[: vertices + 1]


def _check(numbers: Numbers, head: int, sources: Whole, targets: Whole, vertices: int, path: Path) -> None:
    """Raises IsochroneError for neighbours that there are not, and for a vertex that is its own."""
    bad = (targets < 0) | (targets >= vertices) | (targets == sources)
    if np.any(bad):
        edge = int(np.argmax(bad))
        what = (
            "its own neighbour" if targets[edge] == sources[edge] else f"of {vertices}, but has a neighbour"
        )
        name = "" if targets[edge] == sources[edge] else f" {targets[edge] + 1}"
        raise IsochroneError(
            f"vertex {sources[edge] + 1} is {what}{name}",
            _where(numbers, head + 1 + int(sources[edge]), path),
            "vertices count from 1",
        )


def _both_ways(
    numbers: Numbers,
    head: int,
    vertices: int,
    sources: Whole,
    targets: Whole,
    volume: Whole,
    path: Path,
) -> TaskGraph:
    """The graph, whose rows are in order of source and target. Raises IsochroneError for edges of one end."""
    key = sources * vertices + targets
    order = np.argsort(key, kind="stable")
    key, sources, targets, volume = key[order], sources[order], targets[order], volume[order]
    again = np.flatnonzero(key[1:] == key[:-1])
    back = targets * vertices + sources
    opposite = np.argsort(back, kind="stable")
    alone = np.flatnonzero((back[opposite] != key) | (volume[opposite] != volume))
    if not len(again) and not len(alone):
        return TaskGraph(vertices, sources, targets, np.zeros(len(key), np.int64), volume)
    if len(again):
        row, what = int(again[0]), "is listed twice as a neighbour of"
    else:
        row, what = _first_alone(key, back, volume, int(alone[0])), "does not list, with the same weight,"
    raise IsochroneError(
        f"vertex {targets[row] + 1} {what} {sources[row] + 1}",
        _where(numbers, head + 1 + int(sources[row]), path),
        "list each edge once at both its ends",
    )


def _first_alone(key: Whole, back: Whole, volume: Whole, guess: int) -> int:
    """The first row whose edge the other end does not have with the same weight."""
    at = np.minimum(np.searchsorted(key, back), len(key) - 1)
    alone = (key[at] != back) | (volume[at] != volume)
    return int(np.argmax(alone)) if np.any(alone) else guess


def _where(numbers: Numbers, line: int, path: Path) -> str:
    return f"{path}:{numbers.lines[line]}"
