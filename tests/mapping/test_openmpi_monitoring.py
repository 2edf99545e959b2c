# SPDX-License-Identifier: BSD-3-Clause
"""Monitoring that Open MPI wrote: the program's own messages, puts and gets are all in the graph."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from libraries import missing

from isochrone.launch.launcher import OPEN_MPI_AS_ROOT
from isochrone.mapping.readers import read_foreign_graph

RING = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Win window;
    char *data = calloc(1 << 20, 1), *in = malloc(300000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 5; ++i)
        MPI_Sendrecv(data, i ? 10 : 3000, MPI_CHAR, (rank + 1) % ranks, 0, in, 4000, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (argc > 1) {
        MPI_Win_create(data, 1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        if (rank == 0) MPI_Put(in, 200000, MPI_CHAR, 2, 0, 200000, MPI_CHAR, window);
        if (rank == 1) MPI_Get(in, 300000, MPI_CHAR, 3, 0, 300000, MPI_CHAR, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpicc.openmpi") is None or shutil.which("mpiexec.openmpi") is None:
        missing("Open MPI is not installed")
    folder = tmp_path_factory.mktemp("ring")
    (folder / "ring.c").write_text(RING, encoding="utf-8")
    words = ["mpicc.openmpi", "-o", str(folder / "ring"), str(folder / "ring.c")]
    subprocess.run(words, check=True)
    return folder / "ring"


def monitored(program: list[str], folder: Path, level: int) -> Path:
    settings = {"enable": str(level), "enable_output": "3", "filename": str(folder / "out")}
    options = [
        word for name, value in settings.items() for word in ("--mca", f"pml_monitoring_{name}", value)
    ]
    words = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", *options, *program]
    done = subprocess.run(
        words, env=os.environ | OPEN_MPI_AS_ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    if not (folder / "out.0.prof").exists():
        missing("this Open MPI has no monitoring")
    return folder / "out"


def test_messages_are_read_with_their_sizes(ring: Path, tmp_path: Path) -> None:
    graph = read_foreign_graph(monitored([str(ring)], tmp_path, 2))
    assert graph.ranks == 4
    found = list(zip(graph.sources, graph.targets, graph.messages, graph.volume_bytes, strict=True))
    for rank in range(4):
        rows = [(int(m), int(v)) for s, t, m, v in found if (s, t) == (rank, (rank + 1) % 4)]
        assert [messages for messages, _ in rows] == [4, 1]
        assert sum(volume for _, volume in rows) == 3040
        assert 32 <= rows[0][1] <= 60


def test_puts_and_gets_go_the_way_of_the_data(ring: Path, tmp_path: Path) -> None:
    with_windows, without = (tmp_path / name for name in ("with", "without"))
    volumes = []
    for folder, words in ((with_windows, [str(ring), "x"]), (without, [str(ring)])):
        folder.mkdir()
        graph = read_foreign_graph(monitored(words, folder, 2))
        volume: Counter[tuple[int, int]] = Counter()
        for source, target, amount in zip(graph.sources, graph.targets, graph.volume_bytes, strict=True):
            volume[int(source), int(target)] += int(amount)
        volumes.append(volume)
    more = volumes[0] - volumes[1]
    # Windows cost messages of their own, of some thousand bytes.
    assert 200_000 <= more[0, 2] < 230_000
    assert 300_000 <= more[3, 1] < 330_000
    assert more[2, 0] < 30_000
    assert more[1, 3] < 30_000
