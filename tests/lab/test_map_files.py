# SPDX-License-Identifier: BSD-3-Clause
"""Launching with files for launchers: ranks land where the map says, with the arguments that were given."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from isochrone.files import Place
from isochrone.lab import slurm
from isochrone.lab.labs import Lab
from isochrone.lab.launch import launcher_variables
from isochrone.launch.library import MpiLibrary
from isochrone.mapping.emitters import FORMS, Form, Job, emit, find_form, forms_of

PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char host[MPI_MAX_PROCESSOR_NAME], line[4096];
    int length, rank, together, at;
    MPI_Comm node;
    cpu_set_t cpus;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &together);
    sched_getaffinity(0, sizeof cpus, &cpus);
    at = sprintf(line, "rank %d on %s with %d cpus", rank, host, together);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus)) at += sprintf(line + at, " %d", cpu);
    for (int i = 1; i < argc; ++i) at += sprintf(line + at, " [%s]", argv[i]);
    line[at++] = '\n';
    fwrite(line, 1, at, stdout);
    MPI_Finalize();
    return 0;
}
"""

HOSTS = ("h2", "h0", "h2", "h2", "h1", "h0", "h3", "h4", "h1")
CPUS = ("0", "1", "0-1", "0", "1", "0", "0-1", "1", "0")
BINDING = [form.name for form in FORMS if form.binds]


@pytest.fixture(scope="module")
def program(library: MpiLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Says, for each rank, its host, how many ranks share its memory, its CPUs and its arguments."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    words = [library.mpicc, "-o", str(folder / "program"), str(folder / "program.c")]
    subprocess.run(words, env=os.environ | library.environment, check=True)
    return folder / "program"


def found(out: str) -> dict[int, tuple[str, int, list[str], list[str]]]:
    """Host, ranks beside it, CPUs and arguments of each rank."""
    lines = re.findall(r"rank (\d+) on (\S+) with (\d+) cpus((?: \d+)*)((?: \[[^]]*\])*)", out)
    return {
        int(rank): (host, int(together), cpus.split(), re.findall(r"\[([^]]*)\]", arguments))
        for rank, host, together, cpus, arguments in lines
    }


def launched(
    lab: Lab, library: MpiLibrary, form: Form, job: Job, folder: Path
) -> dict[int, tuple[str, int, list[str], list[str]]]:
    line = emit(form, job, folder / form.file)
    assert library.launcher is not None
    words = [library.launcher if word == "mpirun" else word for word in line]
    done = subprocess.run(
        lab.command("h0", words),
        env=os.environ | launcher_variables(lab, library),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return found(done.stdout)


def places(hosts: Sequence[str], cpus: Sequence[str | None]) -> tuple[Place, ...]:
    return tuple(Place(host, own, "1x2x1") for host, own in zip(hosts, cpus, strict=True))


def forms_for(library: MpiLibrary) -> list[Form]:
    return forms_of(library.vendor, tuple(int(part) for part in library.version.split(".")))


def test_ranks_land_where_the_map_says(lab: Lab, library: MpiLibrary, program: Path, tmp_path: Path) -> None:
    forms = forms_for(library)
    assert len(forms) == (3 if library.vendor == "MPICH" else 2)
    job = Job(places(HOSTS, CPUS), (str(program), "one"))
    for form in forms:
        ranks = launched(lab, library, form, job, tmp_path)
        assert {rank: each[0] for rank, each in ranks.items()} == dict(enumerate(HOSTS)), form.name
        assert all(each[3] == ["one"] for each in ranks.values()), form.name
        if form.name != "mpich-hostfile":
            together = Counter(HOSTS)
            assert all(each[1] == together[each[0]] for each in ranks.values()), form.name
        if form.binds and (os.cpu_count() or 1) >= 2:
            wanted = {rank: {"0-1": ["0", "1"]}.get(cpus, [cpus]) for rank, cpus in enumerate(CPUS)}
            assert {rank: each[2] for rank, each in ranks.items()} == wanted, form.name


def test_arguments_arrive_as_they_are(lab: Lab, library: MpiLibrary, program: Path, tmp_path: Path) -> None:
    plain = ("$HOME", "'q'", "a\\b", 'x"y', ";", "x:", "-n", "*?")
    for form in forms_for(library):
        words = (*plain, *(("a  b", "c'd e") if form.name != "mpich-configfile" else ()))
        job = Job(places(HOSTS[:3], ("0", "0", "1")), (str(program), *words))
        ranks = launched(lab, library, form, job, tmp_path)
        assert [list(each[3]) for each in ranks.values()] == [list(words)] * 3, form.name


def test_extra_options_are_in_the_file_or_on_the_line(
    lab: Lab, library: MpiLibrary, program: Path, tmp_path: Path
) -> None:
    if library.vendor == "Open MPI":
        extra: tuple[str, ...] = ("--wdir", str(program.parent))
    else:
        extra = ("-env", "SOMETHING", "1", "-wdir", str(program.parent))
    for form in forms_for(library):
        job = Job(places(HOSTS[:3], ("0", "0", "1")), ("./program", "x"), extra)
        ranks = launched(lab, library, form, job, tmp_path)
        assert [ranks[rank][0] for rank in range(3)] == list(HOSTS[:3]), form.name


@pytest.fixture
def with_slurm(lab: Lab, library: MpiLibrary) -> Iterator[Lab]:
    slurm.install_slurm()
    slurm.up(lab, library, 4, None)
    yield lab
    slurm.down(lab)


@pytest.mark.long
@pytest.mark.parametrize("library", ["mpich", "intel"], indirect=True)
def test_ranks_of_srun_land_where_the_map_says(with_slurm: Lab, program: Path, tmp_path: Path) -> None:
    job = Job(places(HOSTS, [None] * len(HOSTS)), (str(program), "a b"))
    line = emit(find_form("slurm-hostfile"), job, tmp_path / "hosts")
    done = subprocess.run(with_slurm.command("h0", line), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    ranks = found(done.stdout)
    assert {rank: each[0] for rank, each in ranks.items()} == dict(enumerate(HOSTS))
    assert all(each[3] == ["a b"] for each in ranks.values())
