# SPDX-License-Identifier: BSD-3-Clause
"""measurements.jsonl: what is read is what was written, and nothing impossible is read."""

from __future__ import annotations

import json
import logging
import tracemalloc

import numpy as np
import pytest

from isochrone.errors import IsochroneError
from isochrone.files import read_measurements, write_measurements

PLOGP = {"max_bytes": 1024, "method": "default", "both": False}

HEADER = {
    "isochrone": "measurements",
    "schema_version": 1,
    "ranks": 3,
    "sizes_bytes": [0, 1024],
    "repetitions": 10,
    "seed": 1,
    "places": [{"host": "n0", "cpus": str(k), "signature": "x"} for k in range(3)],
    "mpi": {"library": "Open MPI v4.1.4", "version": "3.1", "abi": "libmpi.so.40"},
    "clock": {"resolution_s": 1e-9, "overhead_s": 2e-8},
    "simulated": False,
    "provenance": {"command": ["isochrone-probe"]},
}


def pair(first, second, rtt=1e-6, at_s=0.1, **changes):
    line = {
        "pair": [first, second],
        "rtt_min_s": [rtt, 2 * rtt],
        "rtt_median_s": [2 * rtt, 3 * rtt],
        "send_overhead_s": [1e-7, 2e-7],
        "at_s": at_s,
    }
    return {**line, **changes}


PAIRS = [pair(0, 1, 1e-6, 0.1), pair(0, 2, 2e-6, 0.2), pair(1, 2, 3e-6, 0.3)]
END = {"end": True, "elapsed_s": 0.5, "pairs": 3}


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines):
        path = tmp_path / "measurements.jsonl"
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return path

    return write_lines


def test_pairs_become_arrays_in_the_order_of_their_ranks(write):
    measurements = read_measurements(write(HEADER, PAIRS[2], PAIRS[0], pair(2, 0, 2e-6), END))
    assert measurements.pairs == [(0, 1), (0, 2), (1, 2)]
    assert measurements.ranks == 3
    assert measurements.complete
    assert measurements.rtt_min_s.tolist() == [[1e-6, 2e-6], [2e-6, 4e-6], [3e-6, 6e-6]]
    assert measurements.rtt_median_s[0].tolist() == [2e-6, 3e-6]
    assert measurements.send_overhead_s[1].tolist() == [1e-7, 2e-7]
    assert measurements.places[1].cpus == "1"


def test_what_is_written_is_read_again(write, tmp_path):
    first = read_measurements(write(HEADER, *PAIRS, END))
    write_measurements(tmp_path / "again.jsonl", first)
    again = read_measurements(tmp_path / "again.jsonl")
    for name in ("rtt_min_s", "rtt_median_s", "send_overhead_s"):
        assert np.array_equal(getattr(first, name), getattr(again, name), equal_nan=True)
    assert (first.places, first.mpi, first.elapsed_s) == (again.places, again.mpi, again.elapsed_s)


def test_parameters_that_come_later_leave_the_round_trips(write):
    numbers = {name: [1e-7, 2e-7] for name in ("send_overhead_s", "receive_overhead_s", "gap_s")}
    entry = {"from": 1, "sizes_bytes": [0, 1024], "rtt_s": [[2e-6] * 4, [3e-6] * 4], **numbers}
    later = pair(0, 1, 9e-6, plogp=[entry])
    measurements = read_measurements(write({**HEADER, "plogp": PLOGP}, *PAIRS, later, END))
    assert measurements.rtt_min_s[0].tolist() == [1e-6, 2e-6]
    assert set(measurements.parameters) == {(1, 0)}
    alone = read_measurements(write({**HEADER, "plogp": PLOGP}, later, END))
    assert alone.rtt_min_s[0].tolist() == [9e-6, 1.8e-5]


def test_repetitions_of_a_pair_are_its_own_or_the_headers(write, tmp_path):
    lines = [pair(0, 1, repetitions=[9, 4]), pair(0, 2), pair(1, 2, repetitions=[7, 10])]
    for order in (lines, lines[::-1]):
        found = read_measurements(write(HEADER, *order, END))
        write_measurements(tmp_path / "again.jsonl", found)
        for each in (found, read_measurements(tmp_path / "again.jsonl")):
            assert each.repetitions_of(np.arange(3)).tolist() == [[9, 4], [10, 10], [7, 10]]
            assert each.usual_repetitions == 9
    plain = read_measurements(write(HEADER, *PAIRS, END))
    assert (plain.counts, plain.usual_repetitions) == (None, 10)
    assert plain.repetitions_of(np.array([1])).tolist() == [[10, 10]]


