# SPDX-License-Identifier: BSD-3-Clause
"""From the ranks of a survey to what recipes are built on."""

from __future__ import annotations

from pathlib import Path

from isochrone import _core
from isochrone.files import Topology


def layout_of(topology: Topology, topology_file: Path) -> _core.Layout:
    """The layout of the surveyed ranks."""
    places = [topology.places[place] for place in topology.ranks]
    return _core.match(
        topology_file.read_text(encoding="utf-8"),
        [(place.host, place.cpus, place.signature) for place in places],
    )
