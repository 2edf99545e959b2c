# SPDX-License-Identifier: BSD-3-Clause
"""``graph.json``: what the ranks of a program send one another, and which collectives they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import IsochroneError
from isochrone.files.place import MpiLibrary, Place, read_places
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object
from isochrone.mapping.graph import TaskGraph, Whole, task_graph

Names = NDArray[np.str_]
Run = tuple[int, int, int]
"""First, count and step of some ranks."""

_MOST = 1 << 53
_MOST_TOGETHER = 1 << 62
_SHOWN = 8
_ROWS = ("phase", "source", "target", "messages", "bytes")
_CALLS = ("phase", "group", "root", "calls", "bytes")


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
    return _graph_from_document(read_object(path, make_again("graph")), str(path))


def write_graph(path: Path | str, graph: Graph) -> None:
    """Writes ``graph.json``. Raises IsochroneError for a graph that could not be read again."""
    document = graph_document(graph)
    _graph_from_document(document, str(path))
    write_object(Path(path), document)


def graph_document(graph: Graph) -> Json:
    """The graph as JSON."""
    document: Json = {"isochrone": "graph", "schema_version": SCHEMA_VERSION, "ranks": graph.ranks}
    document["runs"] = graph.runs
    if graph.seconds is not None:
        document["seconds"] = graph.seconds
    if graph.mpi is not None:
        document["mpi"] = graph.mpi.document()
    if graph.places:
        document["places"] = [place.document() for place in graph.places]
    document["rows"] = _rows_document(graph.rows, named=False)
    document["pieces"] = _rows_document(graph.pieces, named=True)
    if graph.broken_down is not None:
        document["broken_down"] = _rows_document(graph.broken_down, named=True)
    document["groups"] = [[list(run) for run in group] for group in graph.groups]
    calls = graph.calls
    document["collectives"] = {
        "phase": calls.phases.tolist(),
        "collective": calls.collectives.tolist(),
        "group": calls.groups.tolist(),
        "root": calls.roots.tolist(),
        "calls": calls.calls.tolist(),
        "bytes": calls.volume_bytes.tolist(),
    }
    return document | {"provenance": graph.provenance}


def _rows_document(rows: Rows, *, named: bool) -> Json:
    return {
        "phase": rows.phases.tolist(),
        **({"collective": rows.collectives.tolist()} if named else {}),
        "source": rows.sources.tolist(),
        "target": rows.targets.tolist(),
        "messages": rows.messages.tolist(),
        "bytes": rows.volume_bytes.tolist(),
    }


def _graph_from_document(document: Json, where: str) -> Graph:
    # Columns may have millions of entries, which the schema would take minutes for: it sees some of each, and
    # all are checked as arrays.
    check(_shortened(document), "graph", where)
    ranks = int(document["ranks"])
    groups = tuple(
        tuple(_run(run, ranks, f"{where}: groups[{index}]") for run in group)
        for index, group in enumerate(_groups(document.get("groups", []), where))
    )
    for index, group in enumerate(groups):
        if sum(count for _, count, _ in group) > ranks:
            raise _damaged("more ranks than there are", f"{where}: groups[{index}]")
    places = read_places(document.get("places", ()), where)
    if places and len(places) != ranks:
        raise _damaged(f"{len(places)} places for {ranks} ranks", where)
    mpi = document.get("mpi")
    broken_down = document.get("broken_down")
    empty: Json = {name: [] for name in (*_ROWS, "collective")}
    return Graph(
        ranks=ranks,
        rows=_read_rows(document["rows"], ranks, f"{where}: rows"),
        pieces=_read_rows(document.get("pieces", empty), ranks, f"{where}: pieces"),
        calls=_read_calls(document.get("collectives"), groups, f"{where}: collectives"),
        groups=groups,
        broken_down=None if broken_down is None else _read_rows(broken_down, ranks, f"{where}: broken_down"),
        places=places,
        mpi=None if mpi is None else MpiLibrary(mpi["library"], mpi["version"], mpi["abi"]),
        runs=int(document.get("runs", 1)),
        seconds=document.get("seconds"),
        provenance=document["provenance"],
    )


def _shortened(document: Json) -> Json:
    def first(table: object) -> object:
        if not isinstance(table, dict):
            return table
        return {k: v[:_SHOWN] if isinstance(v, list) else v for k, v in table.items()}

    short = dict(document)
    for name in ("rows", "pieces", "broken_down", "collectives"):
        if name in short:
            short[name] = first(short[name])
    if isinstance(short.get("groups"), list):
        short["groups"] = short["groups"][:_SHOWN]
    return short


def _groups(groups: list[object], where: str) -> Iterable[list[object]]:
    for index, group in enumerate(groups):
        if not isinstance(group, list) or not group:
            raise _damaged("is no list of runs", f"{where}: groups[{index}]")
        yield group


def _run(run: object, ranks: int, where: str) -> Run:
    if not isinstance(run, list) or len(run) != 3 or any(type(number) is not int for number in run):
        raise _damaged("is no run [first, count, step]", where)
    first, count, step = run
    last = first + (count - 1) * step
    if count < 1 or step == 0 or not (0 <= first < ranks and 0 <= last < ranks):
        raise _damaged(f"names a rank that is none of the {ranks}", where)
    return first, count, step


def _read_rows(table: Json, ranks: int, where: str) -> Rows:
    count = len(table["source"])
    columns = {name: _column(table, name, count, where) for name in _ROWS if name in table}
    phases = columns.get("phase", np.ones(count, np.int64))
    names = _names(table, count, where) if "collective" in table else np.full(count, "", np.str_)
    for name in ("source", "target"):
        if count and columns[name].max() >= ranks:
            raise _damaged(f"{name} {columns[name].max()} is none of the {ranks} ranks", where)
    return Rows(phases, names, columns["source"], columns["target"], columns["messages"], columns["bytes"])


def _read_calls(table: Json | None, groups: Sequence[Sequence[Run]], where: str) -> Calls:
    if table is None:
        return no_calls()
    count = len(table["group"])
    phases, group, root, calls, volume_bytes = (_column(table, name, count, where) for name in _CALLS)
    if count:
        if group.max() >= len(groups):
            raise _damaged(f"group {group.max()} is none of the {len(groups)}", where)
        sizes = np.array([sum(each for _, each, _ in runs) for runs in groups], np.int64)
        if (sizes[group] < 2).any() or (root >= sizes[group]).any() or (calls < 1).any():
            raise _damaged("a call without a root, or a group that has fewer than two ranks", where)
    return Calls(phases, _names(table, count, where), group, root, calls, volume_bytes)


def _column(table: Json, name: str, count: int, where: str) -> Whole:
    values = table[name]
    if len(values) != count:
        raise _damaged(f"{name} has {len(values)} entries, and others {count}", where)
    if any(type(value) is not int for value in values) or (
        values and not 0 <= min(values) <= max(values) <= _MOST
    ):
        raise _damaged(f"{name} has what is no count", where)
    if sum(values) > _MOST_TOGETHER:
        raise _damaged(f"{name} adds up to more than can be", where)
    return np.array(values, dtype=np.int64)


def _names(table: Json, count: int, where: str) -> Names:
    values = table["collective"]
    if len(values) != count:
        raise _damaged(f"collective has {len(values)} entries, and others {count}", where)
    unknown = {value if isinstance(value, str) else "?" for value in values} - _collectives()
    if unknown:
        raise _damaged(f"there is no collective {min(unknown)[:40]!r}", where)
    return np.array(values, dtype=np.str_)


def _collectives() -> frozenset[str]:
    from isochrone import _core

    return frozenset(row["name"] for row in _core.collectives())


def _damaged(what: str, where: str) -> IsochroneError:
    return IsochroneError(what, where, make_again("graph"))
