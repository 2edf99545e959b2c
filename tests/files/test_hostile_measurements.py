# SPDX-License-Identifier: BSD-3-Clause
"""Hostile files of measurements."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import MOST_S, all_of, read_or_refused
from mutations import mutate_json
from squares import of_squares

from isochrone.detect import detect
from isochrone.errors import IsochroneError
from isochrone.files import (
    Measurements,
    MpiLibrary,
    Place,
    distinct_places,
    read_measurements,
    read_topology,
    write_measurements,
    write_topology,
)
from isochrone.files.parameters import PairParameters
from isochrone.files.stream import Stream


def measurements_of(hosts: str) -> Measurements:
    """A rank for each letter; nearer on one host. The first pair has all its parameters, was
    repeated alone, and sent streams.
    """
    n, sizes = len(hosts), (0, 1024)
    least = np.full((n, n, len(sizes)), np.nan)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        near = hosts[i] == hosts[j]
        least[i, j] = least[j, i] = [(1e-6 if near else 4e-6) * (1 + (i + j) / 1000), 2e-5]
    overhead = np.where(np.isnan(least), np.nan, 2e-7)
    times = np.array([1e-7, 2e-7, 3e-7])
    rtt_s = np.linspace(1e-6, 2e-6, 12).reshape(3, 4)
    return Measurements(
        sizes_bytes=sizes,
        repetitions=10,
        seed=1,
        places=tuple(Place(f"n{h}", str(k), "x") for k, h in enumerate(hosts)),
        mpi=MpiLibrary("Open MPI v4.1.4", "3.1", "libmpi.so.40"),
        resolution_s=1e-9,
        overhead_s=2e-8,
        simulated=False,
        **of_squares(rtt_min_s=least, rtt_median_s=least * 1.1, send_overhead_s=overhead),
        elapsed_s=1.5,
        provenance={"command": ["isochrone-probe"]},
        plogp={"max_bytes": 2, "method": "default", "both": True},
        parameters={
            pair: PairParameters(*pair, (0, 1, 2), rtt_s, times, times, times) for pair in ((0, 1), (1, 0))
        },
        alone={(0, 1): np.stack([least[0, 1] * 0.9, least[0, 1]])},
        streams=[Stream(((1, 0),), 1 << 20, 4, (1e-3,)), Stream(((0, 1),), 1 << 20, 4, (2e-3,))],
    )


def survey_hostile_measurements(folder: Path, numbers: range, detect_one_in: int) -> tuple[int, int]:
    """How many were read, and of how many a topology was found."""
    path = folder / "measurements.jsonl"
    write_measurements(path, measurements_of("abab"))
    read, found = 0, 0
    for measurements in all_of(path, path.read_bytes(), mutate_json, read_measurements, numbers):
        assert isinstance(measurements, Measurements)
        read += 1
        if read % detect_one_in:
            continue
        signal.setitimer(signal.ITIMER_REAL, MOST_S)
        try:
            topology, _ = detect(measurements)
            assert len(topology.levels[0].groups) == 1
            # What is detected can be handed on.
            write_topology(folder / "topology.json", topology)
            assert read_topology(folder / "topology.json").fingerprint == topology.fingerprint
            found += 1
        except IsochroneError:
            continue
        except BaseException as error:
            error.add_note(f"measurements kept in {path}")
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return read, found


@pytest.mark.usefixtures("bounded")
def test_mutated_measurements_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    read, found = survey_hostile_measurements(tmp_path, range(3000), detect_one_in=8)
    # Both ends are tried: neither is everything refused, nor does anything go.
    assert 300 < read < 2000
    assert found > 10


@pytest.mark.long
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_mutated_measurements_are_read_or_refused(tmp_path: Path, part: int) -> None:
    numbers = range(10_000 * part, 10_000 * (part + 1))
    read, found = survey_hostile_measurements(tmp_path, numbers, detect_one_in=4)
    assert 1000 < read < 7000
    assert found > 100


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "measurements.jsonl"
    write_measurements(path, measurements_of("aa"))
    whole = path.read_bytes()
    # As an escape, and as the bytes that only some decoders take.
    for half in (rb"\ud800", b"\xed\xa0\x80"):
        path.write_bytes(whole.replace(b"libmpi", half, 1))
        with pytest.raises(IsochroneError, match=r"measurements\.jsonl:1: damaged JSON \((half|not UTF-8)"):
            read_measurements(path)
    path.write_bytes(whole.replace(b"libmpi", rb"\ud83d\ude00", 1))
    assert read_measurements(path).mpi.abi.startswith("\U0001f600")


@pytest.mark.usefixtures("bounded")
def test_a_few_bytes_that_stand_for_all_cpus_many_times_cost_no_more_than_others(tmp_path: Path) -> None:
    path = tmp_path / "measurements.jsonl"
    write_measurements(path, measurements_of("ab"))
    header, *rest = (json.loads(line) for line in path.read_text().splitlines())
    ranks = 2000
    header["ranks"] = ranks
    header["places"] = [{"host": f"n{k}", "cpus": "0-65535", "signature": "x"} for k in range(ranks)]
    header["places"][0]["cpus"] = ",".join(["0-65535"] * 8000)
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *rest)))
    measurements = read_or_refused(read_measurements, path)
    assert len(distinct_places(measurements.places)[0]) == ranks


@pytest.mark.usefixtures("bounded")
def test_a_list_of_a_hundred_thousand_sizes_of_two_kinds_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "measurements.jsonl"
    write_measurements(path, measurements_of("ab"))
    mixed = json.dumps([value for k in range(50_000) for value in (k, str(k))])
    path.write_text(path.read_text().replace("[0,1024]", mixed, 1))
    assert read_or_refused(read_measurements, path) is None


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("read", [read_measurements, read_topology])
@pytest.mark.parametrize("depth", [100, 500, 900, 990, 5000])
def test_lists_within_lists_are_refused_at_any_depth(
    tmp_path: Path, read: Callable[[Path], Any], depth: int
) -> None:
    path = tmp_path / "file"
    # Also where a schema lets anything be.
    path.write_text('{"isochrone":"measurements","provenance":{"a":' + "[" * depth + "]" * depth + "}}")
    with pytest.raises(IsochroneError, match="nested too deeply"):
        read(path)


@pytest.mark.usefixtures("bounded")
def test_a_file_without_lines_or_end_is_refused() -> None:
    assert read_or_refused(read_measurements, Path("/dev/zero")) is None
