# SPDX-License-Identifier: BSD-3-Clause
"""``mapping.json``: the place of each rank, and what it costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.place import Place, read_places
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class LevelTraffic:
    """What meets at one level.

    Attributes:
        name: of the level; ``place`` for ranks that share one.
        before_bytes, after_bytes: with ranks in their order, and mapped.
    """

    name: str
    before_bytes: int
    after_bytes: int


@dataclass(frozen=True)
class Prediction:
    """What mapping is expected to change.

    Attributes:
        identity_s, mapped_s: all messages of the program, with its ranks in their order, and mapped.
        run_s: the program as it was recorded, ranks in their order; None where that is not known.
    """

    identity_s: float
    mapped_s: float
    run_s: float | None = None

    @property
    def mapped_run_s(self) -> float | None:
        """The program with its ranks mapped. What a run takes beyond its messages stays what it is; where the
        messages alone would take longer than the run did, all of it is taken for messages.
        """
        if self.run_s is None:
            return None
        share = min(1.0, self.run_s / self.identity_s) if self.identity_s > 0 else 0.0
        return self.run_s + share * (self.mapped_s - self.identity_s)

    def figures(self) -> Json:
        """All of it for people's programs, with what follows from it."""
        return {**asdict(self), "mapped_run_s": self.mapped_run_s}


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
        levels: what meets at each, outermost first; the last is what stays within a place.
        prediction: by simulation; None where nothing can be predicted.
        advice: in words, why mapping does not help; None where it does.
    """

    at: tuple[int, ...]
    places: tuple[Place, ...]
    identity: tuple[Place, ...]
    method: str
    objective: str
    cost: float
    identity_cost: float
    seconds: float
    levels: tuple[LevelTraffic, ...] = ()
    prediction: Prediction | None = None
    advice: str | None = None
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
    prediction = document.get("prediction")
    return MappingFile(
        at=at,
        places=places,
        identity=identity,
        levels=tuple(LevelTraffic(**level) for level in document.get("levels", ())),
        prediction=None if prediction is None else Prediction(**prediction),
        advice=document.get("advice"),
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
        "levels": [asdict(level) for level in mapping.levels],
        "prediction": None if mapping.prediction is None else asdict(mapping.prediction),
        "advice": mapping.advice,
        "provenance": mapping.provenance,
    }
    check(document, "mapping", str(path))
    write_object(Path(path), document)
