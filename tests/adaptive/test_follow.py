# SPDX-License-Identifier: BSD-3-Clause
"""What a probe is asked for, by a probe that measures nothing."""

from __future__ import annotations

import json
import re
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.adaptive.follow import follow
from isochrone.files import write_measurements

SIZES = (0, 1 << 16, 1 << 20)
NEAR_S, FAR_S = np.array([2e-6, 3e-5, 4e-4]), np.array([1e-4, 1e-3, 1e-2])


def measured(folder: Path, left_out: tuple[int, ...], provenance: dict[str, Any]) -> Path:
    """A file of four ranks on two hosts, without the sizes that were left out between hosts."""
    rtt_s = np.full((4, 4, len(SIZES)), np.nan)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        rtt_s[i, j] = rtt_s[j, i] = NEAR_S if i // 2 == j // 2 else FAR_S
        if i // 2 != j // 2:
            for size in left_out:
                rtt_s[i, j, SIZES.index(size)] = rtt_s[j, i, SIZES.index(size)] = np.nan
    hosts = [f"n{rank // 2}" for rank in range(4)]
    found = synthetic(rtt_s, SIZES, hosts, simulated=False, elapsed_s=1.0, provenance=provenance)
    write_measurements(folder / "m.jsonl", found)
    return folder / "m.jsonl"


class Probe:
    """A channel to a probe that gives every pair the same times, and streams the same rate."""

    def __init__(self, file: Path) -> None:
        self.asked: list[str] = []
        self._answers = deque([file.read_text(encoding="utf-8").splitlines()[0]])

    def progress(self, done: int, total: int) -> None:
        pass

    def send(self, line: str) -> None:
        self.asked.append(line)
        kind, *words = line.split()
        pairs = [[int(rank) for rank in pair] for pair in re.findall(r"(\d+)-(\d+)", line)]
        if kind == "alone":
            times = {name: [1e-6] * 3 for name in ("rtt_min_s", "rtt_median_s", "send_overhead_s")}
            self._answers += [
                json.dumps({"pair": pair, **times, "at_s": 1.0, "alone": True}) for pair in pairs
            ]
        elif kind == "stream":
            answer = {"stream": pairs, "bytes": int(words[0]), "messages": int(words[1])}
            self._answers.append(json.dumps({**answer, "elapsed_s": [1e-3] * len(pairs), "at_s": 1.0}))

    def receive(self) -> str:
        return self._answers.popleft() + "\n"


def streams(file: Path, budget_s: float | None = None) -> list[tuple[int, int]]:
    """Size and number of messages of each stream that is asked for."""
    probe = Probe(file)
    follow(file, 64, lambda *_: iter(()), budget_s)(probe)  # type: ignore[arg-type]
    assert probe.asked[-1] == "end"
    return [(int(line.split()[1]), int(line.split()[2])) for line in probe.asked if line.startswith("stream")]


@pytest.mark.parametrize(
    ("left_out", "size"), [((), 1 << 20), ((1 << 20,), 1 << 16)], ids=["all", "but for the largest"]
)
def test_streams_are_of_the_largest_size_that_most_pairs_have(
    tmp_path: Path, left_out: tuple[int, ...], size: int
) -> None:
    found = streams(measured(tmp_path, left_out, {}))
    assert {asked for asked, _ in found} == {size}
    # Of both groups, one pair and then two.
    assert len(found) == 4


def test_where_most_pairs_have_no_large_size_there_are_no_streams(tmp_path: Path) -> None:
    assert not streams(measured(tmp_path, SIZES[1:], {}))


def test_where_ranks_share_processors_there_are_no_streams(tmp_path: Path) -> None:
    assert not streams(measured(tmp_path, (), {"oversubscribed": True}))


def test_streams_take_a_tenth_of_a_budget_at_most(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # Four streams of four messages of 5 ms.
    file = measured(tmp_path, (), {})
    assert [messages for _, messages in streams(file)] == [4] * 4
    assert not caplog.records
    assert not streams(file, 0.75)
    assert "is not measured: that would take some 80.0 ms of a budget of 750 ms" in caplog.text
    assert len(streams(file, 0.85)) == 4


def test_the_line_that_a_probe_is_at_is_not_taken_for_a_damaged_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told whole later. Where it grows between two readings, its halves would be two damaged lines."""
    file = measured(tmp_path, (), {})
    whole = streams(file)
    with file.open("a", encoding="utf-8") as more:
        more.write('{"pair":[0,1],"rtt_min_s":[1e')
    assert streams(file) == whole
    assert not caplog.records
