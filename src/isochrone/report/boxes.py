# SPDX-License-Identifier: BSD-3-Clause
"""The layout of the topology's drawing: a box for each different kind of group, nested, with a stack behind a
box that stands for several. The page draws it as SVG, `plots/topology.py` with Matplotlib; both get the same
shapes from here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from isochrone.files import Level
from isochrone.report.facts import Facts
from isochrone.report.structure import Branch, bandwidth, branches
from isochrone.units import format_rate, format_time
from isochrone.words import capitalised, counted, level_noun

TITLE_SIZE, DETAIL_SIZE = 15.0, 12.5
_PAD, _GAP, _STACK, _DOT_STEP, _DOT_RADIUS = 16.0, 18.0, 6.0, 16.0, 5.0
_HEAD = 46.0
_DOTS_ACROSS, _MOST_DOTS, _MOST_KINDS, _MOST_CARDS = 16, 128, 4, 3
_TITLE_ADVANCE, _DETAIL_ADVANCE = 0.60, 0.56
"""Mean width of a character by its size; generous, since the page's font is the reader's own."""


@dataclass(frozen=True)
class Box:
    """A group of the level with index `level`; the edges of `behind` more cards show behind it."""

    x: float
    y: float
    width: float
    height: float
    level: int
    behind: int


@dataclass(frozen=True)
class Label:
    """A line of text, `x` and `y` at the start of its baseline; a title or a detail."""

    x: float
    y: float
    text: str
    title: bool


@dataclass(frozen=True)
class Dot:
    """A rank, by its centre."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Drawing:
    """Shapes in drawing order, in pixels of a canvas of `width` x `height`, y downwards; `stack` is a stack's
    offset.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    labels: tuple[Label, ...]
    dots: tuple[Dot, ...]
    stack: float = _STACK


def draw(facts: Facts) -> Drawing:
    """The drawing of the whole topology. Its size depends on how many kinds of groups there are, not on how
    many groups.
    """
    drawing = _draw_branch(facts, branches(facts), 1)
    return _moved(drawing, 1.0, 1.0, drawing.width + 2, drawing.height + 2)


def _draw_branch(facts: Facts, branch: Branch, count: int) -> Drawing:
    level = facts.levels[branch.level]
    title = _title(level, branch, count)
    details = _details(facts, level, branch)
    content = _draw_parts(facts, branch) if branch.parts else _draw_ranks(branch.ranks)
    text_width = max(
        len(title) * TITLE_SIZE * _TITLE_ADVANCE,
        *(len(detail) * DETAIL_SIZE * _DETAIL_ADVANCE for detail in details),
    )
    behind = min(count, _MOST_CARDS) - 1
    width = max(content.width, text_width) + 2 * _PAD
    head = _HEAD + 16.0 * (len(details) - 1)
    height = head + _PAD / 2 + content.height + _PAD
    labels = [Label(_PAD, 24.0, title, True)]
    labels += [Label(_PAD, 42.0 + 16.0 * i, detail, False) for i, detail in enumerate(details)]
    inside = _moved(content, _PAD, head + _PAD / 2, width, height)
    margin = behind * _STACK
    return Drawing(
        width + margin,
        height + margin,
        (Box(0, 0, width, height, branch.level, behind), *inside.boxes),
        (*labels, *inside.labels),
        inside.dots,
    )


def _title(level: Level, branch: Branch, count: int) -> str:
    if count > 1:
        return f"{count:,} × {level_noun(level.name)}"
    return capitalised(level_noun(level.name)) if branch.level == 0 else counted(1, level.name)


def _details(facts: Facts, level: Level, branch: Branch) -> list[str]:
    """How many ranks, and what a message between the parts of this group takes."""
    if branch.ranks == 1:
        return ["1 rank"]
    inner = facts.levels[branch.level + 1].name if branch.parts else "rank"
    parts = sum(count for _, count in branch.parts) if branch.parts else branch.ranks
    if parts < 2 or level.links is None:
        return [f"{branch.ranks:,} ranks"]
    link = [format_time(level.links.latency_s)]
    pair = bandwidth(level.links)
    if pair is not None:
        link.append(format_rate(pair.bytes_per_s))
    return [f"{branch.ranks:,} ranks", f"{', '.join(link)} between {level_noun(inner, 2)}"]


def _draw_parts(facts: Facts, branch: Branch) -> Drawing:
    shown = [_draw_branch(facts, part, count) for part, count in branch.parts[:_MOST_KINDS]]
    boxes: list[Box] = []
    labels: list[Label] = []
    dots: list[Dot] = []
    x, height = 0.0, max(drawing.height for drawing in shown)
    for drawing in shown:
        placed = _moved(drawing, x, 0.0, drawing.width, drawing.height)
        boxes += placed.boxes
        labels += placed.labels
        dots += placed.dots
        x += drawing.width + _GAP
    hidden = sum(count for _, count in branch.parts[_MOST_KINDS:])
    if hidden:
        inner = facts.levels[branch.parts[0][0].level].name
        note = f"and {counted(hidden, inner)} of other sizes"
        labels.append(Label(0.0, height + 20.0, note, False))
        height += 26.0
        x = max(x, len(note) * DETAIL_SIZE * _DETAIL_ADVANCE + _GAP)
    return Drawing(x - _GAP, height, tuple(boxes), tuple(labels), tuple(dots))


def _draw_ranks(ranks: int) -> Drawing:
    """A dot for each rank, up to as many as can be counted at a glance by rows of sixteen; beyond, the number
    alone tells.
    """
    shown = ranks if ranks <= _MOST_DOTS else 0
    across = min(_DOTS_ACROSS, shown)
    dots = [
        Dot(_DOT_RADIUS + _DOT_STEP * (i % across), _DOT_RADIUS + _DOT_STEP * (i // across), _DOT_RADIUS)
        for i in range(shown)
    ]
    rows = -(-shown // across) if shown else 0
    return Drawing(_DOT_STEP * across, max(0.0, _DOT_STEP * rows - 6), (), (), tuple(dots))


def _moved(drawing: Drawing, x: float, y: float, width: float, height: float) -> Drawing:
    return Drawing(
        width,
        height,
        tuple(replace(box, x=box.x + x, y=box.y + y) for box in drawing.boxes),
        tuple(replace(label, x=label.x + x, y=label.y + y) for label in drawing.labels),
        tuple(replace(dot, x=dot.x + x, y=dot.y + y) for dot in drawing.dots),
    )
