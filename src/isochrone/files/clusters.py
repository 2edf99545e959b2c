# SPDX-License-Identifier: BSD-3-Clause
"""Clusters within clusters of ranks, in the topology files of LGate (Reinfjell 2023, section 3.1.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.text import quoted, read_text, write_text
from isochrone.files.topology import Topology

_MOST_BYTES = 1 << 24
_MOST_RANKS = 1 << 20
_MOST_DEPTH = 100
_TODO = "write a tree like cluster { cluster { group { 0-7 } } cluster { group { 8-15 } } }"

# Commas are separators, any number of them is one. Digits are ASCII's.
_WORD = re.compile(r"[{}]|,[\s,]*|[^\s{},]+")
_RANKS = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


@dataclass(frozen=True)
class Clusters:
    """A cluster: either others within it, or the ranks of its group.

    Attributes:
        parts: clusters within this one.
        ranks: if it has no parts.
    """

    parts: tuple[Clusters, ...] = ()
    ranks: tuple[int, ...] = ()

    def groups(self) -> Iterator[tuple[int, ...]]:
        """The ranks of each group, in the order of the tree."""
        if not self.parts:
            yield self.ranks
        for part in self.parts:
            yield from part.groups()

    def expression(self) -> str:
        """The tree for isochrone-probe: ``((0-7)(8-15))``."""
        within = "".join(part.expression() for part in self.parts) or _list(self.ranks)
        return f"({within})"


def read_clusters(path: Path | str) -> Clusters:
    """Reads a tree of clusters. Ranks are lists like ``0-7,9 12``; what follows a ``#`` is a comment.

    Raises:
        IsochroneError: the file is no such tree, or its ranks are not those from 0 on, each once.
    """
    return _parse(read_text(Path(path), _MOST_BYTES, "a tree of clusters", _TODO), str(path))


def write_clusters(path: Path | str, clusters: Clusters) -> None:
    """Writes a tree of clusters. Raises IsochroneError for one that could not be read again."""
    text = "".join(f"{line}\n" for line in _lines(clusters, ""))
    _parse(text, str(path))
    write_text(Path(path), text)


def clusters_of(topology: Topology) -> Clusters:
    """The surveyed ranks in the tree of a topology. Levels that divide nothing are left out, and a cluster of
    single ranks is one group: pairs of them run one at a time either way.

    Raises:
        IsochroneError: some ranks of the job are not in the topology.
    """
    topology.check_whole()
    labels = [topology.labels(level) for level in topology.levels]
    return _divide(range(len(topology.ranks)), labels)


def _divide(ranks: Sequence[int], labels: Sequence[Sequence[int]]) -> Clusters:
    """``labels`` has the groups of all ranks at each level, outermost first."""
    for depth, label in enumerate(labels):
        members: dict[int, list[int]] = {}
        for rank in ranks:
            members.setdefault(label[rank], []).append(rank)
        if len(members) == 1:
            continue
        if len(members) == len(ranks):
            break
        return Clusters(parts=tuple(_divide(each, labels[depth + 1 :]) for each in members.values()))
    return Clusters(ranks=tuple(ranks))


@dataclass
class _Open:
    """What is not closed yet: a cluster or a group."""

    kind: str
    line: int
    braced: bool = False
    parts: list[Clusters] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


def _parse(text: str, where: str) -> Clusters:
    within: list[_Open] = []
    whole: Clusters | None = None
    known: set[int] = set()
    for line, word in _words(text):
        here = f"{where}:{line}"
        around = within[-1] if within else None
        if whole is not None:
            raise IsochroneError(f"{quoted(word)} follows after the outermost cluster", here, "delete it")
        if around is not None and not around.braced:
            if word != "{":
                raise IsochroneError(f"expected '{{' after {around.kind}, not {quoted(word)}", here, _TODO)
            around.braced = True
        elif word in ("cluster", "group"):
            _check_opening(word, around, here)
            if len(within) == _MOST_DEPTH:
                raise IsochroneError(f"nested more than {_MOST_DEPTH} deep", here, "leave clusters out")
            within.append(_Open(word, line))
        elif around is None:
            raise IsochroneError(f"expected 'cluster', not {quoted(word)}", here, _TODO)
        elif word == "}":
            whole = _close(within, here)
        elif around.kind == "group":
            if word[0] != ",":
                around.ranks += _new_ranks(word, known, here)
        else:
            raise IsochroneError(
                f"expected 'cluster', 'group' or '}}' in a cluster, not {quoted(word)}", here, _TODO
            )
    if within:
        raise IsochroneError(f"this {within[-1].kind} is not closed", f"{where}:{within[-1].line}", "add '}'")
    if whole is None:
        raise IsochroneError("holds no cluster", where, _TODO)
    _check_all(known, where)
    return whole


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each."""
    for number, line in enumerate(text.split("\n"), start=1):
        for found in _WORD.finditer(line.partition("#")[0]):
            yield number, found[0]


def _check_opening(kind: str, around: _Open | None, here: str) -> None:
    if around is None:
        if kind != "cluster":
            raise IsochroneError("a group is in no cluster", here, _TODO)
    elif around.kind == "group":
        raise IsochroneError(f"a {kind} is in a group, which holds ranks only", here, "close the group first")
    elif around.ranks or (kind == "group" and around.parts):
        raise IsochroneError(
            "a cluster holds a group and something else", here, "put each group into a cluster of its own"
        )


def _close(within: list[_Open], here: str) -> Clusters | None:
    """The whole tree if it was the outermost cluster that is closed."""
    closed = within.pop()
    if not closed.parts and not closed.ranks:
        raise IsochroneError(f"a {closed.kind} is empty", here, "delete it, or say which ranks are in it")
    if closed.kind == "group":
        within[-1].ranks = closed.ranks
        return None
    cluster = Clusters(tuple(closed.parts), tuple(closed.ranks))
    if not within:
        return cluster
    within[-1].parts.append(cluster)
    return None


def _new_ranks(word: str, known: set[int], here: str) -> range:
    """Adds ranks that have had no group yet to those that are known."""
    found = _RANKS.fullmatch(word)
    if found is None:
        raise IsochroneError(f"{quoted(word)} is no rank or range of ranks", here, "write them as 0-7,9 12")
    low, high = int(found[1]), int(found[2] or found[1])
    if low > high:
        raise IsochroneError(f"'{word}' ends before it starts", here, f"write {high}-{low}")
    if high >= _MOST_RANKS:
        raise IsochroneError(f"there is no rank {high}", here, f"name ranks below {_MOST_RANKS}")
    for rank in range(low, high + 1):
        if rank in known:
            raise IsochroneError(f"rank {rank} has a group already", here, "name each rank once")
        known.add(rank)
    return range(low, high + 1)


def _check_all(known: set[int], where: str) -> None:
    missing = next((rank for rank in range(len(known)) if rank not in known), None)
    if missing is not None:
        raise IsochroneError(
            f"rank {missing} has no group, but rank {max(known)} has one", where, "name all ranks of the job"
        )


def _lines(cluster: Clusters, indent: str) -> Iterator[str]:
    if not cluster.parts:
        yield f"{indent}cluster {{ group {{ {_list(cluster.ranks)} }} }}"
        return
    yield f"{indent}cluster {{"
    for part in cluster.parts:
        yield from _lines(part, indent + " ")
    yield f"{indent}}}"


def _list(ranks: Iterable[int]) -> str:
    """Ranks in their order, as ``0-7,9``."""
    runs = [[rank for _, rank in run] for _, run in groupby(enumerate(ranks), lambda each: each[1] - each[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
