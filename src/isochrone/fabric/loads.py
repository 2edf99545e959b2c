# SPDX-License-Identifier: BSD-3-Clause
"""What flows over each cable of a fabric, in each direction, for some traffic between hosts."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.fabric.model import Node, Port
from isochrone.fabric.routes import Routes
from isochrone.files.graph import read_graph
from isochrone.files.text import kind_of, quoted, read_text

_MOST_BYTES = 1 << 28
_MOST_BETWEEN = 1 << 53
_TODO = "give lines of host,host,bytes, or what isochrone record wrote"

Traffic = Sequence[tuple[str, str, float]]
"""From host to host, bytes."""


@dataclass(frozen=True)
class Load:
    """What leaves a node by a port.

    Attributes:
        node, port: where it leaves.
        other: the node at the cable's other end.
        volume: in bytes, or in whatever the traffic is in.
    """

    node: Node
    port: Port
    other: Node | None
    volume: float

    @property
    def seconds(self) -> float:
        """That the cable takes for so many bytes; infinite where its speed is not known."""
        return self.volume * 8e-9 / self.port.rate_gbps if self.port.rate_gbps else math.inf


@dataclass(frozen=True)
class Loads:
    """Of all cables that anything flows over.

    Attributes:
        cables: those that take longest first.
        lost: what does not arrive.
    """

    cables: list[Load]
    lost: float


def read_traffic(path: Path) -> list[tuple[str, str, float]]:
    """Bytes from host to host: of lines ``host,host,bytes``, or of a recorded program on its hosts.

    Raises:
        IsochroneError: a line is none, or the recording does not say where ranks were.
    """
    if kind_of(path) == "graph":
        return list(_recorded(path))
    found = []
    for number, row in _rows(path):
        if not row or row[0].startswith("#") or (number == 1 and row[-1].strip().lower() == "bytes"):
            continue  # the first line may name the columns
        try:
            source, target, volume = row[0].strip(), row[1].strip(), float(row[2])
        except (IndexError, ValueError):
            raise IsochroneError(
                f"{quoted(','.join(row)[:80])} is not host,host,bytes", f"{path}:{number}", _TODO
            ) from None
        if len(row) != 3 or not 0 <= volume <= _MOST_BETWEEN:
            raise IsochroneError("bytes are a number from 0 to 2^53", f"{path}:{number}", _TODO)
        found.append((source, target, volume))
    if not found:
        raise IsochroneError("holds no traffic", str(path), _TODO)
    return found


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number of each line, and what stands between its commas."""
    reader = csv.reader(read_text(path, _MOST_BYTES, "traffic", _TODO).splitlines())
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error:
        # Such as for a quote that ends megabytes later, or never.
        raise IsochroneError("is not host,host,bytes", f"{path}:{reader.line_num}", _TODO) from None


def _recorded(path: Path) -> Iterator[tuple[str, str, float]]:
    graph = read_graph(path)
    if not graph.places:
        raise IsochroneError("does not say where its ranks were", str(path), "record the program again")
    hosts = [place.host for place in graph.places]
    for rows in (graph.rows, graph.pieces, graph.broken_down):
        if rows is not None:
            for source, target, volume in zip(rows.sources, rows.targets, rows.volume_bytes, strict=True):
                yield hosts[source], hosts[target], float(volume)


def of_traffic(routes: Routes, traffic: Traffic) -> Loads:
    """Of some traffic, each pair on its route of base LIDs.

    Raises:
        IsochroneError: a host is not on the fabric.
    """
    vertices = {name: routes.vertex(name) for pair in traffic for name in pair[:2]}
    source = np.array([vertices[one] for one, _, _ in traffic], np.int32)
    target = np.array([vertices[other] for _, other, _ in traffic], np.int32)
    return _loads(routes, *routes.core.loads(source, target, np.array([row[2] for row in traffic], float)))


def uniform(routes: Routes) -> Loads:
    """Of one byte from each host to each other."""
    return _loads(routes, *routes.core.uniform(list(routes.wiring.hosts.values()))[0])


def _loads(routes: Routes, out: NDArray[np.float64], up: NDArray[np.float64], lost: float) -> Loads:
    fabric = routes.fabric
    found = []
    for at, number in np.argwhere(out > 0):
        node = routes.switches[int(at)]
        found.append((node, node.ports[int(number)], float(out[at, number])))
    found += [(*routes.ends[int(at)], float(up[at])) for at in np.flatnonzero(up > 0)]
    cables = [
        Load(node, port, fabric.nodes.get(port.peer[0]) if port.peer else None, volume)
        for node, port, volume in found
    ]
    cables.sort(key=lambda load: (-load.seconds, -load.volume))
    return Loads(cables, lost)
