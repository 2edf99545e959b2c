# SPDX-License-Identifier: BSD-3-Clause
"""Hostile plain matrices."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hostile import all_of, read_or_refused
from mutations import insert, mutate_bytes, mutate_text, truncate

from isochrone.detect import detect
from isochrone.files import Topology
from isochrone.files.matrix import read_matrix

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