@pytest.mark.parametrize(
    "counts",
    [[1], [1, 2, 3], [1, -1], [1, 1.5], [True, 1], [1, None], [0, 1], [1, 0], "x", [1, 10**10], None],
)
def test_repetitions_that_cannot_be_are_refused_in_one_line(write, counts):
    with pytest.raises(IsochroneError, match=r"measurements.jsonl:2: ") as raised:
        read_measurements(write(HEADER, pair(0, 1, repetitions=counts), *PAIRS[1:], END))
    assert "\n" not in str(raised.value)


def test_missing_pairs_are_counted(write):
    measurements = read_measurements(write(HEADER, PAIRS[0]))
    assert (measurements.pairs_measured, measurements.pairs_total, measurements.complete) == (1, 3, False)
    assert measurements.find([1, 2, 0], [0, 0, 0]).tolist() == [0, -1, -1]


def test_of_two_lines_for_a_pair_the_last_counts(write):
    measurements = read_measurements(write(HEADER, *PAIRS, pair(1, 0, 9e-6)))
    assert measurements.rtt_min_s[0, 0] == 9e-6
    assert measurements.pairs_measured == 3


def test_time_adds_up_over_runs_that_ended_and_runs_that_were_killed(write):
    killed = [pair(0, 1, at_s=0.1), pair(0, 2, at_s=0.4)]
    resumed = [pair(1, 2, at_s=0.1)]
    assert read_measurements(write(HEADER, *killed, *resumed, END)).elapsed_s == pytest.approx(0.4 + 0.5)
    assert read_measurements(write(HEADER, *killed, *resumed)).elapsed_s == pytest.approx(0.4 + 0.1)
    assert read_measurements(write(HEADER, *killed, END, *resumed)).elapsed_s == pytest.approx(0.5 + 0.1)


def test_one_rank_has_no_pairs(write):
    header = {**HEADER, "ranks": 1, "places": HEADER["places"][:1]}
    measurements = read_measurements(write(header, {**END, "pairs": 0}))
    assert (measurements.pairs_total, measurements.complete) == (0, True)


@pytest.mark.parametrize("tail", ['{"pair":[1,2],"rtt_m', '{"pair":[1,2', "\x00\x00\x00", "[1]"])
def test_a_last_line_that_was_cut_off_is_reported_and_dropped(write, tail, caplog):
    with caplog.at_level(logging.WARNING, "isochrone.files"):
        measurements = read_measurements(write(HEADER, *PAIRS[:2], tail))
    assert measurements.pairs_measured == 2
    assert "measurements.jsonl:4: the last line was cut off" in caplog.text


def test_a_damaged_line_in_the_middle_is_an_error_with_its_number(write):
    with pytest.raises(IsochroneError, match=r"measurements\.jsonl:3: damaged JSON"):
        read_measurements(write(HEADER, PAIRS[0], '{"pair":[1,', PAIRS[2]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pair": [0, 3]}, r"pair \[0, 3\] is none of 3 ranks"),
        ({"pair": [-1, 2]}, r"pair\[0\]: -1: violates minimum 0"),
        ({"pair": [1, 1]}, r"pair \[1, 1\]"),
        ({"pair": [0.5, 1]}, "integer"),
        ({"pair": 7}, "array"),
        ({"rtt_min_s": [1e-6]}, "there must be 2 values"),
        ({"rtt_min_s": [-1e-6, 1e-6]}, "minimum"),
        ({"rtt_min_s": ["1", 1e-6]}, "number"),
        ({"rtt_min_s": [1e300, 1e-6]}, "maximum"),
        ({"rtt_min_s": [True, 1e-6]}, "number"),
        ({"rtt_min_s": [1.0, 1.0]}, "rtt_min_s is greater than rtt_median_s"),
        ({"at_s": None}, "number"),
        ({"extra": 1}, "extra"),
    ],
)
def test_impossible_numbers_are_refused_in_one_line(write, change, message):
    with pytest.raises(IsochroneError, match=message) as caught:
        read_measurements(write(HEADER, PAIRS[0], pair(0, 2, **change), PAIRS[2]))
    assert "measurements.jsonl:3: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000])
