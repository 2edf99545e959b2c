# SPDX-License-Identifier: BSD-3-Clause
"""From the ranks of a survey to what recipes are built on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import Place, Plan, Topology, topology_document


def layout_of(topology: Topology, topology_file: Path) -> _core.Layout:
    """The layout of the surveyed ranks."""
    return _matched(topology_file.read_text(encoding="utf-8"), places_of(topology))


def layout_for(plan: Plan | None, topology: Topology, places: Sequence[Place], where: str) -> _core.Layout:
    """The layout of ranks at these places, with the levels called as the rules of a plan call them. Raises
    IsochroneError, naming `where`, for a plan that has names for other levels.
    """
    if plan is not None and plan.level_names:
        if len(plan.level_names) != len(topology.levels):
            raise IsochroneError(
                f"the plan has {len(plan.level_names)} levels, and its topology {len(topology.levels)}",
                where,
                "tune again",
            )
        named = zip(topology.levels, plan.level_names, strict=True)
        topology = replace(topology, levels=tuple(replace(level, name=name) for level, name in named))
    return _matched(json.dumps(topology_document(topology)), places)


def places_of(topology: Topology) -> list[Place]:
    """[rank], the place of each surveyed rank."""
    return [topology.places[place] for place in topology.ranks]


def _matched(topology: str, places: Sequence[Place]) -> _core.Layout:
    return _core.match(topology, [(place.host, place.cpus, place.signature) for place in places])
