# SPDX-License-Identifier: BSD-3-Clause
"""Times of other programs: what they say is read, and damaged files are refused in one line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hostile import read_or_refused
from mutations import mutate_text

from isochrone.errors import IsochroneError, UsageError
from isochrone.models.observation import MESSAGE, Found
from isochrone.models.readers import FORMATS, read_foreign_times
from isochrone.models.readers.labels import Labels, parse_argument

# Shaped like what OSU's programs print; all numbers are made.
LATENCY = """\
mpirun -np 2 --map-by node ./osu_latency
# OSU MPI Latency Test v5.6.3
# Size          Latency (us)
0                       1.25
1                       1.30
1024                    1.75
1048576               102.50

real    0m1.201s
"""
LATENCY_7 = LATENCY.replace("v5.6.3", "v7.3\n# Datatype: MPI_CHAR.").replace(
    "Latency (us)", "Avg Latency(us)"
)
BANDWIDTH = """\
# OSU MPI Bandwidth Test v7.3
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       2.00
4096                 4096.00
"""
BCAST_FULL = """\

# OSU MPI Broadcast Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       2.00              1.00              4.00        1000
1024                    3.00              2.50              5.50        1000
"""
BARRIER = """\
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             1.41
"""
INIT = """\
# OSU MPI Init Test v7.3
nprocs: 4, min: 67 ms, max: 67 ms, avg: 67 ms
"""
IMB = """\
#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
# Date                  : Wed Nov 25 22:00:00 2026
# Minimum message length in bytes:   0

# List of Benchmarks to run:

# PingPong
# Bcast
# Barrier

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
            8         1000         0.60        13.33

#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.02         0.03         0.02
            8         1000         0.70         0.90         0.80

#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.10         1.50         1.30
      1048576           20 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         1.00         1.20         1.10

#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 4
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.90         0.95         0.93        16.84

