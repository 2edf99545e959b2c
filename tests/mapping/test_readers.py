# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of other programs: what they say is read, and damaged ones are refused in one line."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hostile import all_of, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from mutations import mutate_text

from isochrone.errors import IsochroneError, UsageError
from isochrone.files import content
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.readers import FORMATS, read_foreign_graph

Edges = Mapping[tuple[int, int], int]

GRAPHS = Path(__file__).resolve().parents[3] / "shared" / "data" / "graphs"

TRIANGLE = "4 3\n2 3\n1 3\n1 2\n\n"

# Synthetic: written after Intel's description of the format, not by Intel MPI.
INTEL = """\
Intel(R) MPI Library Version 4.1
____ MPI Communication Statistics ____

Stats level: 4
P2P scope:< FULL >
Collectives scope:< FULL >

~~~~ Process 0 of 2 on node node1 lifetime = 414.13

Data Transfers
Src     Dst     Amount(MB)      Transfers
-----------------------------------------
000 --> 000     0.000000e+00    0
000 --> 001     7.629395e-06    2
=========================================
Totals          7.629395e-06    2

Communication Activity
Operation       Volume(MB)      Calls
-----------------------------------------
P2P
Csend           9.147644e-02    1160
Send            7.629395e-06    2

~~~~ Process 1 of 2 on node node2 lifetime = 306.13

Data Transfers
Src     Dst     Amount(MB)      Transfers
-----------------------------------------
001 --> 000     1.500000e+00    3
001 --> 001     0.000000e+00    0
=========================================
Totals          1.500000e+00    3
"""

# Shaped like what Open MPI 4.1.4 writes with pml_monitoring_enable=2, histograms shortened.
PROF = (
    "# POINT TO POINT\n"
    "E\t0\t1\t1020 bytes\t3 msgs sent\t1,0,0,1,2,0,0,0,0,0,1\n"
    "I\t0\t1\t4 bytes\t2 msgs sent\n"
    "I\t0\t2\t8412 bytes\t27 msgs sent\t4,0,0,15,1,3,2,0,0,0,0,0,0,2\n"
    "# OSC\n"
    "S\t0\t1\t5000 bytes\t1 msgs sent\n"
    "R\t0\t2\t7000 bytes\t1 msgs sent\n"
    "# COLLECTIVES\n"
    "C\t0\t1\t8380 bytes\t27 msgs sent\n"
    "D\tMPI_COMM_WORLD\tprocs: 0,1,2\n"
    "O2A\t0\t12432 bytes\t2 msgs sent\n"
)


def rows(graph: TaskGraph) -> list[tuple[int, ...]]:
    columns = (graph.sources, graph.targets, graph.messages, graph.volume_bytes)
    return [tuple(int(v) for v in row) for row in zip(*columns, strict=True)]


def read(folder: Path, name: str, text: str | bytes, form: str | None = None) -> TaskGraph:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_foreign_graph(path, form)


def both_ways(edges: Edges) -> list[tuple[int, ...]]:
    return sorted(row for (a, b), w in edges.items() for row in ((a, b, 0, w), (b, a, 0, w)))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    ranks = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1)).map(lambda p: (min(p), max(p)))
    weights = st.integers(0, 10**15)
    found = draw(st.dictionaries(pairs.filter(lambda p: p[0] != p[1]), weights, max_size=20))
    return ranks, found


def metis_text(ranks: int, edges: Edges, form: str, ncon: int, shuffle: random.Random) -> str:
    sizes, weights, edge_weights = (int(digit) for digit in form.zfill(3))
    lines = [" ".join(["% made", "by a test"])]
    lines.append(f" {ranks} {len(edges)} {form}" + (f" {ncon}" if weights else ""))
    for vertex in range(ranks):
        words = [str(shuffle.randrange(9)) for _ in range(sizes + weights * ncon)]
        near = [(b if a == vertex else a, w) for (a, b), w in edges.items() if vertex in (a, b)]
        shuffle.shuffle(near)
        for other, weight in near:
            words += [str(other + 1), *([str(weight)] if edge_weights else [])]
        lines.append("  ".join(words))
        if shuffle.random() < 0.2:
            lines.append("% in between")
    return "\r\n".join([*lines, ""])


