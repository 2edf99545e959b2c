# SPDX-License-Identifier: BSD-3-Clause
"""The file of isochrone-probe as tests look at it, and options that make a run short."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]
SETTINGS = {"--repetitions": "3", "--warmup": "1", "--sizes": "0,1000"}
QUICK = tuple(itertools.chain.from_iterable(SETTINGS.items()))


def lines_of(path: Path) -> list[Line]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def pairs_of(path: Path) -> list[tuple[int, int]]:
    return [(line["pair"][0], line["pair"][1]) for line in lines_of(path) if "pair" in line]


def all_pairs(ranks: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(ranks), 2))
