# SPDX-License-Identifier: BSD-3-Clause
"""``mapping.json``: the place of each rank, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.place import Place, read_places
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class MappingFile:
    """A mapping as it is kept.

    Attributes:
        at: [rank], the number of its place.
        places: [rank], its host and CPUs; empty where only the form of the tree is known.
        identity: [rank], its host and CPUs if nothing is done; empty as above.
        method, objective: by which it was found, and for what.
        cost, identity_cost: in the objective's unit: seconds, or bytes times distance.
        seconds: that the search took.
    """

    at: tuple[int, ...]
    places: tuple[Place, ...]
    identity: tuple[Place, ...]
    method: str
    objective: str
    cost: float
    identity_cost: float
    seconds: float
    provenance: Json = field(default_factory=dict)


def read_mapping(path: Path | str) -> MappingFile:
    """Reads ``mapping.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    impossible.
    """
    path = Path(path)
    document = read_object(path, make_again("mapping"))
    check(document, "mapping", str(path))
    at = tuple(document["at"])
    places, identity = (read_places(document[name], str(path)) for name in ("places", "identity"))
    for found in (places, identity):
        if found and len(found) != len(at):
            raise IsochroneError(
                f"there are places for {len(found)} ranks, not {len(at)}", str(path), make_again("mapping")
            )
    return MappingFile(
        at=at,
        places=places,
        identity=identity,
        **{
            name: document[name]
            for name in ("method", "objective", "cost", "identity_cost", "seconds", "provenance")
        },
    )


def write_mapping(path: Path | str, mapping: MappingFile) -> None:
    """Writes ``mapping.json``."""
    document: Json = {
        "isochrone": "mapping",
        "schema_version": SCHEMA_VERSION,
        "method": mapping.method,
        "objective": mapping.objective,
        "cost": mapping.cost,
        "identity_cost": mapping.identity_cost,
        "seconds": mapping.seconds,
        "at": list(mapping.at),
        "places": [place.document() for place in mapping.places],
        "identity": [place.document() for place in mapping.identity],
        "provenance": mapping.provenance,
    }
    check(document, "mapping", str(path))
    write_object(Path(path), document)
