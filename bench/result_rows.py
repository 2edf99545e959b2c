# SPDX-License-Identifier: BSD-3-Clause
"""Files of results: what is known of all rows, and a line for each; and how tables show them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isochrone.files.text import write_text


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a result; none where there is no file yet."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def write_rows(path: Path, head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
    """A result: what is known of all rows, and a line for each."""
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n  '
    text += ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows) + "\n ]\n}\n"
    write_text(path, text)


def milliseconds(times_s: list[float]) -> str:
    """A median and its interval, of seconds."""
    estimate, low, high = (value * 1e3 for value in times_s)
    return f"{estimate:.1f} [{low:.1f}, {high:.1f}]"
