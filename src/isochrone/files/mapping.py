# SPDX-License-Identifier: BSD-3-Clause
"""``mapping.json``: the place of each rank, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import Count, Provenance
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.place import Place, check_places
from isochrone.files.schema import make_again
from isochrone.files.text import Json

_Amount = Annotated[float, Meta(ge=0)]
_Bytes = Annotated[int, Meta(ge=0, le=1 << 62)]
"""Of all messages together."""


class LevelTraffic(Form, frozen=True):
    """What meets at one level.

    Attributes:
        name: of the level; ``place`` for ranks that share one.
        before_bytes, after_bytes: with ranks in their order, and mapped.
    """

    name: Annotated[str, Meta(max_length=255)]
    before_bytes: _Bytes
    after_bytes: _Bytes


class Prediction(Form, frozen=True):
    """What mapping is expected to change, in simulated seconds.

    Attributes:
        identity_s, mapped_s: all messages of the program, with its ranks in their order, and mapped.
        run_s: the program as it was recorded, ranks in their order; None where that is not known.
    """

    identity_s: _Amount
    mapped_s: _Amount
    run_s: _Amount | None = written(None)

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
        return {**self.document(), "mapped_run_s": self.mapped_run_s}


class MappingFile(Head, frozen=True, kw_only=True, tag="mapping"):
    """A mapping as it is kept.

    Attributes:
        method, objective: by which it was found, and for what.
    """

    method: Annotated[str, Meta(max_length=64)]
    objective: Annotated[str, Meta(pattern="^(time|load|volume|hops)$")]
    cost: Annotated[_Amount, Meta(description="In seconds, or in bytes times distance.")]
    identity_cost: Annotated[_Amount, Meta(description="The same if nothing is done.")]
    seconds: Annotated[_Amount, Meta(description="That the search took.")]
    at: Annotated[tuple[Count, ...], Meta(min_length=1, description="[rank], the number of its place.")]
    places: Annotated[
        tuple[Place, ...],
        Meta(description="[rank], where it runs; empty where only the form of the tree is known."),
    ]
    identity: Annotated[
        tuple[Place, ...],
        Meta(description="[rank], where it runs if nothing is done; empty as above."),
    ]
    levels: Annotated[
        tuple[LevelTraffic, ...],
        Meta(
            max_length=64,
            description="Bytes that meet at each level, outermost first, with ranks in their order and "
            "mapped; the last is what stays within a place.",
        ),
    ] = written(tuple)
    prediction: Annotated[
        Prediction | None, Meta(description="By simulation; null where nothing can be predicted.")
    ] = written(None)
    advice: Annotated[
        Annotated[str, Meta(max_length=1 << 10)] | None,
        Meta(description="In words, why mapping does not help; null where it does."),
    ] = written(None)
    provenance: Provenance = written(dict)


def _check(mapping: MappingFile, where: str) -> None:
    for found in (mapping.places, mapping.identity):
        check_places(found, where)
        if found and len(found) != len(mapping.at):
            what = f"there are places for {len(found)} ranks, not {len(mapping.at)}"
            raise IsochroneError(what, where, make_again("mapping"))


FILE = Decoder("mapping", MappingFile, check=_check)


def read_mapping(path: Path | str) -> MappingFile:
    """Reads ``mapping.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    impossible.
    """
    return FILE.file(Path(path))


def write_mapping(path: Path | str, mapping: MappingFile) -> None:
    """Writes ``mapping.json``. Raises IsochroneError for a mapping that could not be read again."""
    FILE.write(Path(path), mapping)
