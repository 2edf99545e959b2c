# SPDX-License-Identifier: BSD-3-Clause
"""Detect: from ``measurements.jsonl`` to ``topology.json``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isochrone.detect import Clustering
from isochrone.detect import detect as detect_topology
from isochrone.files import Measurements, Switches, Topology, read_measurements, write_topology
from isochrone.files.matrix import SUFFIXES, read_matrix
from isochrone.plogp.predict import Distance, seen_by

# Pairs of a level scatter less, unless the machine is no tree or a part of it is slow.
_UNLIKE = 0.2

_log = logging.getLogger(__name__)


def detect(
    measurements: Path,
    output: Path,
    truth: Mapping[str, Sequence[int]] | None = None,
    unit: str = "ns",
    predicted: tuple[Distance, int] | None = None,
    switches: Switches | None = None,
    clustering: Clustering | None = None,
) -> Topology:
    """Finds the topology and writes it. `truth` (level name to group label of each rank) and `switches`
    (of the hosts) name and judge it only. `unit` is that of a plain matrix, if the measurements are one.
    `predicted` are distances from PLogP parameters for a message size, instead of round trips; `clustering`
    is another method than Isochrone's own.

    Raises:
        IsochroneError: the measurements are damaged, pairs are missing, or a host is on no switch.
    """
    found = read(measurements, unit)
    seen = None if predicted is None else seen_by(found, *predicted)
    topology, report = detect_topology(found, truth, switches, seen, clustering)
    if predicted is not None:
        kind, size_bytes = predicted
        topology = replace(topology, source={**topology.source, "distance": [kind, size_bytes]})
    write_topology(output, topology)
    for name in report.disagreements:
        _log.warning("message times do not show the groups that %s has: see 'agreement' in %s", name, output)
    # Where ranks share CPUs, it is these that scatter.
    levels = () if found.provenance.get("oversubscribed") else topology.levels
    for level in levels:
        if level.links is not None and (level.links.spread or 0.0) > _UNLIKE:
            _log.warning(
                "latencies of the pairs that meet at level %s scatter by %.0f %%: they are not alike; "
                "isochrone doctor says whether some are slow",
                level.name,
                100 * (level.links.spread or 0.0),
            )
    return topology


def read(path: Path, unit: str) -> Measurements:
    """Measurements, or a plain matrix in that unit. Raises IsochroneError for what is neither."""
    return read_matrix(path, unit) if path.suffix in SUFFIXES else read_measurements(path)
