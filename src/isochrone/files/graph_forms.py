# SPDX-License-Identifier: BSD-3-Clause
"""What ``graph.json`` holds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from isochrone.files.fields import Count, Groups, Positive, Provenance, RankCount
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.place import MpiLibrary, Place

_Column = tuple[Count, ...]
_Names = tuple[Annotated[str, Meta(pattern="^[a-z_]{1,32}$")], ...]


class RowColumns(Form, frozen=True, kw_only=True):
    """Messages of one class of sizes: those with as many binary digits."""

    phase: Annotated[
        _Column,
        Meta(description="1 unless the program says otherwise by MPI_Pcontrol, or where it is missing."),
    ] = ()
    source: _Column
    target: _Column
    messages: Annotated[_Column, Meta(description="0 where only weights are known.")]
    bytes: _Column


class NamedColumns(Form, frozen=True, kw_only=True):
    """Messages of collectives."""

    phase: _Column
    collective: _Names
    source: _Column
    target: _Column
    messages: _Column
    bytes: _Column


class CallColumns(Form, frozen=True, kw_only=True):
    """Calls of one collective on one group, with one root and of one class of sizes."""

    phase: _Column
    collective: _Names
    group: _Column
    root: Annotated[_Column, Meta(description="By its place in the group; 0 where there is none.")]
    calls: _Column
    bytes: Annotated[
        _Column,
        Meta(
            description="Of the message, of one block, or of all blocks where they may differ, of all calls "
            "together."
        ),
    ]


class GraphFile(Head, frozen=True, kw_only=True, tag="graph"):
    """What the ranks of a program send one another. Rows and calls are columns: lists of one length.
    A row may repeat: what it says adds up.
    """

    ranks: RankCount
    runs: Annotated[Positive, Meta(description="How many runs of the program are added up here.")] = written(
        1
    )
    seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(
            description="That these runs took together, each from the start of MPI to its end on the slowest "
            "rank."
        ),
    ] = None
    mpi: Annotated[MpiLibrary | None, Meta(description="Of the (last) run.")] = None
    places: Annotated[
        tuple[Place, ...], Meta(min_length=1, description="Of each rank in the (last) run.")
    ] = ()
    rows: Annotated[RowColumns, Meta(description="Messages of the program's own.")]
    pieces: Annotated[
        NamedColumns | None,
        Meta(
            description="Messages of collectives of which each rank knows only its own sizes, as sent "
            "directly."
        ),
    ] = None
    broken_down: Annotated[
        NamedColumns | None,
        Meta(
            description="Messages that the collectives come to, by the algorithms that libraries usually "
            "have. Where it is missing they are kept apart."
        ),
    ] = None
    groups: Annotated[
        Groups,
        Meta(
            description="Ranks of the communicators that have collectives, in their order, as runs [first, "
            "count, step]."
        ),
    ] = written(tuple)
    collectives: CallColumns | None = None
    provenance: Provenance


FILE = Decoder("graph", GraphFile)
