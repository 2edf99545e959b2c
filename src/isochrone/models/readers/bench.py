# SPDX-License-Identifier: BSD-3-Clause
"""Times of collectives from ``bench.jsonl``: of each case and recipe, the median of the slowest ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import Bench, Place, parse_members
from isochrone.models.observation import Found, Observation


def of_bench(bench: Bench, path: Path, topology_json: str | None) -> Found:
    """What was timed.

    Args:
        bench: the times.
        path: of its file, for messages.
        topology_json: the text of a ``topology.json`` that knows the hosts; None: they are all that is known.

    Raises:
        IsochroneError: the topology does not know the hosts.
    """
    observations: list[Observation] = []
    layouts: dict[str, _core.Layout | None] = {}
    for key, times_s in bench.slowest_s.items():
        members = sorted(parse_members(key.members)) if key.members else list(range(bench.ranks))
        if members[-1] >= bench.ranks:
            raise IsochroneError(f"rank {members[-1]} is none of {bench.ranks}", str(path), "is it damaged?")
        places = [bench.places[rank] for rank in members]
        if key.members not in layouts:
            layouts[key.members] = None if topology_json is None else layout_at(places, path, topology_json)
        layout = layouts[key.members]
        time_s = float(np.median(times_s))
        if time_s > 0 and len(members) > 1:
            observations.append(
                Observation(
                    operation=key.collective,
                    size_bytes=key.size_bytes,
                    ranks=len(members),
                    time_s=time_s,
                    algorithm=key.recipe,
                    mapping=layout.order() if layout is not None else "",
                    region=_region(layout) if layout is not None else _hosts(places),
                    root=key.root,
                    layout=layout,
                    source=f"{path}: {len(times_s)} repetitions",
                )
            )
    return Found(tuple(observations))


def layout_at(places: Sequence[Place], path: Path, topology_json: str) -> _core.Layout:
    """The groups of ranks at places; the path is of their file. Raises IsochroneError for a topology that
    does not know the hosts.
    """
    try:
        return _core.match(topology_json, [(each.host, each.cpus, each.signature) for each in places])
    except ValueError as error:
        raise IsochroneError(str(error), str(path), "give the topology of these hosts") from None


def _region(layout: _core.Layout) -> str:
    """The innermost level that holds all ranks."""
    whole = [
        name for name, groups in zip(layout.levels, layout.group_of, strict=True) if len(set(groups)) == 1
    ]
    return whole[-1] if whole else ""


def _hosts(places: list[Place]) -> str:
    return "one host" if len({each.host for each in places}) == 1 else "several hosts"
