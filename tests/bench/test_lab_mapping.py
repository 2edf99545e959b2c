# SPDX-License-Identifier: BSD-3-Clause
"""bench/lab_mapping.py: what a program said, and its table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from bench_script import BENCH, load

from isochrone.statistics import Interval


@pytest.fixture(scope="module")
def lab_mapping() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCH))  # it imports one beside it
    yield load("lab_mapping")
    sys.path.remove(str(BENCH))


def test_time_and_checksum_are_read_from_among_other_lines(lab_mapping: ModuleType) -> None:
    said = lab_mapping.said("a warning\n0.250000000 s\nchecksum 2400\n")
    assert said == (0.25, 2400)
    assert lab_mapping.said("checksum 2400\n") is None


def test_a_line_of_the_table_has_medians_intervals_and_the_objective(lab_mapping: ModuleType) -> None:
    row = {
        "mpi": "mpich",
        "groups": 2,
        "iterations": 1000,
        "intra_doubles": 1000,
        "inter_doubles": 1,
        "before_median_s": lab_mapping.shown(Interval(4.0, 3.0, 5.0, 0.95)),
        "after_median_s": [2.0, 1.9, 2.2],
        "speedup": [2.0, 1.5, 2.5],
        "cost_before_s": 3.0,
        "cost_after_s": 1.0,
    }
    assert lab_mapping.table({"rows": [row]})[-1] == (
        "| 2 | 1,000 | 1,000 | 1 | mpich | 4.00 [3.00, 5.00] | 2.00 [1.90, 2.20] | 2.00 [1.50, 2.50] | 3.00 |"
    )
