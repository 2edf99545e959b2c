# SPDX-License-Identifier: BSD-3-Clause
"""What a program would send on more ranks than it was recorded on: the same from each rank, on a larger grid.

Only regular patterns tell. Along an axis that is made longer, each rank must send the same to the neighbours
at the same steps, up to the border or around it, and a collective must be of all ranks along an axis, or of
one position on it. What cannot be told is said, never guessed. So `extended_system` does with the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from isochrone.errors import IsochroneError, UsageError
from isochrone.files.fields import MOST_MEMBERS, MOST_RANKS, Run
from isochrone.files.graph import Calls, Graph, Rows
from isochrone.mapping.graph import Whole
from isochrone.mapping.system import System

_ALIKE = 0.05
"""Bytes and messages that differ less are the same."""
_MOST_ROWS = 1 << 22
_FEWEST = 3
_OF_ALL_BLOCKS = ("allgatherv", "reduce_scatter")
"""Collectives whose bytes are of all ranks' blocks together."""


def extended(graph: Graph, grid: Sequence[int], larger: Sequence[int]) -> Graph:
    """A recorded program on a larger grid, where each rank sends what it sends now.

    Args:
        graph: as it was recorded; collectives are not broken down in what is returned.
        grid: of its ranks, row by row.
        larger: as many dimensions, none shorter.

    Raises:
        UsageError: the grid is not that of the ranks, or the larger one is none.
        IsochroneError: the pattern does not tell how it grows, or there are too many messages.
    """
    if prod(grid) != graph.ranks:
        raise UsageError(
            f"{'x'.join(map(str, grid))} is no grid of {graph.ranks} ranks", "--grid", "give theirs"
        )
    if len(grid) != len(larger) or any(new < old for old, new in zip(grid, larger, strict=True)):
        raise UsageError(
            f"{'x'.join(map(str, larger))} is no larger grid than {'x'.join(map(str, grid))}",
            "--extend",
            "give as many dimensions, none of them shorter",
        )
    if prod(larger) > MOST_RANKS:
        raise UsageError(
            f"a grid of {prod(larger):,} ranks is too large", "--extend", f"at most {MOST_RANKS:,}"
        )
    for axis, (old, new) in enumerate(zip(grid, larger, strict=True), start=1):
        if new > old and old < _FEWEST:
            raise _untold(f"axis {axis} has {old} ranks, and what is next to what shows from {_FEWEST} on")
    calls, groups = _extended_calls(graph, grid, larger)
    return replace(
        graph,
        ranks=prod(larger),
        rows=_extended_rows(graph.rows, grid, larger),
        pieces=_extended_rows(graph.pieces, grid, larger),
        calls=calls,
        groups=groups,
        broken_down=None,
        places=(),
        seconds=None,
    )


