# SPDX-License-Identifier: BSD-3-Clause
"""Plain lines say the same whether they are read together or one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isochrone.errors import IsochroneError
from isochrone.files import measurement_lines, read_measurements

RANKS, SIZES = 5, 3
HEADER = {
    "isochrone": "measurements",
    "schema_version": 1,
    "ranks": RANKS,
    "sizes_bytes": [0, 8, 64],
    "repetitions": 7,
    "seed": 1,
    "mpi": {"library": "none", "version": "3.1", "abi": "none"},
    "clock": {"resolution_s": 1e-9, "overhead_s": 0.0},
    "simulated": True,
    "places": [{"host": "n0", "cpus": str(rank), "signature": ""} for rank in range(RANKS)],
    "provenance": {},
}


def lines_of(pairs):
    return [json.dumps(HEADER), *(json.dumps(pair, separators=(",", ":")) for pair in pairs)]


def read(path, lines, monkeypatch, one_by_one):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with monkeypatch.context() as patch:
        if one_by_one:
            patch.setattr(measurement_lines, "_BATCH", 1)
        try:
            return read_measurements(path)
        except IsochroneError as error:
            return str(error)


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return (
        all(
            np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
            for name in ("rtt_min_s", "rtt_median_s", "send_overhead_s")
        )
        and one.pairs == other.pairs
        and one.elapsed_s == other.elapsed_s
        and one.ended == other.ended
        and (one.counts is None) == (other.counts is None)
        and (one.counts is None or np.array_equal(one.counts, other.counts))
    )


times = st.lists(st.one_of(st.floats(0, 2), st.integers(0, 3)), min_size=SIZES, max_size=SIZES)


@st.composite
def pairs(draw):
    first, second = draw(st.permutations(range(RANKS)))[:2]
    least, more = draw(times), draw(times)
    line = {
        "pair": [first, second],
        "rtt_min_s": least,
        "rtt_median_s": [low + extra for low, extra in zip(least, more, strict=True)],
        "send_overhead_s": draw(times),
        "at_s": draw(st.floats(0, 10)),
    }
    if draw(st.integers(0, 5)) == 0:
        line["repetitions"] = draw(st.lists(st.integers(1, 7), min_size=SIZES, max_size=SIZES))
    return line


@settings(max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(pairs(), max_size=30), st.integers(0, 3))
def test_many_lines_together_say_what_they_say_one_by_one(tmp_path, monkeypatch, some, batch):
    path = tmp_path / "measurements.jsonl"
    lines = lines_of(some)
    expected = read(path, lines, monkeypatch, one_by_one=True)
    assert not isinstance(expected, str)
    with monkeypatch.context() as patch:
        patch.setattr(measurement_lines, "_BATCH", [2, 3, 7, 4096][batch])
        assert same(expected, read(path, lines, monkeypatch, one_by_one=False))


GOOD = {
    "pair": [0, 1],
    "rtt_min_s": [1e-6, 2e-6, 3e-6],
    "rtt_median_s": [1e-6, 2e-6, 3e-6],
    "send_overhead_s": [0, 0, 0],
    "at_s": 0.5,
}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({**GOOD, **change}, separators=(",", ":"))
        for change in (
            {"pair": [0, 5]},
            {"pair": [2, 2]},
            {"pair": [0, 99999999999]},
            {"rtt_min_s": [2e-6, 2e-6, 3e-6]},
            {"rtt_min_s": [1e-6, 2e-6]},
            {"rtt_median_s": [1e-6, 2e-6, 3e-6, 4e-6]},
            {"rtt_min_s": [1e-6, 2e-6], "rtt_median_s": [1e-6, 2e-6, 3e-6, 4e-6]},
            {"send_overhead_s": [2e9, 0, 0]},
            {"at_s": 1e10},
        )
    ]
    + [
        '{"pair":[0,1],"rtt_min_s":[01,1,1],"rtt_median_s":[1,1,1],"send_overhead_s":[0,0,0],"at_s":0}',
        '{"pair":[0,1],"rtt_min_s":[1.,1,1],"rtt_median_s":[1,1,1],"send_overhead_s":[0,0,0],"at_s":0}',
        '{"pair":[0,1],"rtt_min_s":[1,1,1],"rtt_median_s":[1,1,1e999],"send_overhead_s":[0,0,0],"at_s":0}',
        '{"pair":[0,1],"rtt_min_s":[1,1,-1],"rtt_median_s":[1,1,1],"send_overhead_s":[0,0,0],"at_s":0}',
    ],
)
def test_what_is_wrong_with_a_line_among_good_ones_is_said_with_its_number(tmp_path, monkeypatch, line):
    lines = [*lines_of([GOOD, GOOD]), line, *lines_of([GOOD])[1:]]
    found = [read(tmp_path / "m.jsonl", lines, monkeypatch, one_by_one) for one_by_one in (True, False)]
    assert isinstance(found[0], str)
    assert "m.jsonl:4" in found[0]
    assert found[0] == found[1]
