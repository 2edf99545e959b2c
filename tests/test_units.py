# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them."""

from isochrone.units import (
    format_bytes,
    format_duration,
    format_percent,
    format_rate,
    format_ratio,
    format_share,
    format_time,
    number_of,
    significant,
)


def test_numbers_have_three_digits_and_the_unit_that_fits() -> None:
    assert [format_time(value) for value in (1.8e-6, 4.5e-7, 0.01234, 9.999e-7, 0, 62.0)] == [
        "1.80 µs",
        "450 ns",
        "12.3 ms",
        "1.00 µs",
        "0 s",
        "62.0 s",
    ]
    assert format_rate(1.25e10) == "12.5 GB/s"
    assert significant(999.6) == "1000"
    assert format_ratio(1.834) == "1.83×"


def test_sizes_are_exact() -> None:
    assert [format_bytes(size) for size in (0, 7, 1024, 1536, 65537, 4194304)] == [
        "0 B",
        "7 B",
        "1 KiB",
        "1.5 KiB",
        "65,537 B",
        "4 MiB",
    ]


def test_only_the_whole_is_a_hundred_percent() -> None:
    assert format_percent(1.0) == "100 %"
    assert format_percent(0.9999) == "99.9 %"
    assert format_share(0.9996) == "100.0 %"
    assert format_share(0.1234) == "12.3 %"


def test_a_wait_is_said_roughly() -> None:
    waits_s = (0.2, 59, 119, 120, 840, 7199, 7200, 9000, 360000)
    said = ["1 s", "59 s", "119 s", "2 min", "14 min", "120 min", "2 h", "2.5 h", "100 h"]
    assert [format_duration(wait_s) for wait_s in waits_s] == said


def test_one_thing_has_no_s() -> None:
    assert [number_of(count, "round trip") for count in (0, 1, 2000)] == [
        "0 round trips",
        "1 round trip",
        "2,000 round trips",
    ]
