# SPDX-License-Identifier: BSD-3-Clause
"""``graph.json``: what the ranks of a program send one another, and which collectives they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.files.fields import Run, check_groups
from isochrone.files.form import Form
from isochrone.files.graph_forms import FILE, CallColumns, GraphFile, NamedColumns, RowColumns
from isochrone.files.place import MpiLibrary, Place, check_places
from isochrone.files.schema import make_again
from isochrone.files.text import Json, write_object
from isochrone.mapping.graph import TaskGraph, Whole, task_graph

Names = NDArray[np.str_]
_MOST_TOGETHER = 1 << 62


@dataclass(frozen=True)
class Rows:
    """Messages: a row for each phase, pair and class of sizes, and each collective.

    Attributes:
        phases: [row].
        collectives: [row], by name; empty for messages of the program's own.
        sources, targets: [row], ranks.
        messages: [row]; 0 where only weights are known.
        volume_bytes: [row], of all these messages together.
    """

    phases: Whole
    collectives: Names
    sources: Whole
    targets: Whole
    messages: Whole
    volume_bytes: Whole

    def __len__(self) -> int:
        return len(self.sources)

    def merged(self) -> Rows:
        """The same with one row for each key."""
        size_bytes = self.volume_bytes // np.maximum(self.messages, 1)
        digits = np.where(self.messages > 0, np.frexp(size_bytes.astype(np.float64))[1], 0).astype(np.int64)
        names, name = np.unique(self.collectives, return_inverse=True)
        keys, (messages, volume_bytes) = _summed(
            (name, self.phases, self.sources, self.targets, digits), (self.messages, self.volume_bytes)
        )
        return Rows(keys[1], names[keys[0]], keys[2], keys[3], messages, volume_bytes)


@dataclass(frozen=True)
class Calls:
    """Collectives whose size all their ranks know alike.

    Attributes:
        phases, collectives: as in Rows.
        groups: [row], indices of groups.
        roots: [row], by their place in the group; 0 where there is none.
        calls: [row], how many.
        volume_bytes: [row], of all these calls together: of the message, of one block, or of all blocks where
            they may differ.
    """

    phases: Whole
    collectives: Names
    groups: Whole
    roots: Whole
    calls: Whole
    volume_bytes: Whole

    def __len__(self) -> int:
        return len(self.groups)

    def merged(self) -> Calls:
        """The same with one row for each key."""
        size_bytes = self.volume_bytes // np.maximum(self.calls, 1)
        digits = np.frexp(size_bytes.astype(np.float64))[1].astype(np.int64)
        names, name = np.unique(self.collectives, return_inverse=True)
        keys, (calls, volume_bytes) = _summed(
            (name, self.phases, self.groups, self.roots, digits), (self.calls, self.volume_bytes)
        )
        return Calls(keys[1], names[keys[0]], keys[2], keys[3], calls, volume_bytes)


def rows_of(table: object, collectives: Sequence[str] | Names | None = None) -> Rows:
    """Rows from an array-like [row][5] of phase, source, target, messages and bytes."""
    columns = np.asarray(table, dtype=np.int64).reshape(-1, 5).T
    names = np.asarray(collectives if collectives is not None else [""] * columns.shape[1], dtype=np.str_)
    return Rows(columns[0], names, columns[1], columns[2], columns[3], columns[4])


def no_calls() -> Calls:
    """No calls at all."""
    nothing = np.zeros(0, np.int64)
    return Calls(nothing, np.zeros(0, np.str_), nothing, nothing, nothing, nothing)


@dataclass(frozen=True)
class Graph:
    """What a program's ranks send one another.

    Attributes:
        ranks: how many there are.
        rows: messages of the program's own.
        pieces: of collectives of which each rank knows only its own sizes, as sent directly.
        calls: of all other collectives.
        groups: ranks of the communicators that those are on, as runs.
        broken_down: messages that ``calls`` come to; None where they are kept apart.
        places: of each rank in the last run; empty where they are not known.
        runs: how many are added up.
        seconds: that they took together, each from the start of MPI to its end on the slowest rank; None
            where that is not known.
    """

    ranks: int
    rows: Rows
    pieces: Rows = field(default_factory=lambda: rows_of([]))
    calls: Calls = field(default_factory=no_calls)
    groups: tuple[tuple[Run, ...], ...] = ()
    broken_down: Rows | None = None
    places: tuple[Place, ...] = ()
    mpi: MpiLibrary | None = None
    runs: int = 1
    seconds: float | None = None
    provenance: Json = field(default_factory=dict)

    @property
    def phases(self) -> list[int]:
        """The numbers of the phases in which anything was sent or called, in their order."""
        columns = [self.rows.phases, self.pieces.phases, self.calls.phases]
        if self.broken_down is not None:
            columns.append(self.broken_down.phases)
        return [int(phase) for phase in np.unique(np.concatenate(columns))]

    def calls_apart(self, phase: int | None = None) -> int:
        """How many calls of collectives are not among the messages of `task_graph`, of all phases or of one:
        those of a collective and phase of which no message is listed.
        """
        listed = self.broken_down if self.broken_down is not None else rows_of([])
        known = set(zip(listed.phases.tolist(), listed.collectives.tolist(), strict=True))
        calls = self.calls
        return sum(
            count
            for at, name, count in zip(
                calls.phases.tolist(), calls.collectives.tolist(), calls.calls.tolist(), strict=True
            )
            if (at, name) not in known and phase in (None, at)
        )

    def members(self, group: int) -> Whole:
        """The ranks of a group, in its order."""
        return np.concatenate([first + step * np.arange(count) for first, count, step in self.groups[group]])

    def task_graph(self, phase: int | None = None) -> TaskGraph:
        """All messages that are known, of all phases or of one."""
        tables = []
        for rows in (self.rows, self.pieces, self.broken_down):
            if rows is not None:
                here = np.ones(len(rows), bool) if phase is None else rows.phases == phase
                columns = (rows.sources, rows.targets, rows.messages, rows.volume_bytes)
                tables.append(np.stack([column[here] for column in columns], axis=1))
        return task_graph(self.ranks, np.concatenate(tables))


def added(graphs: Sequence[Graph]) -> Graph:
    """Several runs of one program as one. What only a single run has, places and library, is the last one's;
    collectives are left apart.

    Raises:
        IsochroneError: they have different numbers of ranks.
    """
    counts = sorted({graph.ranks for graph in graphs})
    if len(counts) > 1:
        raise IsochroneError(
            f"runs of {counts[0]} and of {counts[-1]} ranks cannot be added", todo="add runs of one size"
        )
    numbers: dict[tuple[Run, ...], int] = {}
    calls = []
    for graph in graphs:
        number = np.array([numbers.setdefault(group, len(numbers)) for group in graph.groups], np.int64)
        calls.append(replace(graph.calls, groups=number[graph.calls.groups]))
    return replace(
        graphs[-1],
        rows=joined([graph.rows for graph in graphs]),
        pieces=joined([graph.pieces for graph in graphs]),
        calls=_joined_calls(calls),
        groups=tuple(numbers),
        broken_down=None,
        runs=sum(graph.runs for graph in graphs),
        seconds=None
        if any(graph.seconds is None for graph in graphs)
        else sum(g.seconds or 0 for g in graphs),
    )


def joined(tables: Sequence[Rows]) -> Rows:
    """The rows of all, merged."""
    return Rows(
        *(np.concatenate([getattr(rows, name) for rows in tables]) for name in Rows.__dataclass_fields__)
    ).merged()


def _joined_calls(tables: Sequence[Calls]) -> Calls:
    return Calls(
        *(np.concatenate([getattr(calls, name) for calls in tables]) for name in Calls.__dataclass_fields__)
    ).merged()


def _summed(keys: Iterable[Whole], values: Iterable[Whole]) -> tuple[Whole, list[Whole]]:
    """Distinct keys, [key][row], and sums of the values that have them."""
    distinct, row = np.unique(np.stack(list(keys)), axis=1, return_inverse=True)
    sums = []
    for value in values:
        total = np.zeros(distinct.shape[1], np.int64)
        np.add.at(total, row.reshape(-1), value)
        sums.append(total)
    return distinct, sums


def read_graph(path: Path | str) -> Graph:
    """Reads ``graph.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    path = Path(path)
    return _graph(FILE.file(path), str(path))


