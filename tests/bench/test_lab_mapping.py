# SPDX-License-Identifier: BSD-3-Clause
"""bench/lab_mapping.py: what a program said, and its table."""

from __future__ import annotations

from types import ModuleType

import pytest
from bench_script import load

from isochrone.statistics import Interval


@pytest.fixture(scope="module")
def lab_mapping() -> ModuleType:
    return load("lab_mapping")


@pytest.mark.parametrize(
    ("program", "printed", "expected"),
    [
        ("groups", "a warning\n0.250000000 s\nchecksum 2400\n", (0.25, "checksum 2400")),
        ("groups", "checksum 2400\n", None),
        ("stencil", "0.000250000 s a step\nsum 16000.000000\n", (0.00025, "sum 16000.000000")),
        (
            "lammps",
            "Step Temp\n     280   1.6\n     300   1.7   -5.9\nLoop time of 2.5 on 16 procs for 300 steps\n",
            (2.5, "     300   1.7   -5.9"),
        ),
    ],
)
def test_time_and_result_are_read_from_among_other_lines(
    lab_mapping: ModuleType, program: str, printed: str, expected: tuple[float, str] | None
) -> None:
    found = lab_mapping.KINDS[program].said.search(printed)
    assert (found and (float(found["seconds"]), found["result"])) == expected


def test_a_line_of_the_table_has_medians_intervals_and_the_prediction(lab_mapping: ModuleType) -> None:
    row = {
        "mpi": "mpich",
        "program": "groups",
        "arguments": "2 1000 1000 1",
        "before_median_s": lab_mapping.shown(Interval(4.0, 3.0, 5.0, 0.95)),
        "after_median_s": [0.002, 0.0019, 0.0022],
        "speedup": [2.0, 1.5, 2.5],
        "predicted_before_s": 3.0,
        "predicted_after_s": 1.25,
    }
    assert lab_mapping.table({"rows": [row]})[-1] == (
        "| `groups 2 1000 1000 1` | mpich | 4 [3, 5] | 0.002 [0.0019, 0.0022] | 2 [1.5, 2.5] "
        "| 3, 1.25 | 2.4 |"
    )
