# SPDX-License-Identifier: BSD-3-Clause
"""The MPI part is built once for each library, and the programs in it run under its launcher."""

from __future__ import annotations

import logging
import multiprocessing
import shutil
from pathlib import Path

import pytest

import isochrone.launch.build as build
from isochrone.errors import IsochroneError, UsageError
from isochrone.launch.library import identify
from isochrone.launch.target import LocalTarget

DEBIAN = {"Open MPI": "openmpi", "MPICH": "mpich"}


def _library(vendor: str) -> build.MpiLibrary:
    return identify(Path(str(shutil.which(f"mpicc.{DEBIAN[vendor]}"))), "PATH")


def test_the_native_sources_of_this_tree_are_found() -> None:
    assert (build.native_source_folder() / "core").is_dir()


def test_a_target_builds_its_program_once_and_runs_it_on_every_rank(
    vendor: str, tiny_native: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    target = LocalTarget([f"mpiexec.{DEBIAN[vendor]}", "-n", "3"])
    for name in ("first", "second"):
        target.run("isochrone-probe", [str(tmp_path / name)])
        assert (tmp_path / name).read_text(encoding="utf-8") == "3"
    assert [record.message.split(",")[0] for record in caplog.records] == [
        f"building the MPI part for {target.library.title}"
    ]


def test_changed_sources_are_built_again(vendor: str, tiny_native: Path) -> None:
    before = build.build_for(_library(vendor))
    probe = tiny_native / "core" / "probe.c"
    probe.write_text(probe.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = build.build_for(_library(vendor))
    assert before.folder != after.folder
    assert before.folder.is_dir()


def test_two_that_ask_at_once_get_one_build(vendor: str, tiny_native: Path) -> None:
    library = _library(vendor)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        folders = pool.map(build.build_for, [library, library])
    assert folders[0] == folders[1]
    left = {path.name for path in folders[0].folder.parent.iterdir()}
    assert left == {folders[0].folder.name, f"{folders[0].folder.name}.lock"}


def test_a_failed_build_is_one_line_with_the_compilers_error_and_leaves_nothing_behind(
    vendor: str, tiny_native: Path
) -> None:
    (tiny_native / "core" / "probe.c").write_text("int main(void) { return undeclared; }\n", encoding="utf-8")
    with pytest.raises(IsochroneError, match=r"failed: .*undeclared.*see .*\.log") as caught:
        build.build_for(_library(vendor))
    assert "\n" not in str(caught.value)
    with pytest.raises(IsochroneError, match="undeclared"):
        build.build_for(_library(vendor))


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
