# SPDX-License-Identifier: BSD-3-Clause
"""The lines of ``measurements.jsonl``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from isochrone.files.fields import Bytes, Count, Provenance, RankCount, Repetitions, Seconds
from isochrone.files.form import Form, Head, LineFile, Tail
from isochrone.files.parameters import Direction
from isochrone.files.place import MpiLibrary, Place
from isochrone.files.stream import Stream

_MOST_SEED = (1 << 64) - 1

_Times = Annotated[
    tuple[Seconds | None, ...],
    Meta(min_length=1, description="One value per size; null for one that would have taken too long."),
]


class PlogpOptions(Form, frozen=True):
    """How the parameters of the pairs were measured."""

    max_bytes: Annotated[int, Meta(ge=1, le=1 << 40)]
    method: Literal["default", "thesis"]
    both: bool


class Clock(Form, frozen=True):
    """Of the probe."""

    resolution_s: Seconds
    overhead_s: Seconds


class Header(Head, frozen=True, kw_only=True, tag="measurements", omit_defaults=False):
    """The first line."""

    ranks: RankCount
    sizes_bytes: Annotated[
        tuple[Bytes, ...], Meta(min_length=1, max_length=256, extra_json_schema={"uniqueItems": True})
    ]
    repetitions: Annotated[int, Meta(ge=1, le=10**9)]
    seed: Annotated[int, Meta(ge=0, extra_json_schema={"maximum": _MOST_SEED})]
    plogp: PlogpOptions | None = None
    places: Annotated[tuple[Place, ...], Meta(min_length=1, description="One per rank.")]
    mpi: MpiLibrary
    clock: Clock
    simulated: bool
    provenance: Provenance

    def __post_init__(self) -> None:
        """What the schema says and types do not."""
        if len(set(self.sizes_bytes)) != len(self.sizes_bytes) or self.seed > _MOST_SEED:
            raise ValueError


class Pair(Form, frozen=True, kw_only=True, gc=False):
    """Round trips of a pair, and what else was measured of it."""

    pair: tuple[Count, Count]
    rtt_min_s: _Times
    rtt_median_s: _Times
    send_overhead_s: _Times
    at_s: Seconds
    repetitions: Annotated[
        tuple[Repetitions, ...],
        Meta(
            min_length=1,
            description="Round trips per size; as many of each as the header says where it is missing.",
        ),
    ] = ()
    plogp: Annotated[
        tuple[Direction, ...],
        Meta(min_length=1, max_length=2, description="An entry for each direction that was measured."),
    ] = ()
    alone: Annotated[bool, Meta(description="Measured again while no other pair was, to be compared.")] = (
        False
    )

    @property
    def is_plain(self) -> bool:
        """Whether it has a time for each size, and nothing else."""
        return not (self.repetitions or self.plogp or self.alone)


class End(Tail, frozen=True, kw_only=True):
    """The end of a run."""

    elapsed_s: Seconds
    pairs: Count


FILE: LineFile[Header, Pair | Stream | End] = LineFile("measurements", Header, Pair, Stream, End)