def write_graph(path: Path | str, graph: Graph) -> None:
    """Writes ``graph.json``. Raises IsochroneError for a graph that could not be read again."""
    document = graph_document(graph)
    _graph(FILE.form(document, str(path)), str(path))
    write_object(Path(path), document)


def graph_document(graph: Graph) -> Json:
    """The graph as JSON."""
    calls = graph.calls
    return GraphFile(
        ranks=graph.ranks,
        runs=graph.runs,
        seconds=graph.seconds,
        mpi=graph.mpi,
        places=graph.places,
        rows=RowColumns(**_columns(graph.rows)),
        pieces=_named(graph.pieces),
        broken_down=None if graph.broken_down is None else _named(graph.broken_down),
        groups=graph.groups,
        collectives=CallColumns(
            phase=calls.phases.tolist(),
            collective=calls.collectives.tolist(),
            group=calls.groups.tolist(),
            root=calls.roots.tolist(),
            calls=calls.calls.tolist(),
            bytes=calls.volume_bytes.tolist(),
        ),
        provenance=graph.provenance,
    ).document()


def _named(rows: Rows) -> NamedColumns:
    return NamedColumns(collective=rows.collectives.tolist(), **_columns(rows))


def _columns(rows: Rows) -> Json:
    return {
        "phase": rows.phases.tolist(),
        "source": rows.sources.tolist(),
        "target": rows.targets.tolist(),
        "messages": rows.messages.tolist(),
        "bytes": rows.volume_bytes.tolist(),
    }


