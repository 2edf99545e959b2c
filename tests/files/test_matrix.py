# SPDX-License-Identifier: BSD-3-Clause
"""Plain matrices: what other tools write is read, and anything else is one line."""

from __future__ import annotations

import io
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from isochrone.errors import IsochroneError
from isochrone.files.matrix import _cells, is_matrix, read_matrix
from isochrone.files.place import UNKNOWN_HOST
from isochrone.steps.detect import detect, topology_beside

VALUES = np.array([[0.0, 10, 30, 31], [12, 0, 32, 33], [30, 32, 0, 20], [31, 33, 20, 0]])
MEAN_S = np.array([11, 30, 31, 32, 33, 20]) * 1e-9
PAIRS = np.triu_indices(4, 1)


def csv(values: np.ndarray, separator: str, keep: str = "all") -> str:
    def cell(i: int, j: int) -> str:
        shown = {"all": True, "lower": i > j, "upper": i < j}[keep]
        return f"{values[i, j]:g}" if shown else ""

    n = len(values)
    return "".join(separator.join(cell(i, j) for j in range(n)) + "\n" for i in range(n))


def half_round_trips(path: Path, unit: str = "ns") -> np.ndarray:
    measurements = read_matrix(path, unit)
    assert measurements.complete
    return measurements.rtt_min_s[:, 0] / 2