# All processes entering MPI_Finalize
"""
COLUMNS = """\
Algorithm,Allocation,Processes,MessageSize,Avg Latency(us)
chain,core,1,8,0.05
chain,core,2,8,0.13
linear,node,16,2048,25.5
"""


def read(folder: Path, text: str, labels: Labels | None = None) -> Found:
    path = folder / "times.txt"
    path.write_text(text, encoding="utf-8")
    return read_foreign_times(path, labels or Labels())


def rows(found: Found) -> list[tuple[str, int, int, float]]:
    return [
        (each.operation, each.size_bytes, each.ranks, round(each.time_s * 1e6, 6))
        for each in found.observations
    ]


@pytest.mark.parametrize("text", [LATENCY, LATENCY_7, LATENCY.replace("\n", "\r\n")])
def test_latencies_of_osu_are_times_of_messages(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, text)
    assert rows(found) == [
        (MESSAGE, 0, 2, 1.25),
        (MESSAGE, 1, 2, 1.3),
        (MESSAGE, 1024, 2, 1.75),
        (MESSAGE, 1048576, 2, 102.5),
    ]


def test_bandwidths_of_osu_are_gaps(tmp_path: Path) -> None:
    found = read(tmp_path, LATENCY + BANDWIDTH)
    assert [(each.kind, each.size_bytes, each.time_s) for each in found.costs] == [
        ("gap", 1, pytest.approx(5e-7)),
        ("gap", 4096, pytest.approx(1e-6)),
    ]


def test_the_slowest_rank_counts_where_osu_tells_it(tmp_path: Path) -> None:
    labels = Labels(ranks=8, algorithm="chain", mapping="core")
    found = read(tmp_path, BCAST_FULL, labels)
    assert rows(found) == [("bcast", 1, 8, 4.0), ("bcast", 1024, 8, 5.5)]
    assert {(each.algorithm, each.mapping) for each in found.observations} == {("chain", "core")}
    short = BCAST_FULL.replace("   Min Latency(us)   Max Latency(us)  Iterations", "")
    assert [row[3] for row in rows(read(tmp_path, short, labels))] == [2.0, 3.0]


def test_a_barrier_of_osu_has_no_size(tmp_path: Path) -> None:
    assert rows(read(tmp_path, BARRIER, Labels(ranks=4))) == [("barrier", 0, 4, 1.41)]


def test_osu_does_not_say_how_many_ranks_there_were(tmp_path: Path) -> None:
    with pytest.raises(IsochroneError, match=r"times\.txt:5: OSU's bcast does not say how many ranks"):
        read(tmp_path, BCAST_FULL)


def test_imb_tells_all_and_its_overhead_of_nothing_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, IMB)
    assert rows(found) == [
        (MESSAGE, 0, 2, 0.5),
        (MESSAGE, 8, 2, 0.6),
        ("bcast", 8, 2, 0.9),
        ("bcast", 8, 4, 1.5),
        ("barrier", 0, 4, 1.2),
    ]
    assert any("Sendrecv" in each for each in found.left_out)
    assert any("Bcast" in each for each in found.left_out)


def test_tables_of_one_process_are_left_out(tmp_path: Path) -> None:
    whole = read(tmp_path, IMB)
    one = IMB.replace("# #processes = 2", "# #processes = 1", 1)
    found = read(tmp_path, one)
    assert 0 < len(found.observations) < len(whole.observations)
    assert any("of one process" in line for line in found.left_out)


def test_groups_that_run_at_once_are_left_out(tmp_path: Path) -> None:
    both = IMB.replace(
        "# #processes = 4\n#----------------------------------------------------------------\n",
        "# #processes = 4\n# ( 2 groups of 2 processes each running simultaneous )\n#------\n",
    )
    assert ("bcast", 8, 4, 1.5) not in rows(read(tmp_path, both))


def test_tables_with_commas_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, COLUMNS, Labels(collective="bcast"))
    assert rows(found) == [("bcast", 8, 2, 0.13), ("bcast", 2048, 16, 25.5)]
    assert [(each.algorithm, each.mapping) for each in found.observations] == [
        ("chain", "core"),
        ("linear", "node"),
    ]
    with pytest.raises(IsochroneError, match=r"times\.txt:1: nothing says of which collective"):
        read(tmp_path, COLUMNS)


@pytest.mark.parametrize("name", ["bcast", "Bcast", "MPI_Bcast"])
def test_collectives_of_tables_have_one_name(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, COLUMNS, Labels(collective=name))
    assert {each.operation for each in found.observations} == {"bcast"}


def test_messages_are_no_collective_of_a_table(tmp_path: Path) -> None:
    with pytest.raises(IsochroneError, match=r"times\.txt:3: 'message' is no collective"):
        read(tmp_path, COLUMNS, Labels(collective="message"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LATENCY.replace("1.30", "1.3O"), 5),
        (LATENCY.replace("1024                    1.75", "1024"), 6),
        (LATENCY.replace("1.30", "-1.30"), 5),
        (LATENCY.replace("1.30", "nan"), 5),
        (BANDWIDTH.replace("2.00", "2,00"), 4),
        (IMB.replace("0.70         0.90", "0.70"), 29),
        (IMB.replace("0.60        13.33", "O.60        13.33"), 20),
        (IMB.replace("# #processes = 2\n", ""), 18),
        (IMB.replace("t_max[usec]", "t_high[usec]"), 28),
    ],
)
def test_damaged_texts_are_refused_with_their_line(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "times.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IsochroneError) as refused:
        read_foreign_times(path, Labels())
    assert str(refused.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (COLUMNS.replace("0.13", "fast"), 3),
        (COLUMNS.replace("chain,core,2,8,0.13", "chain,core,2,8"), 3),
        (COLUMNS.replace("node,16,", "node,-16,"), 4),
        (COLUMNS.replace("chain,core,2", '"chain,core,2'), 3),
        (COLUMNS.replace("chain,core,2,", "Chain,core,1000000000000,"), 3),
    ],
)
def test_damaged_tables_are_refused_with_their_line(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IsochroneError) as refused:
        read_foreign_times(path, Labels(collective="bcast"))
    assert str(refused.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize("text", [INIT, "", "1 2 3\n", "\x00\xff", "# OSU MPI Latency Test v7.3\n"])
def test_what_has_no_times_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(IsochroneError, match="no times"):
        read(tmp_path, text)


@pytest.mark.parametrize("text", [LATENCY + BANDWIDTH, BCAST_FULL + BARRIER, IMB, COLUMNS])
def test_mutated_texts_are_read_or_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "times.txt"
    source = random.Random(7)
    for _ in range(150):
        path.write_bytes(mutate_text(source, text.encode()))
        found = read_or_refused(
            lambda each: read_foreign_times(each, Labels(ranks=8, collective="bcast")), path
        )
        for each in found.observations if found is not None else ():
            assert 0 < each.time_s < 1e7
            assert each.ranks >= 2
            assert each.size_bytes >= 0


def test_heads_tell_formats_apart_and_long_lines_take_no_time(tmp_path: Path) -> None:
    for text, name in ((LATENCY, "osu"), (IMB, "imb"), (COLUMNS, "columns")):
        assert [each.name for each in FORMATS if each.head.match(text.encode())] == [name]
    with pytest.raises(IsochroneError):
        read(tmp_path, "latency us np " * 4000)
    with pytest.raises(IsochroneError):
        read(tmp_path, "# OSU MPI " * 6000)


def test_labels_are_told_from_names(tmp_path: Path) -> None:
    path, labels = parse_argument("a/b.txt:ranks=64,algorithm=knomial/4@65536,mapping=core")
    assert (path, labels) == (Path("a/b.txt"), Labels(64, None, "knomial/4@65536", "core"))
    levels = "hierarchical(machine=chain,node=flat)@8192"
    assert parse_argument(f"b.txt:algorithm={levels},ranks=8")[1] == Labels(8, algorithm=levels)
    odd = tmp_path / "t:ranks=3"
    odd.touch()
    assert parse_argument(str(odd)) == (odd, Labels())


@pytest.mark.parametrize("label", ["rank=4", "ranks=4,ranks=4", "ranks=1", "ranks=x", "mapping="])
def test_bad_labels_are_refused(label: str) -> None:
    with pytest.raises(UsageError):
        parse_argument(f"b.txt:{label}")


def test_the_whole_vector_of_reduce_scatter_becomes_a_block(tmp_path: Path) -> None:
    for name, block in (("Reduce_scatter", 256), ("Reduce_scatter_block", 1024)):
        imb = IMB.replace("Benchmarking Bcast", f"Benchmarking {name}").replace(
            "            8         1000         1.10", "         1024         1000         1.10"
        )
        assert (name.lower(), block, 4, 1.5) in rows(read(tmp_path, imb))
        osu = BCAST_FULL.replace("Broadcast", name)
        found = read(tmp_path, osu, Labels(ranks=4))
        assert rows(found)[-1] == (name.lower(), block, 4, 5.5)
    # One byte is no block for each of four.
    assert len(rows(read(tmp_path, BCAST_FULL.replace("Broadcast", "Reduce_scatter"), Labels(ranks=4)))) == 1


@pytest.mark.parametrize("text", [COLUMNS, BCAST_FULL.lstrip()])
def test_the_mark_that_spreadsheets_begin_with_is_no_part_of_a_name(text: str, tmp_path: Path) -> None:
    labels = Labels(ranks=4, collective="bcast")
    assert rows(read(tmp_path, "\ufeff" + text, labels)) == rows(read(tmp_path, text, labels))