def test_numbers_that_are_none_are_refused(write, number):
    line = json.dumps(PAIRS[0]).replace("1e-06", number)
    with pytest.raises(IsochroneError, match=r"measurements\.jsonl:2: ") as caught:
        read_measurements(write(HEADER, line, PAIRS[1], PAIRS[2]))
    assert len(str(caught.value)) < 400
    assert str(caught.value).endswith("; make it again with `isochrone probe`")
    assert "sys." not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"isochrone": "plan"}, "this is a plan file, not measurements"),
        ({"isochrone": "recipe book"}, "this is no file of Isochrone's; give a measurements file"),
        ({"schema_version": 2}, "schema_version 2 is not 1"),
        ({"schema_version": True}, "schema_version true"),
        ({"ranks": 4}, "3 places for 4 ranks"),
        ({"ranks": 0}, "minimum"),
        ({"ranks": 10**30}, "maximum"),
        ({"sizes_bytes": []}, "sizes_bytes"),
        ({"sizes_bytes": [0, 0]}, "uniqueItems"),
        ({"repetitions": "many"}, "repetitions"),
        ({"clock": {"resolution_s": 1e-9}}, "overhead_s"),
        ({"places": [{"host": "n0", "cpus": "3-1", "signature": ""}] * 3}, "3-1"),
        ({"places": [{"host": "n0", "cpus": "0-99999999", "signature": ""}] * 3}, "CPUs"),
    ],
)
def test_a_header_that_cannot_be_is_refused_in_one_line(write, change, message):
    with pytest.raises(IsochroneError, match=message) as caught:
        read_measurements(write({**HEADER, **change}, *PAIRS))
    assert "measurements.jsonl:1: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_few_pairs_of_many_ranks_take_grows_with_the_pairs_and_no_matrix_is_made_of_them(write):
    ranks = 12_000
    header = {**HEADER, "ranks": ranks, "places": [HEADER["places"][0]] * ranks}
    path = write(header, pair(11_999, 3), pair(0, 11_999, 2e-6), END)
    tracemalloc.start()
    try:
        measurements = read_measurements(path)
        with pytest.raises(IsochroneError, match="12,000 ranks are too many for a matrix"):
            measurements.square(measurements.rtt_min_s[:, 0])
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert measurements.pairs == [(0, 11_999), (3, 11_999)]
    assert most_bytes < 0.05 * 8 * ranks**2


def test_some_of_the_ranks_pairs_and_sizes_are_as_if_only_these_had_been_measured(write):
    lines = [pair(0, 1, repetitions=[9, 4]), pair(0, 2, 2e-6), pair(1, 2, 3e-6)]
    lines[2]["rtt_min_s"][1] = lines[2]["rtt_median_s"][1] = lines[2]["send_overhead_s"][1] = None
    whole = read_measurements(write(HEADER, *lines, END))
    turned = whole.only([2, 0])
    assert (turned.pairs, turned.rtt_min_s.tolist()) == ([(0, 1)], [[2e-6, 4e-6]])
    assert [place.cpus for place in turned.places] == ["2", "0"]
    some = whole.only_pairs([(2, 1), (1, 0), (1, 1)])
    assert (some.pairs, some.counts.tolist()) == ([(0, 1), (1, 2)], [[9, 4], [10, 0]])
    large = whole.only_sizes(slice(1, 2))
    assert (large.pairs, large.rtt_min_s.tolist()) == ([(0, 1), (0, 2)], [[2e-6], [4e-6]])
    rows = whole.rows(whole.rtt_min_s, [2, 1], [0, 1])
    assert rows[0].tolist() == [2e-6, 4e-6]
    assert np.isnan(rows[1]).all()


