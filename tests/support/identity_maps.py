# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that no optimiser has made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isochrone.files import MappingFile, Place, write_mapping


def write_identity(path: Path, places: Sequence[Place], at: Sequence[int] | None = None) -> Path:
    """A mapping to these places, said to be the ranks' own order, and costs nothing.

    Args:
        places: in their order; empty: none is known.
        at: [rank], its place; None: the ranks are in the order of the places.
    """
    known = tuple(places)
    write_mapping(
        path,
        MappingFile(
            at=tuple(range(len(known)) if at is None else at),
            places=known,
            identity=known,
            method="identity",
            objective="volume",
            cost=0.0,
            identity_cost=0.0,
            seconds=0.0,
        ),
    )
    return path
