# SPDX-License-Identifier: BSD-3-Clause
"""The table of `isochrone bench`: what its columns say of the times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benched import bench_of, times_of

from isochrone.cli.bench_table import print_rows, rows_of
from isochrone.files import Bench, BenchKey


@pytest.fixture
def bench() -> Bench:
    """Two collectives by three recipes; a broadcast of 8 bytes takes 1 to 20 µs natively."""
    made = bench_of(times_of("plan", "native", "binomial"))
    known = {BenchKey(8, 0, "native", "bcast"): np.arange(1.0, 21.0) * 1e-6}
    return replace(made, slowest_s=made.slowest_s | known)


def test_columns_are_of_the_times(bench: Bench) -> None:
    row = rows_of(bench)[0]
    assert (row.recipe, row.case.size_bytes, row.repetitions) == ("native", 8, 20)
    assert (row.min_s, row.mean_s, row.max_s) == pytest.approx((1e-6, 10.5e-6, 20e-6))
    assert (row.median.estimate, row.p95_s) == pytest.approx((10.5e-6, 19.05e-6))
    assert row.median.low == pytest.approx(6e-6)
    assert row.speedup.estimate == 1
    assert row.document()["mean_s"] == row.mean_s


def test_a_pattern_has_its_bandwidth_and_no_recipes(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    key = BenchKey(1000, 0, "native", "bidirectional")
    made = replace(bench, slowest_s={key: np.full(7, 4e-6)}, moved_bytes={key.case: 2000})
    (row,) = rows_of(made)
    assert row.bytes_per_s == pytest.approx(5e8)
    assert row.document()["pattern"] == "bidirectional"
    assert "collective" not in row.document()
    print_rows([row], made.ranks)
    assert [line.split() for line in capsys.readouterr().out.splitlines()][1:] == [
        ["bytes", "avg", "min", "max", "p50", "95", "%", "p95", "calls", "MB/s"],
        ["1000", *["4.00"] * 4, "[4.00,", "4.00]", "4.00", "7", "500.00"],
    ]


def test_the_librarys_own_comes_first_and_each_collective_has_a_table(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    print_rows(rows_of(bench), bench.ranks)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# broadcast, 4 ranks, root 0: µs until the last rank is done"
    assert lines[1].split()[:6] == ["bytes", "avg", "min", "max", "p50", "95"]
    assert lines[2].split()[:7] == ["8", "10.50", "1.00", "20.00", "10.50", "[6.00,", "15.00]"]
    assert [line.split()[-1] for line in lines[2:8]] == ["native", "binomial", "plan"] * 2
    assert lines[8] == "# allreduce, 4 ranks: µs until the last rank is done"
    assert len(lines) == 16
    # Numbers end below each other.
    assert len({line.index(" native") for line in lines[2:8] if line.endswith("native")}) == 1
