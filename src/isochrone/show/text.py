# SPDX-License-Identifier: BSD-3-Clause
"""A call on a terminal: one line of what it is, a table of its messages, or a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from isochrone.show.call import Call
from isochrone.show.spread import Branch, Spread
from isochrone.show.timeline import Timeline
from isochrone.units import format_bytes, format_time, number_of
from isochrone.words import describe_recipe, describe_shape, join_words

_MOST_ROWS = 128
"""Of a table on a terminal."""
_MOST_TEXT = 1 << 20
"""Characters of a tree: each rank of a chain stands further to the right than the one before."""
_WORK = {"reduce": ("reduction", "reductions"), "copy": ("copy", "copies")}


def headline(call: Call) -> str:
    """What the call is: "bcast of 64 KiB, root 0, by binomial (a binomial tree); 8 ranks in one
    node".
    """
    of = f" of {format_bytes(call.size_bytes)}" if call.size_bytes else ""
    root = "" if call.root is None else f", root {call.root}"
    shape = describe_shape(call.layout.shape()) if call.layout.size > 1 else "1 rank"
    return f"{call.collective}{of}{root}, by {call.recipe} ({describe_recipe(call.recipe)}); {shape}"


def summary(timeline: Timeline) -> str:
    """How long it takes by the model, and what crosses which level."""
    crossed: Counter[int] = Counter()
    size_bytes: Counter[int] = Counter()
    for send, _ in timeline.messages():
        if send.level is not None:
            crossed[send.level] += 1
            size_bytes[send.level] += send.size_bytes
    parts = [
        f"{number_of(crossed[level], 'message')} ({format_bytes(total)}) at {timeline.call.level_name(level)}"
        for level, total in sorted(size_bytes.items())
    ]
    work = Counter(step.kind for step in timeline.local_work)
    parts += [f"{work[kind]:,} {names[work[kind] > 1]}" for kind, names in _WORK.items() if kind in work]
    return f"{format_time(timeline.end_s)} by the model; {join_words(parts) or 'nothing is sent'}"


def time_table(timeline: Timeline) -> tuple[list[list[str]], int]:
    """The rows of a table of messages and of the library's own collectives, in the order in which they leave
    their senders, and how many more there are. A message has arrived when its receiver has taken it.
    """
    call = timeline.call
    rows = []
    for send, receive in timeline.messages():
        ends = [str(send.rank), str(receive.rank)]
        rows.append((send.leave_s, send, ends, receive.end_s))
    for step in timeline.steps:
        if step.kind == "collective" and step.rank == step.peer:
            rows.append((step.leave_s, step, [str(step.rank), "its group"], step.end_s))
    rows.sort(key=lambda row: (row[0], row[3]))
    head = ["leaves", "from", "to", "level", "size", "arrived"]
    if timeline.is_segmented:
        head.insert(4, "segment")
    table = [head]
    for leave_s, step, ends, end_s in rows[:_MOST_ROWS]:
        level = "" if step.level is None else call.level_name(step.level)
        segment = [str(step.segment)] if timeline.is_segmented else []
        size = format_bytes(step.size_bytes)
        table.append([format_time(leave_s), *ends, level, *segment, size, format_time(end_s)])
    return table, max(0, len(rows) - _MOST_ROWS)


def tree_lines(call: Call, spread: Spread) -> list[str]:
    """A line for each rank, below the one that it hangs on, with the level that is crossed and the time. Of
    very much text the rest is left out, which the last line says.
    """
    children = spread.children()
    lines = [str(spread.root)]
    open_: list[tuple[int, str, bool]] = _below(children, spread.root, "")
    written = 0
    while open_ and written < _MOST_TEXT:
        rank, indent, is_last = open_.pop()
        branch = spread.branches[rank]
        if branch is None:
            continue
        lines.append(f"{indent}{'└─' if is_last else '├─'} {_leaf(call, rank, branch)}")
        written += len(lines[-1])
        open_ += _below(children, rank, indent + ("   " if is_last else "│  "))
    if open_:
        ranks = sum(branch is not None for branch in spread.branches) - (len(lines) - 1)
        lines.append(f"and {number_of(ranks, 'rank')} more: --json has all")
    return lines


def _below(children: Sequence[Sequence[int]], rank: int, indent: str) -> list[tuple[int, str, bool]]:
    """The ranks that hang on one, the first last, since they are taken from the end."""
    mine = children[rank]
    return [(child, indent, at == len(mine) - 1) for at, child in enumerate(mine)][::-1]


def _leaf(call: Call, rank: int, branch: Branch) -> str:
    library = ", by the library's own" if branch.by_library else ""
    return f"{rank}  {format_time(branch.at_s)}, {call.level_name(branch.level)}{library}"