def test_what_was_measured_alone_is_kept_of_some_of_the_ranks(write):
    lines = [*PAIRS, pair(0, 1, 5e-7, alone=True), pair(1, 2, 6e-7, alone=True)]
    whole = read_measurements(write(HEADER, *lines, END))
    turned = whole.only([2, 1])
    assert {key: times_s.tolist() for key, times_s in turned.alone.items()} == {
        (0, 1): whole.alone[1, 2].tolist()
    }


@pytest.mark.parametrize("content", ["", "\n\n", "{", "[]", "null", '{"isochrone":', "[" * 100_000])
def test_a_file_without_a_header_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "measurements.jsonl"
    path.write_text(content)
    with pytest.raises(IsochroneError) as caught:
        read_measurements(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(IsochroneError, match=r"cannot read .*; make it with `isochrone probe`"):
        read_measurements(tmp_path / "nothing.jsonl")


def test_a_key_that_occurs_twice_is_refused(write):
    line = json.dumps(PAIRS[0])[:-1] + ', "at_s": 3}'
    with pytest.raises(IsochroneError, match="a key occurs twice"):
        read_measurements(write(HEADER, line, PAIRS[1]))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("name", ["rtt_min_s", "rtt_median_s", "send_overhead_s"])
def test_a_size_that_has_no_time_has_none_in_all_lists(write, name, plain):
    more = {} if plain else {"repetitions": [10, 10]}
    line = pair(0, 1, **more)
    line[name][1] = None
    path = write(HEADER, line, END)
    with pytest.raises(IsochroneError, match=f"{path}:2: .*must be null for the same sizes"):
        read_measurements(path)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("sizes", [[0, 1024], [1024, 0]])
def test_the_smallest_size_has_a_time_wherever_it_is(write, sizes, plain):
    def told(at):
        line = pair(0, 1, **({} if plain else {"repetitions": [10 * (k != at) for k in range(2)]}))
        for name in ("rtt_min_s", "rtt_median_s", "send_overhead_s"):
            line[name][at] = None
        return write({**HEADER, "sizes_bytes": sizes}, line, END)

    assert read_measurements(told(sizes.index(1024))).pairs_measured == 1
    path = told(sizes.index(0))
    with pytest.raises(IsochroneError, match=f"{path}:2: there must be a time for the smallest size"):
        read_measurements(path)


def test_what_was_measured_alone_is_read_with_its_medians(write, tmp_path):
    measurements = read_measurements(write(HEADER, *PAIRS, pair(0, 1, 5e-7, alone=True), END))
    write_measurements(tmp_path / "again.jsonl", measurements)
    for found in (measurements, read_measurements(tmp_path / "again.jsonl")):
        assert found.alone[0, 1].tolist() == [[5e-7, 1e-6], [1e-6, 1.5e-6]]


@pytest.mark.parametrize(
    ("hosts", "words", "at_once"),
    [
        ("aabb", [], True),
        ("aabb", ["--together", "nodes"], True),
        ("aabb", ["--together", "none"], False),
        ("aabb", ["--together=none"], False),
        ("aaaa", [], False),  # one host
        ("aaab", [], False),  # what is within the one waits for what is between them
        ("abc", [], False),
        ("abcd", [], True),
        ("aaaa", ["--together", "all"], True),
        ("aab", ["--together", "all"], False),
        ("aaaa", ["--clusters", "(0-1)(2-3)"], True),
    ],
)
def test_it_follows_from_the_command_whether_pairs_were_measured_at_once(write, hosts, words, at_once):
    places = [{"host": host, "cpus": str(k), "signature": "x"} for k, host in enumerate(hosts)]
    command = ["/x/isochrone-probe", "--output", "m.jsonl", *words, "--seed", "1"]
    changes = {"ranks": len(hosts), "places": places, "provenance": {"command": command}}
    assert read_measurements(write({**HEADER, **changes}, PAIRS[0], END)).at_once == at_once


@pytest.mark.parametrize("told", [{}, {"command": 3}, {"command": ["isochrone", "merge"]}])
def test_of_a_file_of_another_program_any_pairs_may_have_been_measured_at_once(write, told):
    places = [{"host": "n0", "cpus": str(k), "signature": "x"} for k in range(4)]
    header = {**HEADER, "ranks": 4, "places": places, "provenance": told}
    assert read_measurements(write(header, PAIRS[0], END)).at_once
