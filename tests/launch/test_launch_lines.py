# SPDX-License-Identifier: BSD-3-Clause
"""A launch line is understood as its launcher would."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import UsageError
from isochrone.launch.launcher import (
    forbid_program,
    forbid_streams,
    launch_environment,
    read_launch_line,
    require_program,
    runs_here,
)
from isochrone.launch.options import Family, option_length

MakeLauncher = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("kind", "family", "version"),
    [
        ("openmpi4", Family.OPENMPI, "4.1.4"),
        ("openmpi5", Family.OPENMPI, "5.0.11"),
        ("hydra", Family.HYDRA, "4.0.2"),
        ("intel", Family.HYDRA, "2021.13"),
        ("slurm", Family.SLURM, "22.05.8"),
        ("simgrid", Family.SIMGRID, "3.32"),
    ],
)
def test_a_launcher_is_known_by_what_it_says_of_itself_not_by_its_name(
    launcher: MakeLauncher, kind: str, family: Family, version: str
) -> None:
    path = launcher(kind, "mpiexec")
    line = read_launch_line(["mpiexec", "-n", "2"])
    assert (line.family, line.version, line.executable) == (family, version, path)


@pytest.mark.parametrize(
    ("kind", "words", "ranks", "programs"),
    [
        ("openmpi4", "-n 4", 4, ()),
        ("openmpi4", "--np 4 ./app -n 9", 4, ("./app",)),
        ("openmpi4", "--map-by node --mca btl tcp,self -x FOO -np 3 ./app", 3, ("./app",)),
        ("openmpi4", "--bind-to core ./app", None, ("./app",)),
        ("openmpi4", "-n 1 ./master : -n 3 ./worker x", 4, ("./master", "./worker")),
        ("openmpi5", "--prtemca plm_ssh_agent rsh --host a:2,b:2 -n 4 ./app", 4, ("./app",)),
        ("hydra", "-n 4 -genv A B -ppn 2 ./app", 4, ("./app",)),
        ("hydra", "-genv A=B ./app", None, ("./app",)),
        ("hydra", "-prepend-rank -n 2 app", 2, ("app",)),
        ("slurm", "-n4 -N 2 ./app", 4, ("./app",)),
        ("slurm", "--ntasks=4 --exclusive --cpu-bind=cores ./app", 4, ("./app",)),
        ("slurm", "--ntasks 4 --kill-on-bad-exit ./app", 4, ("./app",)),
        ("simgrid", "-np 4 -hostfile h -platform p.so ./app", 4, ("./app",)),
    ],
)
def test_options_with_values_are_told_from_the_program(
    launcher: MakeLauncher, kind: str, words: str, ranks: int | None, programs: tuple[str, ...]
) -> None:
    launcher(kind, "launch")
    line = read_launch_line(["launch", *words.split()])
    assert (line.ranks, line.programs) == (ranks, programs)


def test_an_empty_launch_line_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no launcher"):
        read_launch_line([])


def test_a_launcher_that_is_not_there_is_a_usage_error_with_its_name() -> None:
    with pytest.raises(UsageError, match="'no-such-launcher' is not on the PATH"):
        read_launch_line(["no-such-launcher", "-n", "4"])


def test_a_program_that_is_no_launcher_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="does not know"):
        read_launch_line(["ls"])


def test_an_option_without_its_value_is_a_usage_error(launcher: MakeLauncher) -> None:
    launcher("hydra", "mpiexec")
    with pytest.raises(UsageError, match="-n lacks its value"):
        read_launch_line(["mpiexec", "-n"])


@pytest.mark.parametrize("word", ["isochrone", ".venv/bin/isochrone"])
def test_isochrone_itself_is_no_launcher_and_names_the_command_for_labs(word: str) -> None:
    with pytest.raises(UsageError, match="isochrone lab mpi --plan FOLDER -- PROGRAM"):
        read_launch_line([word, "lab", "mpi", "-n", "4", "--", "./app"])


def test_steps_that_bring_their_own_program_refuse_another(launcher: MakeLauncher) -> None:
    launcher("hydra", "mpiexec")
    forbid_program(read_launch_line(["mpiexec", "-n", "4"]))
    with pytest.raises(UsageError, match=r"\./app"):
        forbid_program(read_launch_line(["mpiexec", "-n", "4", "./app"]))


@pytest.mark.parametrize(
    ("kind", "words", "named"),
    [
        ("hydra", "-l -n 4", "-l"),
        ("hydra", "-n 4 -prepend-rank", "-prepend-rank"),
        ("openmpi4", "--tag-output -n 4", "--tag-output"),
        ("openmpi5", "--output tag -n 4", "--output tag"),
        ("slurm", "-n 4 -l", "-l"),
        ("slurm", "-n 4 -oout.txt", "-oout.txt"),
        ("slurm", "-n 4 --input=none", "--input=none"),
    ],
)
def test_steps_that_talk_with_their_program_refuse_what_is_in_the_way(
    launcher: MakeLauncher, kind: str, words: str, named: str
) -> None:
    launcher(kind, "launch")
    with pytest.raises(UsageError, match=rf"^{re.escape(named)}: it labels or redirects"):
        forbid_streams(read_launch_line(["launch", *words.split()]))


@pytest.mark.parametrize(
    ("kind", "words"), [("hydra", "-n 4 -env l 3"), ("slurm", "-n 4 --label-not"), ("openmpi4", "-n 4 -x l")]
)
def test_other_options_leave_the_streams_of_ranks_alone(
    launcher: MakeLauncher, kind: str, words: str
) -> None:
    launcher(kind, "launch")
    forbid_streams(read_launch_line(["launch", *words.split()]))


@pytest.mark.parametrize(
    ("kind", "words", "here"),
    [
        ("hydra", "-n 4", True),
        ("hydra", "-n 4 -f hosts", False),
        ("hydra", "-hosts a,b -n 4", False),
        ("openmpi5", "--host a:2,b:2 -n 4", False),
        ("openmpi5", "--host=a:2,b:2 -n 4", False),
        ("hydra", "-hosts=a,b -n 4", False),
        ("openmpi4", "-n 4 --bind-to core", True),
        ("openmpi4", "-n 4 --map-by=core", True),
        ("openmpi4", "-n 4 --map-by rankfile:file=ranks", False),
        ("openmpi4", "-n 4 --rankfile ranks", False),
        ("hydra", "-configfile all", False),
        ("slurm", "-n 4", False),
    ],
)
def test_whether_all_ranks_are_on_this_machine(
    launcher: MakeLauncher, kind: str, words: str, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher(kind, "launch")
    line = read_launch_line(["launch", *words.split()])
    assert runs_here(line) is here
    monkeypatch.setenv("SLURM_JOB_ID", "3")
    assert not runs_here(line)


def test_running_a_program_needs_one_in_every_part(launcher: MakeLauncher) -> None:
    launcher("hydra", "mpiexec")
    require_program(read_launch_line(["mpiexec", "-n", "1", "a", ":", "-n", "1", "b"]))
    with pytest.raises(UsageError, match="no program"):
        require_program(read_launch_line(["mpiexec", "-n", "1", "a", ":", "-n", "1"]))


@pytest.mark.parametrize("words", ["-configfile all", "-configfile=all", "-genv A 1 -configfile all"])
def test_a_file_of_hydra_s_has_the_program(launcher: MakeLauncher, words: str) -> None:
    launcher("hydra", "mpiexec")
    line = read_launch_line(["mpiexec", *words.split()])
    require_program(line)
    with pytest.raises(UsageError, match=r"^-configfile.all: its file names a program"):
        forbid_program(line)


def test_open_mpi_is_let_start_more_ranks_than_cores_but_not_on_hosts_that_the_user_lists(
    launcher: MakeLauncher,
) -> None:
    launcher("openmpi4", "mpiexec")
    crowded = launch_environment(read_launch_line(["mpiexec", "-n", "99999"]))
    assert crowded["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
    listed = launch_environment(read_launch_line(["mpiexec", "--host", "a,b", "-n", "99999"]))
    assert "OMPI_MCA_rmaps_base_oversubscribe" not in listed
    roomy = launch_environment(read_launch_line(["mpiexec", "-n", "1"]))
    assert "OMPI_MCA_rmaps_base_oversubscribe" not in roomy


def test_what_the_user_set_for_open_mpi_stays(
    launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher("openmpi4", "mpiexec")
    monkeypatch.setenv("OMPI_MCA_rmaps_base_oversubscribe", "0")
    environment = launch_environment(read_launch_line(["mpiexec", "-n", "99999"]))
    assert "OMPI_MCA_rmaps_base_oversubscribe" not in environment


@pytest.mark.parametrize(
    ("family", "option"),
    [
        (Family.OPENMPI, "--forward-signals"),
        (Family.OPENMPI, "--pset"),
        (Family.OPENMPI, "--gpu-support"),
        (Family.HYDRA, "-hosts-group"),
        (Family.HYDRA, "-rankmap"),
        (Family.HYDRA, "-genvexcl"),
        (Family.HYDRA, "-gtool"),
        (Family.HYDRA, "-s"),
        (Family.SLURM, "--accel-bind"),
        (Family.SLURM, "--bcast-exclude"),
        (Family.SLURM, "--het-group"),
        (Family.SLURM, "--mcs-label"),
    ],
)
def test_the_value_of_a_rare_option_is_not_taken_for_the_program(family: Family, option: str) -> None:
    assert option_length(family, [option, "value", "program"]) == 2
