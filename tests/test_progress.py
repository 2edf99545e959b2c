# SPDX-License-Identifier: BSD-3-Clause
"""Parts within parts are one line that only ever moves forward."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from isochrone import progress
from isochrone.progress import kept_when_stopped, part


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """What a terminal would have shown."""
    lines: list[tuple[str, float]] = []

    @contextlib.contextmanager
    def display() -> Iterator[Callable[[str, float], None]]:
        yield lambda title, done: lines.append((title, done))

    monkeypatch.setattr(progress, "_display", display)
    return lines


def test_parts_take_up_their_share_of_what_is_left(shown: list[tuple[str, float]]) -> None:
    with part("all"):
        with part("first", 0.5) as advance:
            advance(1, 2)
        with part("second", 0.5), part("") as advance:
            advance(1, 4)
            advance(9, 4)
        with part("third") as advance:
            advance(0, 0)
    assert ("first, 1 of 2", 0.25) in shown
    assert ("second, 1 of 4", 0.5 + 0.25 / 4) in shown
    assert ("second, 9 of 4", 0.75) in shown
    assert shown[-1] == ("all", 1.0)
    assert [done for _, done in shown] == sorted(done for _, done in shown)


def test_a_part_that_is_left_early_counts_as_done(shown: list[tuple[str, float]]) -> None:
    with part("all"):
        with part("kept from before", 0.8):
            pass
        with part("rest"):
            pass
    assert [done for title, done in shown if title == "rest"] == [0.8]


def test_where_an_error_ends_a_part_the_next_one_starts_afresh(shown: list[tuple[str, float]]) -> None:
    with pytest.raises(KeyError), part("all"), part("inner"):
        raise KeyError
    shown.clear()
    with part("again"):
        pass
    assert shown == [("again", 0.0)]


def test_the_innermost_that_has_anything_says_where_it_is_kept(tmp_path: Path) -> None:
    def stopped() -> list[str]:
        with (
            pytest.raises(KeyboardInterrupt) as ending,
            kept_when_stopped(tmp_path),
            kept_when_stopped(tmp_path / "t"),
        ):
            raise KeyboardInterrupt
        return getattr(ending.value, "__notes__", [])

    assert stopped() == []
    (tmp_path / "s").write_text("")
    assert stopped() == [f"what was measured is kept in {tmp_path}: the same command goes on from there"]
    (tmp_path / "t").write_text("")
    assert stopped() == [f"what was measured is kept in {tmp_path}/t: the same command goes on from there"]
