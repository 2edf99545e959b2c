# SPDX-License-Identifier: BSD-3-Clause
"""bench/wire/by_hand.py: what it makes of times and samples."""

from __future__ import annotations

from types import ModuleType

import pytest
from bench_script import load


@pytest.fixture(scope="module")
def by_hand() -> ModuleType:
    return load("wire/by_hand")


def test_the_segment_is_chosen_by_another_launch_than_those_that_say_how_good_it_is(
    by_hand: ModuleType,
) -> None:
    # Lucky at first, and slow afterwards.
    times = {1024: [[1.0] * 3, [3.0] * 9, [4.0] * 9], 4096: [[2.0] * 3, [2.0] * 9, [2.0] * 9]}
    assert by_hand.best_of(times) == {"segment_bytes": 1024, "time_s": [3.5, 3.0, 4.0]}


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        (("swapper", "[kernel.kallsyms]", "[k] pv_native_safe_halt"), "idle"),
        (("isochrone-lab", "[kernel.kallsyms]", "[k] _copy_to_iter"), "the lab's network"),
        (("python", "python3", "[.] main"), "other programs"),
        (("by_hand", "[kernel.kallsyms]", "[k] finish_task_switch"), "ranks: waiting and changing ranks"),
        (("by_hand", "[kernel.kallsyms]", "[k] _copy_from_iter"), "ranks: copies"),
        (("by_hand", "[kernel.kallsyms]", "[k] tcp_sendmsg"), "ranks: the system's network"),
        (("by_hand", "libisochrone_mpi.so", "[.] advance"), "ranks: this library"),
        (("by_hand", "libmpi.so.40", "[.] opal_progress"), "ranks: MPI library and program"),
    ],
)
def test_samples_are_counted_by_what_they_are_in(
    by_hand: ModuleType, sample: tuple[str, str, str], kind: str
) -> None:
    assert by_hand.kind_of(*sample) == kind


def test_a_table_compares_the_ways_in_the_launches_that_chose_nothing(by_hand: ModuleType) -> None:
    took = {
        "by_hand": {"1024": [[9.0] * 8, [2.0] * 8]},
        "mpi": {"4096": [[1.0] * 8, [3.0] * 8]},
        "native": {"1024": [[6.0] * 8, [6.0] * 8]},
    }
    row = {
        "mpi": "mpich",
        "size_bytes": 1 << 20,
        "bound_s": 1.5,
        "ways": {
            way: by_hand.best_of({int(s): launches for s, launches in each.items()})
            for way, each in took.items()
        },
        "shares": {"idle": 0.25, "ranks: copies": 0.75},
        "took_s": took,
    }
    lines = by_hand.tables([row])
    assert lines[2] == (
        "| mpich | 1048576 | 1500.0 | 2000.0 [2000.0, 2000.0] | 1024 | 3000.0 [3000.0, 3000.0] | 4096 "
        "| 6000.0 [6000.0, 6000.0] | 1.50 [1.50, 1.50] |"
    )
    assert lines[-3:] == [
        "| library | bytes | idle | ranks: copies |",
        "| --- | ---: | ---: | ---: |",
        "| mpich | 1048576 | 25 % | 75 % |",
    ]
