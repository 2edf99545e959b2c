# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as messages: what the ranks of a communicator send one another in a call.

Nobody can look into a library. What it does is taken to be the textbook's: the algorithm for each collective
and size that MPICH chooses by default (Thakur, Rabenseifner and Gropp, "Optimization of Collective
Communication Operations in MPICH", IJHPCA 19, 2005), which Open MPI's choices resemble.

What is made at most: patterns of ``MOST_ROWS`` rows, which leaves out an exchange of all with all among more
than 2,048 ranks; it costs about the same wherever the ranks are. Among more than ``MANY_RANKS`` ranks only
algorithms are used whose pattern is quickly made, trees and doublings in place of those of many blocks, and
there are none for more than ``MOST_RANKS``. So each pattern takes seconds at most, and is made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isochrone import _core
from isochrone.files.graph import Graph, Rows, joined, rows_of

MOST_ROWS = 1 << 22
"""Of one pattern."""
MOST_ROWS_OF_ALL = 1 << 24
"""Of all patterns of a graph together."""

# Bytes up to which an algorithm of few rounds is chosen: of the message, or of all blocks together.
_SHORT_BCAST = 12_288
_LONG_BCAST = 524_288
_SHORT_REDUCE = 2_048
_SHORT_ALLGATHER = 81_920
_LONG_ALLGATHER = 524_288
_LONG_REDUCE_SCATTER = 524_288
# ... of one block.
_SHORT_ALLTOALL = 256

_FEW_RANKS = 8
MANY_RANKS = 1 << 10
MOST_RANKS = 1 << 13

_UNIT_BYTES = 1 << 12
"""A pattern is made with messages of so many bytes a rank, and scaled."""

# Collectives whose blocks may differ, by those with as much in equal blocks.
_EQUAL = {"allgatherv": "allgather", "reduce_scatter": "reduce_scatter_block"}


def usual_algorithm(collective: str, ranks: int, size_bytes: float) -> str:
    """The algorithm that libraries use for a collective, by its name in the tables.

    Args:
        collective: one whose size all ranks know alike, such as ``bcast``.
        size_bytes: of the message, or of one block.
    """
    total = size_bytes * ranks
    doubles = ranks & (ranks - 1) == 0
    if ranks > MANY_RANKS:
        return _QUICKLY_MADE[collective]
    if collective == "bcast":
        if size_bytes <= _SHORT_BCAST or ranks < _FEW_RANKS:
            return "binomial"
        return "scatter_rd_allgather" if doubles and size_bytes < _LONG_BCAST else "scatter_allgather"
    if collective == "reduce":
        return "binomial" if size_bytes <= _SHORT_REDUCE else "rabenseifner"
    if collective == "allreduce":
        return "recursive_doubling" if size_bytes <= _SHORT_REDUCE else "rabenseifner"
    if collective == "allgather":
        if doubles and total < _LONG_ALLGATHER:
            return "recursive_doubling"
        return "bruck" if total < _SHORT_ALLGATHER else "ring"
    if collective == "alltoall":
        return "bruck" if size_bytes <= _SHORT_ALLTOALL and ranks >= _FEW_RANKS else "pairwise"
    if collective == "reduce_scatter_block":
        return "recursive_halving" if total < _LONG_REDUCE_SCATTER else "pairwise"
    return _ALWAYS[collective]


_ALWAYS = {
    "gather": "binomial",
    "scatter": "binomial",
    "scan": "recursive_doubling",
    "exscan": "recursive_doubling",
    "barrier": "dissemination",
}
_QUICKLY_MADE = _ALWAYS | {
    "bcast": "binomial",
    "reduce": "binomial",
    "allreduce": "recursive_doubling",
    "allgather": "ring",
    "alltoall": "pairwise",
    "reduce_scatter_block": "pairwise",
}


def messages_of(
    collective: str, ranks: int, root: int, calls: int, volume_bytes: int, most: int = MOST_ROWS
) -> NDArray[np.int64] | None:
    """What calls of a collective come to: [row][4] of source, target, messages and bytes; ranks are those of
    the communicator. None where they are more than `most` or ``MOST_ROWS``.

    Args:
        collective: one whose size all ranks know alike.
        ranks: of the communicator, at least 2.
        root: 0 where it has none.
        calls: how many, at least 1.
        volume_bytes: of all calls together: of their messages, of one block each, or of all blocks where
            they may differ.
    """
    size_bytes = volume_bytes / calls
    if collective in _EQUAL:
        collective, size_bytes = _EQUAL[collective], size_bytes / ranks
    algorithm = usual_algorithm(collective, ranks, size_bytes)
    # Before it is made.
    if _fewest_rows(algorithm, ranks) > min(most, MOST_ROWS):
        return None
    pattern = _pattern(collective, algorithm, ranks)
    if pattern is None or len(pattern) > most:
        return None
    rows = pattern.copy()
    # All these algorithms number ranks from the root.
    rows[:, :2] = (rows[:, :2] + root) % ranks
    rows[:, 2] *= calls
    unit_bytes = _UNIT_BYTES if collective in _OF_BLOCKS else _UNIT_BYTES * ranks
    rows[:, 3] = np.rint(pattern[:, 3] * (size_bytes * calls / unit_bytes)).astype(np.int64)
    return rows


_OF_BLOCKS = frozenset({"gather", "scatter", "allgather", "alltoall", "reduce_scatter_block"})


def _fewest_rows(algorithm: str, ranks: int) -> int:
    """A pattern has no fewer: each rank but one sends something, and in pairs each to each."""
    if algorithm == "pairwise":
        return ranks * (ranks - 1)
    return ranks if algorithm == "ring" else ranks - 1


@lru_cache(maxsize=64)
def _pattern(collective: str, algorithm: str, ranks: int) -> NDArray[np.int64] | None:
    """One call, from rank 0 where it has a root, with messages that every rank's share of divides."""
    ring, pairs = algorithm == "ring", algorithm == "pairwise"
    if ranks > MOST_RANKS and not ring:
        return None
    everyone = np.arange(ranks)
    if ring:
        others = np.full(ranks, ranks - 1)
        return np.stack([everyone, (everyone + 1) % ranks, others, others * _UNIT_BYTES], axis=1)
    if pairs:
        sources, steps = np.repeat(everyone, ranks - 1), np.tile(np.arange(1, ranks), ranks)
        ones = np.ones_like(sources)
        return np.stack([sources, (sources + steps) % ranks, ones, ones * _UNIT_BYTES], axis=1)
    size_bytes = _UNIT_BYTES if collective in _OF_BLOCKS else _UNIT_BYTES * ranks
    rows = _core.traffic(
        collective, ranks, algorithm, 0, 0 if collective == "barrier" else size_bytes, MOST_ROWS
    )
    return np.frombuffer(rows, dtype=np.int64).reshape(-1, 4)


@dataclass(frozen=True)
class BrokenDown:
    """The messages that collectives come to.

    Attributes:
        rows: theirs.
        apart: the collectives of which some calls have too many messages to be listed, by name.
    """

    rows: Rows
    apart: tuple[str, ...]


def broken_down(graph: Graph) -> BrokenDown:
    """The messages that the calls of a graph come to, of ``MOST_ROWS_OF_ALL`` at most before they are merged;
    the calls with the most bytes come first.
    """
    calls = graph.calls
    tables: list[Rows] = []
    apart: set[str] = set()
    left = MOST_ROWS_OF_ALL
    for row in np.argsort(-calls.volume_bytes, kind="stable"):
        name, group = str(calls.collectives[row]), int(calls.groups[row])
        ranks = sum(count for _, count, _ in graph.groups[group])
        messages = messages_of(
            name, ranks, int(calls.roots[row]), int(calls.calls[row]), int(calls.volume_bytes[row]), left
        )
        if messages is None:
            apart.add(name)
            continue
        left -= len(messages)
        members = graph.members(group)
        tables.append(
            Rows(
                phases=np.full(len(messages), calls.phases[row]),
                collectives=np.full(len(messages), name),
                sources=members[messages[:, 0]],
                targets=members[messages[:, 1]],
                messages=messages[:, 2],
                volume_bytes=messages[:, 3],
            )
        )
    return BrokenDown(joined(tables) if tables else rows_of([], []), tuple(sorted(apart)))
