# SPDX-License-Identifier: BSD-3-Clause
"""Finds the mapping: the problem in the form of the core's optimisers, and what came of it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone import _core
from isochrone.errors import IsochroneError, UsageError
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.objective import busiest_way, terms, way_prices_s
from isochrone.mapping.system import System

_MOST_COST = 1e300
"""Beyond it sums of costs are infinite soon, and a search among such does not end."""

_SAME = 1e-9
"""Of a cost: a difference that is of rounding."""
_SHARE_OF_SUMS = 0.7
"""Of the time, where the busiest way counts: the rest is for relieving it."""


@dataclass(frozen=True)
class Mapping:
    """A mapping of ranks to places.

    Attributes:
        at: [rank], its place.
        identity: [rank], its place if nothing is done.
        method, objective: by which it was found, and for what.
        cost, identity_cost: in the objective's unit: seconds, or bytes times distance.
        seconds: that the search took.
    """

    at: tuple[int, ...]
    identity: tuple[int, ...]
    method: str
    objective: str
    cost: float
    identity_cost: float
    seconds: float


def methods() -> list[str]:
    """The names of the optimisers, the default first."""
    return [row["name"] for row in _core.optimisers()]


def optimise(
    graph: TaskGraph,
    system: System,
    objective: str = "time",
    distances: Sequence[float] | None = None,
    *,
    method: str = "portfolio",
    seed: int = 0,
    seconds: float | None = None,
    fixed: Sequence[int] = (),
    dimensions: Sequence[int] = (),
    tick: Callable[[float], None] | None = None,
) -> Mapping:
    """The best mapping found; ranks in their order where none is better.

    Args:
        graph: the task graph.
        system: the places.
        objective: ``time``, ``load``, ``volume`` or ``hops``.
        distances: of ``volume``, innermost level first.
        method: one of `methods`.
        seed: the same seed gives the same mapping, unless `seconds` are given.
        seconds: for how long to search; None: the method's usual work.
        fixed: [rank], the place that it has to have, or -1; empty: none has.
        dimensions: of the grid that the ranks are, if they are one and it is known.
        tick: called with the seconds gone by.

    Raises:
        IsochroneError: the ranks have no room, or the method does not apply.
        UsageError: the dimensions are of another number of ranks, or there is no such method.
    """
    if graph.ranks > sum(system.capacities):
        raise IsochroneError(
            f"{graph.ranks} ranks have room at places for {sum(system.capacities)} only",
            todo="survey with a rank on every core, or give more hosts",
        )
    if dimensions and math.prod(dimensions) != graph.ranks:
        raise UsageError(
            f"the dimensions are not those of a grid of {graph.ranks} ranks",
            "--grid",
            "write for example 4x3x2",
        )
    weights, levels = terms(objective, graph, system, distances)
    with np.errstate(over="ignore", invalid="ignore"):
        most = float(weights.sum(axis=0) @ levels.max(axis=0))
    if not most < _MOST_COST:
        raise IsochroneError(
            f"by {objective} the messages cost more together than numbers can tell apart",
            todo="divide all distances by the same number"
            if distances is not None
            else "look at the latencies and bandwidths of the topology",
        )
    first, neighbours, both = undirected(graph, weights)
    try:
        problem = _core.MappingProblem(
            first,
            neighbours,
            both,
            system.groups,
            [[levels[level].tolist()] * (max(groups) + 1) for level, groups in enumerate(system.groups)],
            system.capacities,
            list(fixed),
            list(dimensions),
        )
    except ValueError as error:
        raise IsochroneError(str(error)) from None
    if method not in methods():
        raise UsageError(f"{method!r} is no method", "--method", f"use {', '.join(methods())}")
    begin = time.monotonic()
    # Ways are relieved in what the search of least sums leaves of the time.
    search_s = None if seconds is None else seconds * (_SHARE_OF_SUMS if objective == "load" else 1)
    at = problem.search(method, seed, len(os.sched_getaffinity(0)), search_s, tick)
    if not at:
        raise IsochroneError(
            f"{method} does not apply to this graph and these places", "--method", "leave it away"
        )
    identity = problem.search("identity")
    price = problem.cost
    if objective == "load":

        def price(at: Sequence[int]) -> float:
            busiest = busiest_way(graph, system, at)
            return 0.0 if busiest is None else busiest.seconds

        if method != "identity":
            left_s = None if seconds is None else seconds - (time.monotonic() - begin)
            prices = [
                [price_s] * (max(groups) + 1)
                for price_s, groups in zip(way_prices_s(system), system.groups, strict=True)
            ]
            relieved = problem.relieved(*_directions(graph), prices, at, seed, left_s)
            at = min((relieved, at), key=price)
    # One method alone may do worse than none. Of what costs the same, ranks in their order are no change.
    cost, identity_cost = price(at), price(identity)
    if not cost < identity_cost * (1 - _SAME):
        at, cost = identity, identity_cost
    took_s = time.monotonic() - begin
    return Mapping(
        at=tuple(at),
        identity=tuple(identity),
        method=method,
        objective=objective,
        cost=cost,
        identity_cost=identity_cost,
        seconds=took_s,
    )


def _directions(graph: TaskGraph) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[end] of `undirected`, bytes from the rank to its neighbour, and from there."""
    upwards = graph.sources < graph.targets
    weights = np.stack([graph.volume_bytes * upwards, graph.volume_bytes * ~upwards], axis=1)
    first, neighbours, both = undirected(graph, weights.astype(np.float64))
    is_lower = np.repeat(np.arange(graph.ranks), np.diff(first)) < neighbours
    out, back = np.where(is_lower[:, None], both, both[:, ::-1]).T
    return np.ascontiguousarray(out), np.ascontiguousarray(back)


def undirected(
    graph: TaskGraph, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The graph in compressed rows with each edge at both ends, its weights the sums over both directions.

    Args:
        graph: the task graph.
        weights: [row, term].

    Returns:
        [rank + 1], where each rank's ends begin; [end], the neighbour; [end, term].
    """
    low, high = np.minimum(graph.sources, graph.targets), np.maximum(graph.sources, graph.targets)
    keys, row = np.unique(low * graph.ranks + high, return_inverse=True)
    sums = np.stack(
        [np.bincount(row, weights=column, minlength=len(keys)) for column in weights.T], axis=1
    ).reshape(len(keys), weights.shape[1])
    one, other = keys // graph.ranks, keys % graph.ranks
    ends, neighbours = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((neighbours, ends))
    first = np.zeros(graph.ranks + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=graph.ranks), out=first[1:])
    return (
        first,
        np.ascontiguousarray(neighbours[order], dtype=np.int32),
        np.ascontiguousarray(np.concatenate([sums, sums])[order]),
    )
