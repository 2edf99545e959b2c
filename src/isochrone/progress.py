# SPDX-License-Identifier: BSD-3-Clause
"""What is under way, on a terminal: one line with what is done now, how far the whole is, and the time left.

Whoever does something that may take more than two seconds says so by `part`. Parts nest: what is inside a
part takes up a share of it, so that a survey shows one line for all its steps.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

Advance = Callable[[int, int], None]
"""Called with what is done and the total."""

_SPEED_OVER_S = 120.0
"""The time left is reckoned from the speed over this long: steps go at different speeds."""


class _Part:
    """A share of the whole, from `low` to `high`, of which `done` is done."""

    def __init__(self, title: str, low: float, high: float, show: Callable[[str, float], None]) -> None:
        self.title = title
        self._high = high
        self._show = show
        self._width = high - low
        self._base = low
        self._done = low

    def advance(self, done: int, total: int) -> None:
        """So much of this part is done."""
        self._done = self._base + self._width * (min(done / total, 1.0) if total > 0 else 1.0)
        self._show(f"{self.title}, {done:,} of {total:,}", self._done)

    def inside(self, title: str, share: float) -> _Part:
        """The next `share` of what is left of this part."""
        high = self._done + (self._high - self._done) * share
        return _Part(title or self.title, self._done, high, self._show)

    def begin(self) -> None:
        """Shows the title."""
        self._show(self.title, self._done)

    def end_of(self, inner: _Part) -> None:
        """What was inside is over."""
        self._done = inner._high
        self._show(self.title, self._done)


_around: ContextVar[_Part | None] = ContextVar("_around", default=None)


@contextlib.contextmanager
def part(title: str, share: float = 1.0) -> Iterator[Advance]:
    """Something under way, for as long as the context lasts.

    Args:
        title: what is done, such as ``probing``; empty: the title of the part around this one.
        share: of what is left of the part around this one, 0 to 1; the rest is for what comes after.

    Returns:
        What to call when there is more to show.
    """
    outer = _around.get()
    if outer is None:
        with _display() as show, _entered(_Part(title, 0.0, 1.0, show)) as advance:
            yield advance
        return
    inner = outer.inside(title, share)
    with _entered(inner) as advance:
        yield advance
    outer.end_of(inner)


@contextlib.contextmanager
def _entered(inner: _Part) -> Iterator[Advance]:
    token = _around.set(inner)
    try:
        inner.begin()
        yield inner.advance
    finally:
        _around.reset(token)


@contextlib.contextmanager
def kept_when_stopped(path: Path) -> Iterator[None]:
    """Where a signal ends what is inside, the user is told that what was measured is kept in `path`."""
    try:
        yield
    except BaseException as ending:
        # The innermost says it: it knows best where. Before anything was measured there is nothing to say.
        if _has_anything(path) and not getattr(ending, "__notes__", None):
            ending.add_note(f"what was measured is kept in {path}: the same command goes on from there")
        raise


def _has_anything(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()


@contextlib.contextmanager
def _display() -> Iterator[Callable[[str, float], None]]:
    if not sys.stderr.isatty():
        yield lambda title, done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True)),
    )
    with Bar(
        *columns,
        console=Console(stderr=True),
        transient=True,
        expand=True,
        speed_estimate_period=_SPEED_OVER_S,
    ) as bar:
        task = bar.add_task("", total=None, left="")
        yield lambda title, done: _update(bar, task, title, done)


def _update(bar: Bar, task: TaskID, title: str, done: float) -> None:
    # A total that is not known yet makes the bar move to and fro.
    bar.update(task, description=title, completed=done, total=1.0 if done > 0 else None)
    left_s = bar.tasks[0].time_remaining
    bar.update(task, left="" if left_s is None else f"about {_clock(left_s)} left")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