def _graph(file: GraphFile, where: str) -> Graph:
    ranks = file.ranks
    check_groups(file.groups, ranks, where, make_again("graph"))
    check_places(file.places, where)
    if file.places and len(file.places) != ranks:
        raise _damaged(f"{len(file.places)} places for {ranks} ranks", where)
    pieces, broken_down = file.pieces, file.broken_down
    return Graph(
        ranks=ranks,
        rows=_rows(file.rows, ranks, f"{where}: rows"),
        pieces=rows_of([]) if pieces is None else _rows(pieces, ranks, f"{where}: pieces"),
        calls=_calls(file.collectives, file.groups, f"{where}: collectives"),
        groups=file.groups,
        broken_down=None if broken_down is None else _rows(broken_down, ranks, f"{where}: broken_down"),
        places=file.places,
        mpi=file.mpi,
        runs=file.runs,
        seconds=file.seconds,
        provenance=file.provenance,
    )


def _rows(table: RowColumns | NamedColumns, ranks: int, where: str) -> Rows:
    count = len(table.source)
    source, target, messages, volume_bytes = (
        _column(table, name, count, where) for name in ("source", "target", "messages", "bytes")
    )
    if isinstance(table, NamedColumns):
        names = _names(table.collective, count, where)
    else:
        names = np.full(count, "", np.str_)
    if isinstance(table, RowColumns) and not table.phase:
        phases = np.ones(count, np.int64)
    else:
        phases = _column(table, "phase", count, where)
    for name, column in (("source", source), ("target", target)):
        if count and column.max() >= ranks:
            raise _damaged(f"{name} {column.max()} is none of the {ranks} ranks", where)
    return Rows(phases, names, source, target, messages, volume_bytes)


def _calls(table: CallColumns | None, groups: Sequence[Sequence[Run]], where: str) -> Calls:
    if table is None:
        return no_calls()
    count = len(table.group)
    phases, group, root, calls, volume_bytes = (
        _column(table, name, count, where) for name in ("phase", "group", "root", "calls", "bytes")
    )
    if count:
        if group.max() >= len(groups):
            raise _damaged(f"group {group.max()} is none of the {len(groups)}", where)
        sizes = np.array([sum(each for _, each, _ in runs) for runs in groups], np.int64)
        unknown = set(table.collective) - _collectives(agreed=True)
        if unknown:
            raise _damaged(
                f"{min(unknown)!r} is no collective whose size all ranks know alike: its messages are pieces",
                where,
            )
        if (sizes[group] < 2).any() or (root >= sizes[group]).any() or (calls < 1).any():
            raise _damaged("a call without a root, or a group that has fewer than two ranks", where)
    return Calls(phases, _names(table.collective, count, where), group, root, calls, volume_bytes)


def _column(table: Form, name: str, count: int, where: str) -> Whole:
    values: tuple[int, ...] = getattr(table, name)
    if len(values) != count:
        raise _damaged(f"{name} has {len(values)} entries, and others {count}", where)
    if sum(values) > _MOST_TOGETHER:
        raise _damaged(f"{name} adds up to more than can be", where)
    return np.array(values, dtype=np.int64)


def _names(values: Sequence[str], count: int, where: str) -> Names:
    if len(values) != count:
        raise _damaged(f"collective has {len(values)} entries, and others {count}", where)
    unknown = set(values) - _collectives()
    if unknown:
        raise _damaged(f"there is no collective {min(unknown)!r}", where)
    return np.array(values, dtype=np.str_)


def _collectives(agreed: bool = False) -> frozenset[str]:
    """All, or those whose size all ranks know alike."""
    from isochrone import _core

    return frozenset(row["name"] for row in _core.collectives() if not agreed or row["agreed"] != "nothing")


def _damaged(what: str, where: str) -> IsochroneError:
    return IsochroneError(what, where, make_again("graph"))
