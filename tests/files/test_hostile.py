# SPDX-License-Identifier: BSD-3-Clause
"""Files that were damaged or made to do harm are read as what they say, or refused in one line: no crash, no
hang, no more memory than they are worth.
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import (
    Mutate,
    insert,
    mutate_bytes,
    mutate_json,
    mutate_text,
    truncate,
)

from isochrone.detect import detect
from isochrone.errors import IsochroneError
from isochrone.files import (
    Level,
    Links,
    Measurements,
    MpiLibrary,
    Place,
    Topology,
    distinct_places,
    read_measurements,
    read_topology,
    write_measurements,
    write_topology,
)
from isochrone.files.matrix import read_matrix
from isochrone.files.parameters import PairParameters
from isochrone.files.stream import Stream

# A file of a few kilobytes takes milliseconds and kilobytes. These tell a hang and a flood, on any machine.
MOST_S = 60
MOST_BYTES = 1 << 30


@pytest.fixture
def bounded() -> Iterator[None]:
    """What takes a minute or a gigabyte fails the test instead of the machine."""

    def hang(*_: object) -> None:
        raise TimeoutError("a file is not read within a minute")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, hang)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES, limits[1]))
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, limits)


def read_or_refused(read: Callable[[Path], Any], path: Path) -> Any:
    """What is read, or None for a file that is refused in one line with its name. All else fails."""
    signal.setitimer(signal.ITIMER_REAL, MOST_S)
    try:
        with warnings.catch_warnings():
            # A warning is a second line on stderr.
            warnings.simplefilter("error")
            return read(path)
    except IsochroneError as error:
        refused = str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert str(path) in refused
    assert len(refused.splitlines()) == 1
    assert len(refused) < 1000
    return None


def all_of(
    path: Path, whole: bytes, mutate: Mutate, read: Callable[[Path], Any], numbers: range
) -> Iterator[Any]:
    """What is read of each mutation, those that are refused left out. Its number is its seed."""
    for number in numbers:
        path.write_bytes(mutate(random.Random(number), whole))
        try:
            found = read_or_refused(read, path)
        except BaseException as error:
            error.add_note(f"mutation {number}, kept in {path}")
            raise
        if found is not None:
            yield found


# --- measurements.jsonl -------------------------------------------------------------------------------------


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
        rtt_min_s=least,
        rtt_median_s=least * 1.1,
        send_overhead_s=overhead,
        elapsed_s=1.5,
        provenance={"command": ["isochrone-probe"]},
        plogp={"max_bytes": 2, "method": "default", "both": True},
        parameters={
            pair: PairParameters(*pair, (0, 1, 2), rtt_s, times, times, times) for pair in ((0, 1), (1, 0))
        },
        alone={(0, 1): least[0, 1] * 0.9},
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


# --- topology.json ------------------------------------------------------------------------------------------

LINKS = Links(1e-6, ((0, 2e-7), (1024, 3e-7)), ((0, 0.0),), ((0, 0.0), (65536, 7e-6)), 1e9)
TOPOLOGY = Topology(
    places=tuple(Place(f"n{k // 2}", str(k % 2), "x") for k in range(4)),
    ranks=(3, 2, 1, 0),
    levels=(Level("machine", ((0, 1, 2, 3),), 1.0, LINKS), Level("node", ((0, 1), (2, 3)), 0.9, None)),
    accuracy={"node": 1.0},
    agreement={"node": {"agrees": True}},
    source={"method": "by hand"},
)


def with_fingerprint(mutate: Mutate) -> Mutate:
    """Half of the changes of the tree get the fingerprint that goes with them, as one who means harm would do
    it; else hardly anything comes past it.
    """
    known = TOPOLOGY.fingerprint.encode()

    def mutated(chance: random.Random, data: bytes) -> bytes:
        data = mutate(chance, data)
        if chance.random() < 0.5:
            try:
                document = json.loads(data)
                tree = {
                    "levels": [{"groups": e["groups"], "name": e["name"]} for e in document["levels"]],
                    "places": document["places"],
                }
                text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
            except (ValueError, LookupError, TypeError, RecursionError):
                return data
            data = data.replace(known, hashlib.sha256(text.encode()).hexdigest().encode())
        return data

    return mutated


def read_hostile_topologies(folder: Path, numbers: range) -> int:
    path = folder / "topology.json"
    write_topology(path, TOPOLOGY)
    # One line, as mutate_documents wants it.
    whole = json.dumps(json.loads(path.read_bytes())).encode()
    read = 0
    for topology in all_of(path, whole, with_fingerprint(mutate_json), read_topology, numbers):
        assert isinstance(topology, Topology)
        write_topology(folder / "again.json", topology)
        assert read_topology(folder / "again.json").fingerprint == topology.fingerprint
        read += 1
    return read


@pytest.mark.usefixtures("bounded")
def test_mutated_topologies_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    assert 50 < read_hostile_topologies(tmp_path, range(1500)) < 1000


@pytest.mark.long
@pytest.mark.usefixtures("bounded")
def test_twenty_thousand_mutated_topologies_are_read_or_refused(tmp_path: Path) -> None:
    assert read_hostile_topologies(tmp_path, range(20_000)) > 500


# --- plain matrices -----------------------------------------------------------------------------------------

MATRIX = np.array([[0.0, 10, 30, 31], [12, 0, 32, 33], [30, 32, 0, 20], [31, 33, 20, 0]])


SHAPES = (
    *("(4, 4)", "(16,)", "()", "(0, 0)", "(1, 1)", "(2, 8)", "(4, 4, 1)", "(-4, -4)", "(4,", "(4.0, 4)", "x"),
    *("(30000, 30000)", "(4000000000, 4000000000)", "(" + "9" * 30 + ", 4)", "(" * 200 + "4" + ")" * 200),
)


def read_hostile_matrices(path: Path, numbers: range) -> tuple[int, int]:
    """How many were read, and of how many a topology was found."""
    if path.suffix == ".npy":
        np.save(path, MATRIX)
    else:
        path.write_text("# ns\n" + "".join(",".join(f"{v:g}" for v in row) + "\n" for row in MATRIX))
    mutate = mutate_bytes_of_array if path.suffix == ".npy" else mutate_text
    read, found = 0, 0
    for measurements in all_of(path, path.read_bytes(), mutate, lambda p: read_matrix(p, "ns"), numbers):
        assert measurements.complete
        read += 1
        if read % 10 == 0:
            topology, _ = detect(measurements)
            found += isinstance(topology, Topology)
    return read, found


def mutate_bytes_of_array(chance: random.Random, data: bytes) -> bytes:
    """Mostly in its head: what kind of numbers, how many."""
    head = data.index(b"\n") + 1
    if chance.random() < 0.2:
        return chance.choice((mutate_bytes, truncate, insert))(chance, data)
    if chance.random() < 0.5:
        return mutate_bytes(chance, data[:head]) + data[head:]
    kind = chance.choice(
        ("<f8", "<f4", "<f2", "<f16", ">f8", "<i8", "|u1", "|b1", "<c16", "|O", "|V8", "<U2", "<M8[s]")
    )
    shape = chance.choice(SHAPES)
    said = f"{{'descr': '{kind}', 'fortran_order': {chance.choice((True, False, 1))}, 'shape': {shape}, }}"
    return np.lib.format.magic(1, 0) + len(said).to_bytes(2, "little") + said.encode() + data[head:]


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", ["m.csv", "m.npy"])
def test_mutated_matrices_are_read_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    read, found = read_hostile_matrices(tmp_path / name, range(2000))
    assert 20 < read < 1900
    assert found > 1


def test_an_archive_or_an_empty_array_is_no_matrix(tmp_path: Path) -> None:
    with (tmp_path / "m.npy").open("wb") as file:
        np.savez(file, MATRIX)
    assert read_or_refused(lambda path: read_matrix(path, "ns"), tmp_path / "m.npy") is None
    np.save(tmp_path / "m.npy", np.zeros((0, 0)))
    assert read_or_refused(lambda path: read_matrix(path, "ns"), tmp_path / "m.npy") is None


@pytest.mark.parametrize("pair", [("1.7e308", "1.7e308"), ("inf", "-inf")])
def test_latencies_beyond_all_numbers_are_one_line_without_a_warning(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    (tmp_path / "m.csv").write_text(f"0,{pair[0]}\n{pair[1]},0\n")
    assert read_or_refused(lambda path: read_matrix(path, "ns"), tmp_path / "m.csv") is None


@pytest.mark.long
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", ["m.csv", "m.npy"])
def test_twenty_thousand_mutated_matrices_are_read_or_refused(tmp_path: Path, name: str) -> None:
    assert read_hostile_matrices(tmp_path / name, range(20_000))[0] > 200