@given(
    graph=graphs(),
    form=st.sampled_from(["0", "1", "10", "11", "100", "101", "110", "111", "001", "000"]),
    ncon=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_metis_graphs_are_read_whatever_they_weigh(
    tmp_path_factory: pytest.TempPathFactory, graph: tuple[int, Edges], form: str, ncon: int, seed: int
) -> None:
    ranks, edges = graph
    text = metis_text(ranks, edges, form, ncon, random.Random(seed))
    found = read(tmp_path_factory.mktemp("metis"), "g.graph", text)
    assert found.ranks == ranks
    assert rows(found) == both_ways({pair: w if form[-1] == "1" else 1 for pair, w in edges.items()})


@given(
    graph=graphs(),
    field=st.sampled_from(["pattern", "integer", "real"]),
    symmetric=st.booleans(),
    seed=st.integers(0, 99),
)
def test_matrices_are_read(
    tmp_path_factory: pytest.TempPathFactory,
    graph: tuple[int, Edges],
    field: str,
    symmetric: bool,
    seed: int,
) -> None:
    ranks, edges = graph
    entries = [(b + 1, a + 1, w) for (a, b), w in edges.items()]
    entries += [(1, 1, 7)]
    random.Random(seed).shuffle(entries)
    banner = f"%%MatrixMarket matrix coordinate {field} {'symmetric' if symmetric else 'general'}"
    lines = [banner, "% a comment", "", f"{ranks} {ranks} {len(entries)}"]
    for row, column, weight in entries:
        value = {"pattern": "", "integer": str(weight), "real": f"{weight:.1f}"}[field]
        lines.append(f"{row} {column} {value}")
    found = read(tmp_path_factory.mktemp("mtx"), "g.mtx", "\n".join(lines))
    weighted = {pair: 1 if field == "pattern" else w for pair, w in edges.items()}
    one_way = sorted((b, a, 0, w) for (a, b), w in weighted.items())
    assert found.ranks == ranks
    assert rows(found) == (both_ways(weighted) if symmetric else one_way)


def test_entries_of_one_place_are_added_up(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1.4e1\n1 2 0.7\n"
    assert rows(read(tmp_path, "g.mtx", text)) == [(0, 1, 0, 15)]


def test_packed_files_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    for name in ("g.graph.gz", "g.graph"):
        assert read(tmp_path, name, gzip.compress(TRIANGLE.encode())).ranks == 4


def test_formats_are_told_by_how_files_begin(tmp_path: Path) -> None:
    mtx = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    for text, ranks in ((TRIANGLE, 4), ("%c\n" + TRIANGLE, 4), (mtx, 2), (INTEL, 2), (PROF, 3)):
        assert read(tmp_path, "stats.txt", text).ranks == ranks
    with pytest.raises(
        IsochroneError, match=r"stats\.txt: .* say which: matrix-market, intel, openmpi, metis"
    ):
        read(tmp_path, "stats.txt", "hello\n")
    with pytest.raises(UsageError, match="'dot' is no format"):
        read(tmp_path, "stats.txt", TRIANGLE, "dot")


def test_statistics_of_intel_mpi(tmp_path: Path) -> None:
    assert rows(read(tmp_path, "stats.txt", INTEL)) == [(0, 1, 2, 8), (1, 0, 3, 3 << 19)]
    silent = INTEL.replace("7.629395e-06    2", "0.000000e+00    0")
    assert rows(read(tmp_path, "stats.txt", silent)) == [(1, 0, 3, 3 << 19)]
    # A table alone, of a version that writes otherwise.
    table = "Data Transfers\n Src Dst Amount(MB) Transfers\n0 -> 3 1.0 4\n3 0 2 5\n"
    assert rows(read(tmp_path, "stats.txt", table)) == [(0, 3, 4, 1 << 20), (3, 0, 5, 2 << 20)]


def test_a_line_of_blanks_takes_no_longer_than_others(tmp_path: Path) -> None:
    blanks = " " * (1 << 20)
    (tmp_path / "stats.txt").write_text(f"Data Transfers\nSrc Dst\n0 1 1.0 1\n0{blanks}x\n")
    line = ["map", str(tmp_path / "stats.txt"), "--format", "intel", "--tree", "2", "-o", str(tmp_path / "m")]
    # What takes the square of its length would take hours.
    done = subprocess.run(
        [sys.executable, "-m", "isochrone", *line], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 1
    assert "stats.txt:4: the row of the table of data transfers is damaged" in done.stderr


def test_monitoring_of_open_mpi(tmp_path: Path) -> None:
    graph = read(tmp_path, "all.txt", PROF)
    # 5 messages and 1024 bytes: one empty, one of 4 to 7 bytes, two of 8 to 15, one of 512 to 1023.
    first = [row for row in rows(graph) if row[:2] == (0, 1)]
    assert [row[2] for row in first] == [1, 1, 2, 1, 1]
    assert sum(row[3] for row in first) == 1024 + 5000
    assert first[0][3] == 0
    assert 4 <= first[1][3] <= 7
    assert 16 <= first[2][3] <= 30
    assert 512 <= first[3][3] <= 1023
    assert [row for row in rows(graph) if row[0] == 2] == [(2, 0, 1, 7000)]
    assert sum(row[3] for row in rows(graph) if row[:2] == (0, 2)) == 8412


def test_monitoring_is_gathered_from_the_files_of_all_ranks(tmp_path: Path) -> None:
    for rank in range(3):
        line = f"E\t{rank}\t{(rank + 1) % 3}\t8 bytes\t1 msgs sent\n"
        (tmp_path / f"out.{rank}.prof").write_text("# POINT TO POINT\n" + line)
    expected = [(0, 1, 1, 8), (1, 2, 1, 8), (2, 0, 1, 8)]
    for path in (tmp_path, tmp_path / "out", tmp_path / "out.1.prof"):
        assert rows(read_foreign_graph(path)) == expected
    (tmp_path / "more.0.prof").write_text("E\t0\t1\t8 bytes\t1 msgs sent\n")
    with pytest.raises(IsochroneError, match="has the files of 2 runs, such as 'more' and 'out'"):
        read_foreign_graph(tmp_path)
    assert rows(read_foreign_graph(tmp_path / "out")) == expected
    (tmp_path / "out.1.prof").unlink()
    with pytest.raises(IsochroneError, match="the file of rank 1 is missing"):
        read_foreign_graph(tmp_path / "out")


MTX = "%%MatrixMarket matrix coordinate real general\n"
BAD = [
    ("g.graph", "", "g.graph: holds no graph"),
    ("g.graph", "3\n", "g.graph:1: the first line must be"),
    ("g.graph", "% c\n2 1 7\n2\n1\n", "g.graph:2: 7 is no fmt"),
    ("g.graph", "9999999999 1\n2\n1\n", "g.graph:1: 9999999999 ranks cannot be"),
    ("g.graph", "2 1\n2\n", "g.graph: the file ends after 1 of 2 vertices"),
    ("g.graph", "2 1\n2\n1\n\n1\n", "g.graph:5: there are more lines than the 2 vertices"),
    ("g.graph", "2 1\n3\n1\n", "g.graph:2: vertex 1 is of 2, but has a neighbour 3"),
    ("g.graph", "2 1\n0\n1\n", "g.graph:2: vertex 1 is of 2, but has a neighbour 0"),
    ("g.graph", "2 1\n1\n1\n", "g.graph:2: vertex 1 is its own neighbour"),
    ("g.graph", "2 1 1\n2 -3\n1 -3\n", "g.graph:2: -3 is negative"),
    ("g.graph", "2 1 1\n2 3\n1 4\n", "g.graph:2: vertex 2 does not list"),
    ("g.graph", "3 1\n2 3\n\n\n", "g.graph:2: vertex 2 does not list, with the same weight, 1"),
    ("g.graph", "2 2\n2 2\n1 1\n", "g.graph:2: vertex 2 is listed twice"),
    ("g.graph", "2 1 1\n2\n1 1\n", "g.graph:2: a neighbour lacks its weight"),
    ("g.graph", "2 1 10 2\n1\n1 1 1\n", "g.graph:2: sizes or weights are missing"),
    ("g.graph", "2 5\n2\n1\n", "g.graph:1: the first line says 5 edges"),
    ("g.graph", "% x\n2 1\n2\nfoo\n", "g.graph:4: 'foo' is not a whole number"),
    ("g.graph", "2 1\n2\n1.5\n", "g.graph:3: '1.5' is not a whole number"),
    ("g.graph", f"2 1 1\n2 {'9' * 19}\n1 {'9' * 19}\n", "g.graph:2: '9999999999999999999' is not a whole"),
    ("g.graph", "2 1\n2-\n1\n", "g.graph:2: '2-' is not a whole number"),
    ("g.mtx", "hello\n", "g.mtx:1: 'hello' cannot be read"),
    ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "g.mtx:1: "),
    ("g.mtx", MTX, "g.mtx:1: the line with rows, columns and entries is missing"),
    ("g.mtx", MTX + "2 3 1\n1 2 1\n", "g.mtx:2: the matrix has 2 rows and 3 columns"),
    ("g.mtx", MTX + "2 2 2\n1 2 1\n", "g.mtx:2: there must be 2 entries, and are 1"),
    ("g.mtx", MTX + "2 2 1\n1 2\n", "g.mtx:3: the line must have 3 numbers"),
    ("g.mtx", MTX + "2 2 1\n0 2 1\n", "g.mtx:3: there is no place 0, 2"),
    ("g.mtx", MTX + "2 2 1\n1.5 2 1\n", "g.mtx:3: there is no place 1.5, 2"),
    ("g.mtx", MTX + "2 2 1\n1 2 -1\n", "g.mtx:3: the value -1 is negative"),
    ("g.mtx", MTX + "2 2 1\n1 2 0.1\n", "g.mtx:3: the value 0.1 is less than half a byte"),
    ("g.mtx", MTX + "2 2 1\n1 2 nan\n", "g.mtx:3: 'nan' is not a finite number"),
    ("g.mtx", MTX + "2 2 1\n1 2 1e999\n", "g.mtx:3: '1e999' is not a finite number"),
    ("g.mtx", MTX + "2 2 1\n1 2 1e300\n", "g.mtx: the weights add up"),
    ("s.txt", INTEL.replace("Process 1 of 2", "Process 0 of 2"), "s.txt:25: process 0 of 2 does not go"),
    ("s.txt", INTEL[:600], "s.txt: tells of 1 of 2 processes"),
    ("s.txt", INTEL.replace("1.500000e+00    3", "1.5x 3", 1), "s.txt:30: the row of the table"),
    ("s.txt", INTEL.replace("7.629395e-06    2", "-1.0 2", 1), "s.txt:14: the amounts cannot be"),
    ("s.txt", INTEL.replace("000 --> 001", "000 --> 007", 1), "s.txt: tells of rank 7, and of 2 processes"),
    ("p.prof", "E\t0\t1\t10 bytes\n", "p.prof:1: the line is not one of Open MPI's monitoring"),
    ("p.prof", "E\t0\t-1\t10 bytes\t1 msgs sent\n", "p.prof:1: the line is not one of Open MPI's"),
    ("p.prof", "# nothing\n", "p.prof: 0 ranks cannot be"),
    ("p.prof", f"E\t0\t1\t{'9' * 18} bytes\t1 msgs sent\n" * 9, "p.prof: the weights add up"),
]


@pytest.mark.parametrize(("name", "text", "says"), BAD)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(IsochroneError) as caught:
        read(tmp_path, name, text)
    assert str(caught.value).startswith(f"{tmp_path}/{says}")
    assert len(str(caught.value)) < 400


WHOLE = {
    "g.graph": metis_text(6, {(0, 1): 5, (1, 2): 7, (0, 5): 1, (3, 4): 2}, "111", 2, random.Random(1)),
    "g.mtx": MTX + "3 3 3\n1 2 1.5\n2 3 2e1\n3 1 4\n",
    "s.txt": INTEL,
    "p.prof": PROF,
}


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for graph in all_of(path, WHOLE[name].encode(), mutate_text, read_foreign_graph, range(200)):
        assert isinstance(graph, TaskGraph)
        for column in (graph.sources, graph.targets):
            assert np.all((column >= 0) & (column < graph.ranks))
        assert np.all(graph.messages >= 0)
        assert np.all(graph.volume_bytes >= 0)


@given(data=st.binary(max_size=200), form=st.sampled_from([each.name for each in FORMATS]))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, form: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(data)
    read_or_refused(lambda path: read_foreign_graph(path, form), path)


def test_damaged_and_endless_gzip_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gzip.compress(TRIANGLE.encode() * 1000)
    for damaged in (whole[:-20], whole[:5], whole[:50] + b"xxxx" + whole[54:]):
        with pytest.raises(IsochroneError, match="gzip cannot unpack it"):
            read(tmp_path, "g.graph.gz", damaged)
    with pytest.raises(IsochroneError, match="longer than 16 MB"):
        read(tmp_path, "g.graph.gz", gzip.compress(bytes(1 << 25)))
    monkeypatch.setattr(content, "MOST_BYTES", 1 << 20)
    with pytest.raises(IsochroneError, match="too large"):
        read(tmp_path, "g.graph.gz", gzip.compress(b"1 2\n" * (1 << 20)))


def test_missing_files_are_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing", Path("/dev/zero")):
        with pytest.raises(IsochroneError):
            read_foreign_graph(path)


def grid(width: int) -> tuple[int, Sequence[np.ndarray]]:
    at = np.arange(width * width).reshape(width, width)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:])]
    return width * width, [np.concatenate([p[k].ravel() for p in pairs]) for k in range(2)]


def test_a_graph_of_many_ranks_takes_no_time(tmp_path: Path) -> None:
    ranks, (low, high) = grid(181)
    sources, targets = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((targets, sources))
    lines = np.split(targets[order] + 1, np.searchsorted(sources[order], np.arange(1, ranks)))
    text = f"{ranks} {len(low)}\n" + "".join(" ".join(map(str, each.tolist())) + "\n" for each in lines)
    start = time.process_time()
    graph = read(tmp_path, "g.graph.gz", gzip.compress(text.encode(), 1))
    assert time.process_time() - start < 1
    assert np.array_equal(graph.sources, sources[order])
    assert np.array_equal(graph.targets, targets[order])


@pytest.mark.skipif(not GRAPHS.is_dir(), reason="the graphs are not on this machine")
@pytest.mark.parametrize(("name", "edges"), [("rgg_n_2_15_s0", 160240), ("delaunay_n15", 98274)])
def test_real_graphs(name: str, edges: int) -> None:
    graph = read_foreign_graph(GRAPHS / f"{name}.graph.gz")
    assert (graph.ranks, len(graph.sources)) == (32768, 2 * edges)
