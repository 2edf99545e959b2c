# SPDX-License-Identifier: BSD-3-Clause
"""Topologies that are detected in made latencies: groups of ranks, near inside and far from each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isochrone.steps.detect import detect


def grouped(folder: Path, ranks: int, of_each: int, near_ns: float, far_ns: float) -> Path:
    """The file of so many ranks in groups of so many, each group of consecutive ones."""
    group = np.arange(ranks) // of_each
    latency_ns = np.where(group[:, None] == group[None, :], near_ns, far_ns)
    np.fill_diagonal(latency_ns, 0)
    np.save(folder / "matrix.npy", latency_ns)
    file = folder / "topology.json"
    detect(folder / "matrix.npy", file)
    return file
