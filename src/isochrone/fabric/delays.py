# SPDX-License-Identifier: BSD-3-Clause
"""Distances between hosts by their routes (Subramoni et al., section IV-B): by hops, and by links' speeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.fabric.routes import Routes

Matrix = NDArray[np.float64]


def by_hops(routes: Routes, hosts: Sequence[str]) -> Matrix:
    """[from, to], switches passed; 0 to itself, infinite where no route arrives.

    Raises:
        IsochroneError: a host is not on the fabric.
    """
    hops = routes.hops([routes.vertex(host) for host in hosts]).astype(np.float64)
    hops[hops == np.iinfo(np.uint16).max] = np.inf
    return hops


def by_speed(routes: Routes, hosts: Sequence[str]) -> Matrix:
    """[from, to], nanoseconds that a bit takes over the slowest cable, the inverse of its Gb/s. Both hosts'
    own cables are among these: a pair is as fast as the slower of the two at best.

    Raises:
        IsochroneError: a host is not on the fabric.
    """
    rates = routes.rates_gbps([routes.vertex(host) for host in hosts]).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(rates), 0.0, 1.0 / rates)


def csv_text(matrix: Matrix, hosts: Sequence[str], words: str) -> str:
    """As ``isochrone detect`` and others read it: a row for each host, and their names in a comment."""
    head = f"# {words}, from (row) to (column): {', '.join(hosts)}\n"
    return head + "".join(",".join(f"{cell:.6g}" for cell in row) + "\n" for row in matrix)
