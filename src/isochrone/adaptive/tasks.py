# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that ask for pairs and go on once these are measured. Many of them ask together, so that pairs of
different groups are measured at once.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from isochrone.adaptive.table import Pair, Table

Asking = Generator[Sequence[Pair], None, None]
"""Yields pairs; when it is resumed, they are in the table."""


class Tasks:
    """Tasks over one table. A task may add more tasks while it runs."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._active: list[Asking] = []

    def add(self, task: Asking) -> None:
        """Starts a task with the next step."""
        self._active.append(task)

    def run(self) -> Asking:
        """Runs all tasks to their ends. Yields what they want together; nothing that was measured before."""
        while self._active:
            wanted: dict[Pair, None] = {}
            waiting = []
            # A task that asks for nothing new goes on at once.
            while self._active:
                task = self._active.pop(0)
                for pairs in task:
                    missing = self._table.missing(pairs)
                    if missing:
                        wanted.update(dict.fromkeys(missing))
                        waiting.append(task)
                        break
            if wanted:
                yield list(wanted)
            self._active = waiting
