# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a machine that several pairs have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.doctor.residuals import Residuals
from isochrone.files import Place
from isochrone.files.place import UNKNOWN_HOST


@dataclass(frozen=True, eq=False)
class Suspect:
    """What would slow down certain pairs.

    Attributes:
        kind: ``node``, ``cable``, ``way``, ``uplink``, ``rank``, ``level`` or ``pair``.
        name: for people: ``the cable of c1-3``.
        ranks: those that it is about.
        pairs: indices into the residuals.
    """

    kind: str
    name: str
    ranks: tuple[int, ...]
    pairs: Ints


def suspects(residuals: Residuals, places: Sequence[Place], with_levels: bool) -> Iterator[Suspect]:
    """All of them but the single pairs.

    Args:
        residuals: whose pairs they are about.
        places: of the ranks.
        with_levels: whether all pairs of a level could be slow together; not if they are compared with each
            other.
    """
    names = [place.host for place in places]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    hosts = np.array([numbers[name] for name in names])
    a, b = hosts[residuals.first], hosts[residuals.second]
    if with_levels:
        for level in np.unique(residuals.level).tolist():
            yield Suspect("level", f"level {level}", (), np.flatnonzero(residuals.level == level))
    inside, between = np.flatnonzero(a == b), np.flatnonzero(a != b)
    ranks_of = _by_key(hosts, np.arange(len(hosts)), len(numbers))
    inside_of = _by_key(a[inside], inside, len(numbers))
    out_of = _by_key(np.concatenate([a[between], b[between]]), np.tile(between, 2), len(numbers))
    for name, host in numbers.items():
        ranks = tuple(ranks_of[host].tolist())
        yield Suspect("node", f"node {name}, inside", ranks, inside_of[host])
        out = out_of[host]
        # Where only pairs with one other host were measured, they tell of the way to that one.
        if len(numbers) < 3 or len(np.unique(a[out] + b[out])) > 1:
            yield Suspect("cable", f"node {name}, to others", ranks, out)
    yield from _ways(hosts, list(numbers), a, b)
    yield from _uplinks(residuals, hosts)
    ends = np.concatenate([residuals.first[inside], residuals.second[inside]])
    pairs_of = _by_key(ends, np.tile(inside, 2), len(places))
    for rank, place in enumerate(places):
        cpus = f", CPU {place.cpus}" if place.cpus is not None else ""
        yield Suspect("rank", f"rank {rank}{_on(place.host)}{cpus}", (rank,), pairs_of[rank])


def _by_key(keys: Ints, values: Ints, count: int) -> list[Ints]:
    """[key], the values that have it, ascending."""
    order = np.lexsort((values, keys))
    return np.split(values[order], np.searchsorted(keys[order], np.arange(1, count)))


def pair(residuals: Residuals, places: Sequence[Place], index: int) -> Suspect:
    """A single pair."""
    i, j = int(residuals.first[index]), int(residuals.second[index])
    here, there = places[i].host, places[j].host
    name = f"ranks {i} and {j}{_on(here)}" if here == there else f"ranks {i}{_on(here)} and {j}{_on(there)}"
    return Suspect("pair", name, (i, j), np.array([index]))


def _on(host: str) -> str:
    """Where it is, for people: nothing of a plain matrix."""
    return "" if host == UNKNOWN_HOST else f" on {host}"


def _ways(hosts: Ints, names: Sequence[str], a: Ints, b: Ints) -> Iterator[Suspect]:
    """Between two hosts, if there are more than two."""
    count = len(names)
    if count < 3:
        return
    cell = np.minimum(a, b) * count + np.maximum(a, b)
    order = np.argsort(cell, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        low, high = divmod(int(cell[part[0]]), count)
        if low != high:
            ranks = tuple(np.flatnonzero((hosts == low) | (hosts == high)).tolist())
            yield Suspect("way", f"nodes {names[low]} and {names[high]}, between them", ranks, part)


def _uplinks(residuals: Residuals, hosts: Ints) -> Iterator[Suspect]:
    """The ways out of groups of several hosts."""
    for outer, labels in zip(residuals.levels, residuals.levels[1:], strict=False):
        for group in np.unique(labels):
            inside = labels == group
            if len(np.unique(hosts[inside])) < 2 or np.all(inside):
                continue
            first, second = inside[residuals.first], inside[residuals.second]
            together = outer[residuals.first] == outer[residuals.second]
            ranks = tuple(np.flatnonzero(inside).tolist())
            name = f"the {len(np.unique(hosts[inside]))} nodes with ranks {_few(ranks)}, to others"
            yield Suspect("uplink", name, ranks, np.flatnonzero((first != second) & together))


def _few(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:6]))
    return f"{shown}, …" if len(ranks) > 6 else shown