@pytest.mark.parametrize("separator", [",", ";", "\t", ", "])
def test_of_two_values_for_a_pair_the_mean_counts(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text("# ns\n\n" + csv(VALUES, separator))
    assert half_round_trips(path) == pytest.approx(MEAN_S)


@pytest.mark.parametrize(("keep", "first"), [("lower", 12e-9), ("upper", 10e-9)])
def test_one_triangle_is_enough(tmp_path: Path, keep: str, first: float) -> None:
    path = tmp_path / "m.csv"
    path.write_text(csv(VALUES, ",", keep))
    assert half_round_trips(path) == pytest.approx([first, *MEAN_S[1:]])


def test_short_lines_and_commas_at_the_end_are_a_triangle_too(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0,\n12,0,\n30,32,0,\n31,33,20,0,\n")
    assert half_round_trips(path) == pytest.approx([12e-9, *MEAN_S[1:]])


@pytest.mark.parametrize("name", ["m.npy", "m.csv"])
@pytest.mark.parametrize(("of", "first"), [(np.tril, 12e-9), (np.triu, 10e-9)])
def test_a_triangle_of_zeros_is_not_given(
    tmp_path: Path, name: str, of: Callable[[np.ndarray], np.ndarray], first: float
) -> None:
    path = tmp_path / name
    if name == "m.npy":
        np.save(path, of(VALUES))
    else:
        path.write_text(csv(of(VALUES), ","))
    assert half_round_trips(path) == pytest.approx([first, *MEAN_S[1:]])


def test_a_line_is_not_taken_apart_beyond_what_is_too_much() -> None:
    for separator in (",", ";", "\t", " "):
        line = f"1{separator}" * 1_000_000
        tracemalloc.start()
        with pytest.raises(IsochroneError, match="more than 4096 ranks"):
            _cells(line, "m.csv:1")
        _, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most_bytes < 4 * len(line)


def lines(rows: list[list[float]]) -> str:
    return "".join(",".join(f"{cell:g}" for cell in row) + "\n" for row in rows)


def test_a_triangle_without_its_diagonal_has_an_empty_line_for_the_rank_without_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.csv"
    lower = [VALUES[i, :i].tolist() for i in range(1, 4)]
    path.write_text("\n" + lines(lower))
    assert half_round_trips(path) == pytest.approx([12e-9, *MEAN_S[1:]])
    upper = [VALUES[i, i + 1 :].tolist() for i in range(3)]
    path.write_text(lines(upper) + "\n")
    assert half_round_trips(path) == pytest.approx([10e-9, *MEAN_S[1:]])
    for rows in (lower, upper):
        path.write_text(lines(rows))
        with pytest.raises(IsochroneError, match="not clear whether with its diagonal"):
            read_matrix(path, "ns")


def test_an_upper_triangle_of_ever_shorter_lines_has_its_diagonal_first(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(lines([VALUES[i, i:].tolist() for i in range(4)]))
    assert half_round_trips(path) == pytest.approx([10e-9, *MEAN_S[1:]])


@pytest.mark.parametrize("name", ["M.CSV", "m.dat", "m.TXT"])
def test_what_spreadsheets_write_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\ufeff" + csv(VALUES + 0.5, ";").replace(".", ","), encoding="utf-8")
    assert is_matrix(path)
    assert half_round_trips(path) == pytest.approx(MEAN_S + 0.5e-9)


def test_standard_input_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(csv(VALUES, " ")))
    assert half_round_trips(Path("-")) == pytest.approx(MEAN_S)


@pytest.mark.parametrize("first", [0, 1])
def test_a_head_of_numbers_is_no_rank(tmp_path: Path, first: int) -> None:
    path = tmp_path / "m.csv"
    path.write_text(",".join(str(rank + first) for rank in range(4)) + "\n" + csv(VALUES, ","))
    with pytest.raises(IsochroneError, match="the first row has the numbers of the ranks"):
        read_matrix(path, "ns")


def test_directions_that_differ_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "m.csv"
    path.write_text(csv(VALUES, ","))
    read_matrix(path, "ns")
    assert "1 of 6 pairs differ by direction" in caplog.text
    caplog.clear()
    path.write_text(csv((VALUES + VALUES.T) / 2, ","))
    read_matrix(path, "ns")
    assert caplog.text == ""


def test_a_matrix_names_no_host(tmp_path: Path) -> None:
    path = tmp_path / "n1.csv"
    path.write_text(csv(VALUES, ","))
    topology = detect(path, topology_beside(path))
    assert {place.host for place in topology.places} == {UNKNOWN_HOST}
    assert topology.levels[0].name == "machine"
    assert {each.name for each in tmp_path.iterdir()} == {"n1.csv", "n1.topology.json"}


def test_numpy_arrays_of_any_number_and_unit(tmp_path: Path) -> None:
    for dtype in (np.float32, np.int64, np.uint16):
        path = tmp_path / "m.npy"
        np.save(path, VALUES.astype(dtype))
        assert half_round_trips(path, "us") == pytest.approx(MEAN_S * 1e3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("1,2\n", "m.csv"),
        ("0,1\nx,0\n", "m.csv:2: 'x' is no number"),
        ("0,1_000\n1_000,0\n", "m.csv:1: '1_000' is no number"),
        ("0,1e-320\n1e-320,0\n", "m.csv: a latency is too short"),
        ("0,1,2\n1,0,3\n", "row 0 has 3 cells, and there are 2 rows"),
        ("0,-1\n-1,0\n", "ranks 0 and 1 have -1"),
        ("0,nan\nnan,0\n", "ranks 0 and 1 have no value"),
        ("0,inf\ninf,0\n", "ranks 0 and 1 have inf"),
        ("0,1e300\n1e300,0\n", "longer than a life"),
        ("0,0\n0,0\n", "ranks 0 and 1 have 0"),
        ("0,5,5\n5,0,0\n5,5,0\n", "ranks 1 and 2 have 0 one way and 5 the other"),
        ("0,5,5\n5,0,-1\n5,9,0\n", "ranks 1 and 2 have -1 one way and 9 the other"),
        ("0,-1,-1\n5,0,-1\n5,5,0\n", "ranks 0 and 1 have -1 one way and 5 the other"),
        ("0,0,0\n5,0,0\n5,0,0\n", "ranks 1 and 2 have 0"),
        ("0,inf\n5,0\n", "ranks 0 and 1 have inf one way and 5 the other"),
        ("0," * 5000 + "\n", "more than 4096 ranks"),
    ],
)
def test_what_is_no_matrix_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(IsochroneError) as caught:
        read_matrix(path, "ns")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "values", [np.zeros((2, 3)), np.zeros(4), np.float64(1), np.array([["a"]]), np.eye(2) * 1j]
)
def test_arrays_of_another_form_are_refused(tmp_path: Path, values: np.ndarray) -> None:
    path = tmp_path / "m.npy"
    np.save(path, values)
    with pytest.raises(IsochroneError):
        read_matrix(path, "ns")


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array([[object()]]), allow_pickle=True)
    with pytest.raises(IsochroneError, match=r"is no \.npy file of numbers"):
        read_matrix(path, "ns")


def test_mutated_files_give_a_matrix_or_one_line(tmp_path: Path) -> None:
    chance = random.Random(1)
    np.save(tmp_path / "m.npy", VALUES)
    (tmp_path / "m.csv").write_text(csv(VALUES, ","))
    refused = []
    for name in ("m.npy", "m.csv"):
        whole = (tmp_path / name).read_bytes()
        for _ in range(1500):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            path = tmp_path / f"mutated{Path(name).suffix}"
            path.write_bytes(data[: chance.randint(0, len(data))] if chance.random() < 0.3 else data)
            try:
                read_matrix(path, "ns")
            except IsochroneError as error:
                refused.append(str(error))
    assert len(refused) > 500
    assert not any("\n" in said for said in refused)
