# SPDX-License-Identifier: BSD-3-Clause
"""The MPI part is built once for each library, and the programs in it run under its launcher."""

from __future__ import annotations

import contextlib
import logging
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import isochrone.launch.build as build
from isochrone.errors import IsochroneError, UsageError
from isochrone.launch.launcher import core_count
from isochrone.launch.library import identify
from isochrone.launch.target import LocalTarget

DEBIAN = {"Open MPI": "openmpi", "MPICH": "mpich"}


def _library(vendor: str) -> build.MpiLibrary:
    return identify(Path(str(shutil.which(f"mpicc.{DEBIAN[vendor]}"))), "PATH")


def _add_script(native: Path) -> str:
    """What adds the library of a wrapper with another native part: an isochrone of its own, since a process
    that has threads, as a run of tests may, cannot be forked safely.
    """
    return (
        "import sys\nfrom pathlib import Path\nimport isochrone.launch.build as build\n"
        "from isochrone.cli.main import main\n"
        f"build.native_source_folder = lambda: Path({str(native)!r})\n"
        "sys.exit(main(['mpi', 'add', sys.argv[1]]))\n"
    )


def test_the_native_sources_of_this_tree_are_found() -> None:
    assert (build.native_source_folder() / "core").is_dir()


def test_a_target_builds_its_program_once_and_runs_it_on_every_rank(
    vendor: str, tiny_native: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    target = LocalTarget([f"mpiexec.{DEBIAN[vendor]}", "-n", "1"])
    for name in ("first", "second"):
        target.run("isochrone-probe", [str(tmp_path / name)])
        assert (tmp_path / name).read_text(encoding="utf-8") == "1"
    assert [record.message.split(",")[0] for record in caplog.records] == [
        f"building the MPI part for {target.library.title}"
    ]


def test_ranks_that_share_cores_leave_them_to_others_while_they_wait(
    vendor: str, tiny_native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = str(core_count() + 1)
    for others, joined in (("", ""), ("libm.so.6", "libm.so.6:")):
        monkeypatch.setenv("LD_PRELOAD", others)
        target = LocalTarget([f"mpiexec.{DEBIAN[vendor]}", "-n", ranks])
        target.run("isochrone-probe", [str(tmp_path / "said")])
        # Open MPI's do so by a setting of its own.
        idle = f"{joined}{build.build_for(target.library).idle}" if vendor == "MPICH" else others
        assert (tmp_path / "said").read_text(encoding="utf-8") == ranks + idle


def test_changed_sources_are_built_again(vendor: str, tiny_native: Path) -> None:
    before = build.build_for(_library(vendor))
    probe = tiny_native / "core" / "probe.c"
    probe.write_text(probe.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = build.build_for(_library(vendor))
    assert before.folder != after.folder
    assert before.folder.is_dir()


def test_two_that_ask_at_once_get_one_build(vendor: str, tiny_native: Path) -> None:
    command = [sys.executable, "-c", _add_script(tiny_native), _library(vendor).mpicc]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    folder = build.build_for(_library(vendor)).folder
    left = {path.name for path in folder.parent.iterdir()}
    assert left == {folder.name, f"{folder.name[:-17]}.lock"}


def test_a_failed_build_is_one_line_with_the_compilers_error_and_leaves_nothing_behind(
    vendor: str, tiny_native: Path
) -> None:
    (tiny_native / "core" / "probe.c").write_text("int main(void) { return undeclared; }\n", encoding="utf-8")
    with pytest.raises(IsochroneError, match=r"failed: .*undeclared.*see .*\.log") as caught:
        build.build_for(_library(vendor))
    assert "\n" not in str(caught.value)
    with pytest.raises(IsochroneError, match="undeclared"):
        build.build_for(_library(vendor))


def test_without_a_cpp_compiler_the_line_says_what_to_install(
    vendor: str, tiny_native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = _library(vendor)
    lists = tiny_native / "CMakeLists.txt"
    lists.write_text(
        lists.read_text(encoding="utf-8").replace("LANGUAGES C", "LANGUAGES CXX"), encoding="utf-8"
    )
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cmake", "ninja", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(
        IsochroneError,
        match=r"failed: no C\+\+ compiler was found; install one, such as g\+\+, or see .*\.log$",
    ):
        build.build_for(library)


def test_what_cmake_complains_of_is_its_first_sentence(vendor: str, tiny_native: Path) -> None:
    lists = tiny_native / "CMakeLists.txt"
    lists.write_text(
        'message(FATAL_ERROR "The library\n  tiny\nis not here. Look elsewhere.")\n', encoding="utf-8"
    )
    with pytest.raises(IsochroneError, match=r"failed: The library tiny is not here\.; see "):
        build.build_for(_library(vendor))


def test_progress_is_the_steps_of_the_build(
    vendor: str, tiny_native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[int, int]] = []

    @contextlib.contextmanager
    def part(title: str, share: float) -> Iterator[Callable[[int, int], None]]:
        assert title == "building"
        yield lambda done, total: steps.append((done, total))

    monkeypatch.setattr("isochrone.launch.cached.part", part)
    build.build_for(_library(vendor))
    # Three sources, compiled and linked.
    assert steps == [(step, 6) for step in range(1, 7)]


_SLOW = """\
cmake_minimum_required(VERSION 3.24)
project(slow LANGUAGES NONE)
add_custom_target(slow ALL COMMAND sh ${CMAKE_SOURCE_DIR}/core/slow.sh)
"""


@pytest.fixture
def building(
    tiny_native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Another isochrone in the middle of a build that takes long, and the process that it waits for."""
    started = tmp_path / "started"
    lists = tiny_native / "CMakeLists.txt"
    quick = lists.read_text(encoding="utf-8")
    lists.write_text(_SLOW, encoding="utf-8")
    slow = tiny_native / "core" / "slow.sh"
    slow.write_text(f"echo $$ > {started}\nsleep 300\n", encoding="utf-8")
    command = [sys.executable, "-c", _add_script(tiny_native), _library("MPICH").mpicc]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (started.exists() and started.read_text(encoding="utf-8").strip()):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        lists.write_text(quick, encoding="utf-8")
        yield process, int(started.read_text(encoding="utf-8"))
        process.kill()


def _ends(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("vendor", ["MPICH"], indirect=True)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_build_that_is_stopped_ends_its_compilers_and_leaves_nothing(
    vendor: str,
    building: tuple[subprocess.Popen[str], int],
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    process, compiler = building
    process.send_signal(number)
    assert process.wait(30) == code
    assert _ends(compiler)
    left = {path.suffix for path in (tmp_path / "cache" / "isochrone" / "native").iterdir()}
    assert left == {".lock", ".log"}


@pytest.mark.parametrize("vendor", ["MPICH"], indirect=True)
def test_what_a_killed_build_left_is_removed_by_the_next(
    vendor: str, building: tuple[subprocess.Popen[str], int], tmp_path: Path
) -> None:
    process, compiler = building
    process.kill()
    process.wait(30)
    assert _ends(compiler)
    folder = tmp_path / "cache" / "isochrone" / "native"
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1
    built = build.build_for(_library(vendor))
    assert [path for path in folder.iterdir() if path.is_dir()] == [built.folder]


def test_a_program_that_fails_is_one_line_with_its_own_words(
    vendor: str, tiny_native: Path, tmp_path: Path
) -> None:
    (tiny_native / "core" / "probe.c").write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize();\n"
        '    fprintf(stderr, "isochrone-probe: the file is of another machine\\nnoise\\n"); return 2; }\n',
        encoding="utf-8",
    )
    with pytest.raises(
        IsochroneError, match=r"isochrone-probe ended with .* 2: the file is of another machine$"
    ):
        LocalTarget([f"mpiexec.{DEBIAN[vendor]}", "-n", "2"]).run("isochrone-probe", [])


def test_a_target_refuses_a_launch_line_with_a_program(vendor: str) -> None:
    with pytest.raises(UsageError, match=r"\./app"):
        LocalTarget([f"mpiexec.{DEBIAN[vendor]}", "-n", "2", "./app"])


@pytest.mark.parametrize("name", ["my cache", "a:b", "a\tb"])
def test_a_path_that_cannot_be_preloaded_is_refused(name: str) -> None:
    with pytest.raises(IsochroneError, match=r"blanks or ':'.*XDG_CACHE_HOME"):
        build.behind("libm.so.6", Path("/home") / name / "libisochrone_idle.so")