def _extended_rows(rows: Rows, grid: Sequence[int], larger: Sequence[int]) -> Rows:
    """Messages: along an axis that grows by steps, along others from place to place."""
    if len(rows) == 0:
        return rows
    source = np.stack(np.unravel_index(rows.sources, grid))
    target = np.stack(np.unravel_index(rows.targets, grid))
    grows = [new > old for old, new in zip(grid, larger, strict=True)]
    size = np.frexp((rows.volume_bytes // np.maximum(rows.messages, 1)).astype(np.float64))[1].astype(
        np.int64
    )
    names, name = np.unique(rows.collectives, return_inverse=True)
    key_parts: list[Whole] = [name, rows.phases, size]
    for axis, (length, is_longer) in enumerate(zip(grid, grows, strict=True)):
        if is_longer:
            step = (target[axis] - source[axis]) % length
            if (2 * step == length).any():
                raise _untold(f"ranks send half way around axis {axis + 1}, which may be either way")
            key_parts.append(np.where(2 * step > length, step - length, step))
        else:
            key_parts += [source[axis], target[axis]]
    kinds, kind = np.unique(np.stack(key_parts), axis=1, return_inverse=True)
    of_kinds = [np.flatnonzero(kind.reshape(-1) == number) for number in range(kinds.shape[1])]
    steps_of_kinds = [_steps_of_kind(source[:, here], target[:, here], grid, larger) for here in of_kinds]
    _refuse_all_to_all(kinds, steps_of_kinds, grid, larger)
    _check_count(sum(steps.count for steps in steps_of_kinds))
    made: list[Rows] = []
    for number, (here, steps) in enumerate(zip(of_kinds, steps_of_kinds, strict=True)):
        new_source, new_target = (np.ravel_multi_index(tuple(each), larger) for each in steps.ends())
        ones = np.ones(len(new_source), np.int64)
        made.append(
            Rows(
                ones * kinds[1, number],
                np.full(len(ones), names[kinds[0, number]]),
                new_source,
                new_target,
                ones * _mean(rows.messages[here]),
                ones * _mean(rows.volume_bytes[here]),
            )
        )
    return Rows(
        *(np.concatenate([getattr(each, name) for each in made]) for name in Rows.__dataclass_fields__)
    )


def _refuse_all_to_all(
    kinds: Whole, steps_of_kinds: Sequence[_Steps], grid: Sequence[int], larger: Sequence[int]
) -> None:
    """Where ranks send around an axis by every step that there is, they may send to all along it, or to those
    that are near. Around three ranks that is what neighbours are.
    """
    row = 3  # behind name, phase and size
    for axis, (length, new) in enumerate(zip(grid, larger, strict=True)):
        if new > length > _FEWEST:
            others = np.delete(kinds, row, axis=0)
            steps_to: dict[bytes, set[int]] = {}
            for number, steps in enumerate(steps_of_kinds):
                if steps.steps[axis] and len(steps.ranges[axis]) == new:
                    steps_to.setdefault(others[:, number].tobytes(), set()).add(steps.steps[axis])
            if any(len(steps) == length - 1 for steps in steps_to.values()):
                raise _untold(f"ranks send to all others along axis {axis + 1}, or to those that are near")
        row += 1 if new > length else 2


def _check_count(count: int) -> None:
    if count > _MOST_ROWS:
        raise IsochroneError(f"more than {_MOST_ROWS:,} rows are too many to extend", todo="extend it less")


@dataclass(frozen=True)
class _Steps:
    """Where the senders and receivers of one kind of row are on the larger grid, by axis: where senders are,
    and by how much receivers are further, around so many.
    """

    ranges: list[range]
    steps: list[int]
    moves: list[int]

    @property
    def count(self) -> int:
        """How many rows they come to."""
        return prod(len(each) for each in self.ranges)

    def ends(self) -> tuple[Whole, Whole]:
        """[axis][row], the senders and the receivers."""
        sources = np.stack([each.reshape(-1) for each in np.meshgrid(*self.ranges, indexing="ij")])
        return sources, (sources + np.array(self.steps)[:, None]) % np.array(self.moves)[:, None]


def _steps_of_kind(source: Whole, target: Whole, grid: Sequence[int], larger: Sequence[int]) -> _Steps:
    ranges, steps, moves, expected = [], [], [], 1
    for axis, (length, new) in enumerate(zip(grid, larger, strict=True)):
        raw = target[axis] - source[axis]
        if new == length:
            ranges.append(range(int(source[axis][0]), int(source[axis][0]) + 1))
            steps.append(int(raw[0]))
            moves.append(length)
            continue
        step = int(((raw[0] + length // 2) % length) - length // 2)
        around = bool((raw != step).any())
        ranges.append(range(max(0, -step), new - max(0, step)) if not around else range(new))
        steps.append(step)
        moves.append(new)
        expected *= length if around else length - abs(step)
    places = {tuple(place) for place in source.T.tolist()}
    if len(places) != source.shape[1] or len(places) != expected:
        raise _untold("not all ranks along a longer axis send to the same neighbours")
    return _Steps(ranges, steps, moves)


class _Kind(NamedTuple):
    """Calls that are the same but for their place on longer axes."""

    phase: int
    collective: str
    where: tuple[int | None, ...]  # by axis: None of all, _EACH of one each of a longer axis, or of this one
    root: int
    digits: int


_EACH = -1


def _extended_calls(
    graph: Graph, grid: Sequence[int], larger: Sequence[int]
) -> tuple[Calls, tuple[tuple[Run, ...], ...]]:
    """Collectives: of all ranks along some axes, at one position of each of the others."""
    calls = graph.calls
    if len(calls) == 0:
        return calls, ()
    slabs = [_slab(graph.members(group), grid) for group in range(len(graph.groups))]
    kinds: dict[_Kind, list[int]] = {}
    for row in range(len(calls)):
        kind = _kind(calls, row, slabs[calls.groups[row]], grid, larger)
        kinds.setdefault(kind, []).append(row)
    numbers: dict[tuple[Run, ...], int] = {}
    columns: list[tuple[int, str, int, int, int, int]] = []
    _check_groups(list(kinds), larger)
    for kind, rows in kinds.items():
        each = [(old, new) for at, old, new in zip(kind.where, grid, larger, strict=True) if at == _EACH]
        groups = {int(group) for group in calls.groups[rows]}
        if len(groups) != len(rows) or len(rows) != prod(old for old, _ in each):
            raise _untold(f"{kind.collective} is not called at all places along a longer axis")
        count, volume_bytes = (_mean(values[rows]) for values in (calls.calls, calls.volume_bytes))
        if kind.collective in _OF_ALL_BLOCKS:
            spans = [(old, new) for at, old, new in zip(kind.where, grid, larger, strict=True) if at is None]
            volume_bytes = round(volume_bytes * prod(new for _, new in spans) / prod(old for old, _ in spans))
        for places in product(*(range(new) for _, new in each)):
            number = numbers.setdefault(_runs(kind.where, places, larger), len(numbers))
            columns.append((kind.phase, kind.collective, number, kind.root, count, volume_bytes))
    phases, names, *others = zip(*columns, strict=True)
    made = Calls(
        np.array(phases, np.int64), np.array(names, np.str_), *(np.array(o, np.int64) for o in others)
    )
    return made, tuple(numbers)


def _check_groups(kinds: Sequence[_Kind], larger: Sequence[int]) -> None:
    """Raises IsochroneError where calls would be on too many groups, or on too large ones."""
    runs = members = 0
    for kind in kinds:
        groups = prod(new for at, new in zip(kind.where, larger, strict=True) if at == _EACH)
        of_group = [new for at, new in zip(kind.where, larger, strict=True) if at is None]
        runs += groups * prod(of_group[:-1])
        members += groups * prod(of_group)
    _check_count(runs)
    if members > MOST_MEMBERS:
        raise IsochroneError(
            f"groups of more than {MOST_MEMBERS:,} ranks together are too many", todo="extend it less"
        )


def _kind(
    calls: Calls, row: int, slab: tuple[int | None, ...], grid: Sequence[int], larger: Sequence[int]
) -> _Kind:
    grows = [new > old for old, new in zip(grid, larger, strict=True)]
    if calls.roots[row] != 0 and any(at is None and g for at, g in zip(slab, grows, strict=True)):
        raise _untold("a collective along a longer axis has another root than its first rank")
    where = tuple(_EACH if at is not None and g else at for at, g in zip(slab, grows, strict=True))
    digits = int(calls.volume_bytes[row] // calls.calls[row]).bit_length()
    return _Kind(int(calls.phases[row]), str(calls.collectives[row]), where, int(calls.roots[row]), digits)


def _slab(members: Whole, grid: Sequence[int]) -> tuple[int | None, ...]:
    """By axis: None where a group has all positions, or the one that it has."""
    at = np.stack(np.unravel_index(members, grid))
    slab = tuple(int(each[0]) if np.ptp(each) == 0 else None for each in at)
    slab = tuple(None if length == 1 else place for place, length in zip(slab, grid, strict=True))
    expected = np.ravel_multi_index(
        tuple(
            np.stack(
                np.meshgrid(
                    *(range(n) if p is None else [p] for p, n in zip(slab, grid, strict=True)), indexing="ij"
                )
            ).reshape(len(grid), -1)
        ),
        tuple(grid),
    )
    if len(members) != len(expected) or (members != expected).any():
        raise _untold("a collective is of other ranks than all along some axes")
    return slab


def _runs(where: Sequence[int | None], places: Sequence[int], grid: Sequence[int]) -> tuple[Run, ...]:
    """The ranks of a group as runs, one for each line along its last axis."""
    next_place = iter(places)
    axes = [range(n) if at is None else [next(next_place) if at == _EACH else at]
            for at, n in zip(where, grid, strict=True)]  # fmt: skip
    last = max((axis for axis, at in enumerate(where) if at is None), default=len(grid) - 1)
    step = prod(grid[last + 1 :])
    count = len(axes[last])
    lines = product(*axes[:last], [axes[last][0]], *axes[last + 1 :])
    return tuple((int(np.ravel_multi_index(line, tuple(grid))), count, step) for line in lines)


def _mean(values: Whole) -> int:
    if np.ptp(values) > _ALIKE * values.mean():
        raise _untold("ranks along a longer axis send different amounts")
    return round(float(values.mean()))


def _untold(why: str) -> IsochroneError:
    return IsochroneError(
        f"how the pattern grows cannot be told: {why}",
        todo="record it on as many ranks as it shall run on, or give the grid of its ranks",
    )


def extended_system(system: System, ranks: int) -> System:
    """The same machine with more nodes.

    Args:
        system: of which each node has as many places, and each group around nodes as many nodes.
        ranks: how many places it shall have.

    Raises:
        IsochroneError: the machine is not so regular, or its groups cannot be filled.
    """
    if "node" not in system.levels:
        raise IsochroneError("a machine of one node does not tell how more are connected", todo="survey two")
    spans = []
    for name, groups in zip(system.levels, system.groups, strict=True):
        sizes = set(np.bincount(groups).tolist())
        if len(sizes) > 1:
            raise IsochroneError(
                f"groups of level {name!r} have different sizes: more of them cannot be made up"
            )
        spans.append(sizes.pop())
    spans[0] = ranks
    for name, span in zip(system.levels, spans, strict=True):
        if ranks % span:
            raise IsochroneError(f"{ranks} ranks do not fill groups of {span}, as level {name!r} has them")
    return System(
        levels=system.levels,
        groups=tuple(tuple(rank // span for rank in range(ranks)) for span in spans),
        capacities=(1,) * ranks,
        links=system.links,
        cores=system.cores,
    )
