# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on a lab: a survey by srun, its topology for Slurm, and a program on the plan in a batch job."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.files.topology import read_topology
from isochrone.lab import slurm
from isochrone.lab.labs import Lab
from isochrone.launch.library import MpiLibrary

# Debian's srun starts no ranks of Open MPI.
pytestmark = [pytest.mark.long, pytest.mark.parametrize("library", ["mpich"], indirect=True)]

BROADCAST = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    enum { bytes = 1 << 20 };
    int rank, wrong = 0, all = 0;
    char *data = malloc(bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < bytes; ++i) data[i] = rank == 3 ? (char)(i * 7) : 0;
    MPI_Bcast(data, bytes, MPI_CHAR, 3, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) wrong += data[i] != (char)(i * 7);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d bytes are wrong\n", all);
    MPI_Finalize();
    return 0;
}
"""

# What `isochrone tune` does, for one size.
TUNE = """
import sys
from pathlib import Path
from isochrone.launch.target import LocalTarget
from isochrone.steps.tune import TuneOptions, tune
folder = Path(sys.argv[1])
files = [folder / name for name in ("topology.json", "plan.json", "bench.jsonl")]
tune(LocalTarget(sys.argv[2:]), *files, TuneOptions((1 << 20,)))
"""


def run(lab: Lab, words: list[str], **variables: str) -> str:
    settings = [f"{name}={value}" for name, value in variables.items()]
    done = subprocess.run(
        lab.command("h0", ["env", *settings, *words]), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def with_slurm(lab: Lab, library: MpiLibrary) -> Iterator[Lab]:
    slurm.install_slurm()
    slurm.up(lab, library, 2, None)
    yield lab
    slurm.down(lab)


def test_ranks_of_srun_are_where_slurm_has_them(with_slurm: Lab, hello: Path) -> None:
    out = run(with_slurm, ["srun", "-N", "5", "-n", "10", str(hello)])
    found = {int(rank): host for rank, host in re.findall(r"rank (\d+) on (\S+) with 2", out)}
    assert found == {rank: f"h{rank // 2}" for rank in range(10)}


def test_from_a_survey_by_srun_to_a_batch_job_on_the_plan(
    with_slurm: Lab, library: MpiLibrary, tmp_path: Path
) -> None:
    lab = with_slurm
    isochrone = [sys.executable, "-m", "isochrone"]
    survey = tmp_path / "survey"
    srun = ["--", "srun", "-N", "5", "-n", "10", "-m", "cyclic"]
    survey.mkdir()
    measurements = str(survey / "measurements.jsonl")
    run(lab, [*isochrone, "probe", "-o", measurements, *srun], ISOCHRONE_MPI=library.mpicc)
    run(lab, [*isochrone, "detect", measurements])
    run(lab, [sys.executable, "-c", TUNE, str(survey), *srun[1:]], ISOCHRONE_MPI=library.mpicc)
    racks = {frozenset("h" + h for h in group) for group in ("01", "234")}
    topology = read_topology(survey / "topology.json")
    by_host = [
        {frozenset(topology.places[place].host for place in group) for group in level.groups}
        for level in topology.levels
    ]
    assert racks in by_host

    slurm.up(lab, library, 2, topology)
    shown = run(lab, ["scontrol", "show", "topology"])
    assert re.search(r"Level=0 .*Nodes=h\[0-1\]", shown)
    assert re.search(r"Level=1 .*Nodes=h\[0-4\]", shown)

    (tmp_path / "program.c").write_text(BROADCAST, encoding="utf-8")
    program = tmp_path / "program"
    subprocess.run([library.mpicc, "-o", str(program), str(tmp_path / "program.c")], check=True)
    words = " ".join([*isochrone, "run", "--plan", str(survey), "--", "srun", "-m", "cyclic", str(program)])
    (tmp_path / "job").write_text(f"#!/bin/sh\n#SBATCH -N 5 -n 10\n{words}\n", encoding="utf-8")
    out = tmp_path / "out"
    job = ["sbatch", "--wait", "--output", str(out), str(tmp_path / "job")]
    run(lab, job, ISOCHRONE_MPI=library.mpicc, ISOCHRONE_EXPLAIN="1")
    said = out.read_text(encoding="utf-8")
    assert "0 bytes are wrong" in said
    assert re.search(r"bcast of 1048576 bytes from rank 3: \S+: measured", said)


def test_a_topology_of_other_hosts_is_refused(lab: Lab, library: MpiLibrary, tmp_path: Path) -> None:
    from isochrone.files import Place
    from isochrone.files.topology import Level, Topology

    slurm.install_slurm()
    places = (Place(host="elsewhere", cpus=None, signature="1x1"),)
    with pytest.raises(IsochroneError, match="elsewhere"):
        slurm.up(lab, library, 2, Topology(places, (0,), (Level("machine", ((0,),), None, None),)))
    assert not slurm.down(lab)
