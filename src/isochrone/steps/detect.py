# SPDX-License-Identifier: BSD-3-Clause
"""Detect: from ``measurements.jsonl`` to ``topology.json``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from isochrone.detect import detect as detect_topology
from isochrone.files import Topology, read_measurements, write_topology
from isochrone.files.matrix import SUFFIXES, read_matrix

_log = logging.getLogger(__name__)


def detect(
    measurements: Path, output: Path, truth: Mapping[str, Sequence[int]] | None = None, unit: str = "ns"
) -> Topology:
    """Finds the topology and writes it. `truth` (level name to group label of each rank) names and judges
    it only. `unit` is that of a plain matrix, if the measurements are one.

    Raises:
        IsochroneError: the measurements are damaged, or pairs are missing.
    """
    is_matrix = measurements.suffix in SUFFIXES
    found = read_matrix(measurements, unit) if is_matrix else read_measurements(measurements)
    topology, report = detect_topology(found, truth)
    write_topology(output, topology)
    for name in report.disagreements:
        _log.warning("message times do not show the groups that %s has: see 'agreement' in %s", name, output)
    return topology
