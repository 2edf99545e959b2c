# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that nobody took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from squares import of_squares

from isochrone.files import Measurements, MpiLibrary, Place


def synthetic(
    rtt_s: np.ndarray, sizes_bytes: Sequence[int] = (0,), hosts: Sequence[str] | None = None, **others: Any
) -> Measurements:
    """Measurements with these round trips, [rank, rank, size], as the least and the median of one repetition.

    Args:
        rtt_s: in seconds.
        sizes_bytes: of its last axis.
        hosts: of each rank, which has the CPU of its number; one for all unless given.
        others: attributes of Measurements that are to be otherwise, times as ``rtt_s``.
    """
    hosts = hosts or ["n0"] * len(rtt_s)
    times = {"rtt_min_s": rtt_s, "rtt_median_s": rtt_s, "send_overhead_s": rtt_s / 10}
    times |= {name: others.pop(name) for name in tuple(others) if name in times}
    attributes = {
        "sizes_bytes": tuple(sizes_bytes),
        "repetitions": 1,
        "seed": 1,
        "places": tuple(Place(host, str(rank), "synthetic") for rank, host in enumerate(hosts)),
        "mpi": MpiLibrary("synthetic", "3.1", "none"),
        "resolution_s": 1e-9,
        "overhead_s": 0.0,
        "simulated": True,
        **of_squares(**times),
    }
    return Measurements(**(attributes | others))
