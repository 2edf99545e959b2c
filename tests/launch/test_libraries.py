# SPDX-License-Identifier: BSD-3-Clause
"""The MPI library that belongs to a launcher is found, and libraries can be added and removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError, UsageError
from isochrone.launch import discover as discovery
from isochrone.launch import registry, wheels
from isochrone.launch.launcher import read_launch_line
from isochrone.launch.library import MpiLibrary, identify, normal_abi, parse_version
from isochrone.launch.registry import (
    add_library,
    added_libraries,
    all_libraries,
    library_of,
    registry_file,
    remove_library,
)

DEBIAN = {"Open MPI": "openmpi", "MPICH": "mpich"}
ABIS = {"Open MPI": "libmpi.so.40", "MPICH": "libmpi.so.12"}


def _mpicc(vendor: str) -> Path:
    found = shutil.which(f"mpicc.{DEBIAN[vendor]}")
    assert found is not None
    return Path(found)


@pytest.mark.parametrize(
    ("text", "vendor_and_version"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", ("Open MPI", "4.1.4")),
        ("MPICH Version:\t4.0.2\nMPICH Release date:\t2022", ("MPICH", "4.0.2")),
        ("MPICH Version:      5.0.2", ("MPICH", "5.0.2")),
        ("Intel(R) MPI Library 2021.13 for Linux* OS", ("Intel MPI", "2021.13")),
        ("MVAPICH Version      : 3.0", ("MVAPICH", "3.0")),
        ("something else 1.0", None),
    ],
)
def test_vendor_and_version_are_read_from_what_the_library_says(
    text: str, vendor_and_version: tuple[str, str] | None
) -> None:
    assert parse_version(text) == vendor_and_version


def test_the_name_that_debian_gives_to_mpichs_library_is_the_same_abi() -> None:
    assert normal_abi("libmpich.so.12") == "libmpi.so.12"
    assert normal_abi("libmpi.so.40") == "libmpi.so.40"


def test_a_launcher_leads_to_its_own_library_however_it_is_named(vendor: str) -> None:
    suffix = DEBIAN[vendor]
    paths = [shutil.which(f"{base}.{suffix}") for base in ("mpiexec", "mpirun")]
    for launcher in [path for path in paths if path]:
        for name in (launcher, os.path.realpath(launcher)):
            library = library_of(read_launch_line([name, "-n", "2"]))
            assert (library.vendor, library.abi) == (vendor, ABIS[vendor]), name
            assert library.launcher == name


def test_the_plain_mpiexec_leads_to_the_library_that_it_says_it_is_of(vendor: str) -> None:
    if shutil.which("mpiexec") is None:
        pytest.skip("there is no plain mpiexec")
    line = read_launch_line(["mpiexec", "-n", "2"])
    assert library_of(line).vendor == line.family.value.replace("Hydra", "MPICH")


def test_installed_libraries_are_discovered_once_each(vendor: str) -> None:
    libraries, broken = all_libraries()
    assert broken == []
    assert [library.vendor for library in libraries].count(vendor) == 1
    assert len({library.name for library in libraries}) == len(libraries)


def test_an_identity_is_remembered_until_the_wrapper_changes(
    vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.write_text(f'#!/bin/sh\nexec {_mpicc(vendor)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    first = identify(wrapper, "PATH")
    with monkeypatch.context() as without_compiler:
        without_compiler.setattr("isochrone.launch.library._ask", lambda mpicc: pytest.fail("asked again"))
        assert identify(wrapper, "PATH") == first
    wrapper.write_text("#!/bin/sh\necho it is broken: error 7 >&2\nexit 1\n", encoding="utf-8")
    with pytest.raises(IsochroneError, match="does not compile: it is broken: error 7"):
        identify(wrapper, "PATH")


def test_a_wrapper_without_its_compiler_names_it_and_what_to_install(
    vendor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper, launcher = (shutil.which(f"{name}.{DEBIAN[vendor]}") for name in ("mpicc", "mpiexec"))
    # What the wrapper itself needs, where it is a script.
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "sed", "grep", "uname", "expr", "dirname", "basename"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    said = rf"the compiler \S*gcc\S*, which {wrapper} calls, is missing; install \S*gcc\S*, and one for C\+\+"
    with pytest.raises(IsochroneError, match=f"^{said} such as g\\+\\+$"):
        identify(Path(str(wrapper)), "PATH")
    with pytest.raises(IsochroneError, match=f"^{launcher}: {said} such as g\\+\\+$"):
        library_of(read_launch_line([str(launcher), "-n", "2"]))


def test_what_compiles_nothing_is_no_wrapper() -> None:
    true = Path(str(shutil.which("true")))
    with pytest.raises(IsochroneError, match=f"^{true}: compiles nothing; give the library's mpicc$"):
        identify(true, "PATH")


def test_what_a_wrapper_says_between_lines_of_dashes_is_one_sentence(tmp_path: Path) -> None:
    wrapper = tmp_path / "mpicc"
    wrapper.write_text(
        "#!/bin/sh\ncat <<'END'\n-----------\nThe wrapper has no licence\nfor C.\n-----------\nEND\nexit 1\n",
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    with pytest.raises(IsochroneError, match=r"does not compile: The wrapper has no licence for C\.$"):
        identify(wrapper, "PATH")


def test_a_launcher_without_a_compiler_wrapper_is_said_in_one_line(
    launcher: Callable[[str, str], Path],
) -> None:
    launcher("hydra", "mpiexec")
    with pytest.raises(IsochroneError, match="no mpicc that belongs to this Hydra launcher"):
        library_of(read_launch_line(["mpiexec", "-n", "2"]))


def test_an_added_library_serves_its_launcher_without_a_compiler(
    vendor: str, launcher: Callable[[str, str], Path]
) -> None:
    path = launcher("hydra", "mpiexec")
    added = add_library(_mpicc(vendor), name="mine", launcher=path)
    assert library_of(read_launch_line(["mpiexec", "-n", "2"])) == added
    assert all_libraries()[0][0].name == "mine"
    assert remove_library("mine") == added
    assert added_libraries() == []


def test_srun_uses_the_only_library_that_was_added(vendor: str, launcher: Callable[[str, str], Path]) -> None:
    launcher("slurm", "srun")
    added = add_library(_mpicc(vendor))
    assert library_of(read_launch_line(["srun", "-n", "2"])) == added


def test_the_user_can_name_the_library(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOCHRONE_MPI", str(_mpicc(vendor)))
    launcher = shutil.which("mpiexec.openmpi") or shutil.which("mpiexec.mpich")
    assert library_of(read_launch_line([str(launcher), "-n", "2"])).vendor == vendor
    monkeypatch.setenv("ISOCHRONE_MPI", "no-such-library")
    with pytest.raises(UsageError, match="no-such-library"):
        library_of(read_launch_line([str(launcher), "-n", "2"]))


def test_removing_what_was_never_added_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="'ghost'"):
        remove_library("ghost")


def test_two_libraries_of_one_name_are_refused(vendor: str, tmp_path: Path) -> None:
    add_library(_mpicc(vendor), name="mine")
    other = tmp_path / "mpicc"
    other.write_text(f'#!/bin/sh\nexec {_mpicc(vendor)} "$@"\n', encoding="utf-8")
    other.chmod(0o755)
    with pytest.raises(UsageError, match="added before"):
        add_library(other, name="mine")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"isochrone": "mpi-libraries", "schema_version": 2, "libraries": []}',
        '{"isochrone": "mpi-libraries", "schema_version": 1, "libraries": 3}',
        '{"isochrone": "mpi-libraries", "schema_version": 1, "libraries": [{"name": 1}]}',
    ],
)
def test_a_damaged_list_of_libraries_is_one_line_with_the_files_name(content: str) -> None:
    registry_file().parent.mkdir(parents=True)
    registry_file().write_text(content, encoding="utf-8")
    with pytest.raises(IsochroneError, match=r"mpi\.json"):
        added_libraries()


def test_a_library_survives_being_written_and_read() -> None:
    library = MpiLibrary("n", "MPICH", "4.0.2", "libmpi.so.12", "/l", "/c", None, "added")
    assert MpiLibrary.from_json(library.to_json(), "here") == library


def test_intel_mpi_opens_its_own_libfabric_before_that_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libmpi_ilp64.so").touch()
    library = MpiLibrary(
        "intel", "Intel MPI", "2021.18", "libmpi.so.12", "", str(tmp_path / "bin/mpicc"), None, ""
    )
    for name in ("I_MPI_ROOT", "FI_PROVIDER_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert library.environment == {
        "I_MPI_ROOT": str(tmp_path),
        "FI_PROVIDER_PATH": str(folder),
        "LD_LIBRARY_PATH": str(folder),
    }
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/the/user")
    assert library.environment["LD_LIBRARY_PATH"] == f"{folder}{os.pathsep}/of/the/user"
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/of/the/user{os.pathsep}{folder}")
    assert "LD_LIBRARY_PATH" not in library.environment


def _library(folder: Path, name: str) -> MpiLibrary:
    mpicc = folder / name
    mpicc.write_text("#!/bin/sh\n", encoding="utf-8")
    mpicc.chmod(0o755)
    return MpiLibrary(name, "MPICH", "4.0.2", "libmpi.so.12", str(folder / "lib"), str(mpicc), None, "added")


def test_of_two_that_add_a_library_at_once_neither_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {library.mpicc: library for library in (_library(tmp_path, "one"), _library(tmp_path, "two"))}
    monkeypatch.setattr(registry, "identify", lambda mpicc, *_: made[str(mpicc)])
    monkeypatch.setattr(registry, "launcher_beside", lambda _: None)
    # Both have read the list before either writes it, unless one waits for the other.
    both = threading.Barrier(2)
    read = registry.added_libraries

    def read_together() -> list[MpiLibrary]:
        libraries = read()
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return libraries

    monkeypatch.setattr(registry, "added_libraries", read_together)
    threads = [threading.Thread(target=add_library, args=(Path(mpicc),)) for mpicc in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {library.name for library in read()} == {"one", "two"}


def test_a_list_that_is_nested_too_deeply_is_damaged() -> None:
    registry_file().parent.mkdir(parents=True)
    registry_file().write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(IsochroneError, match="cannot be read"):
        added_libraries()


def test_an_entry_of_the_path_that_cannot_be_looked_into_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mpicc").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "mpicc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / ('x' * 300)}:{tmp_path}")
    assert (tmp_path / "mpicc", "PATH") in list(discovery._all_wrappers())


def test_a_launcher_of_simulated_programs_says_how_to_simulate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smpirun = tmp_path / "smpirun"
    smpirun.write_text("#!/bin/sh\necho SimGrid version 3.32\n", encoding="utf-8")
    smpirun.chmod(0o755)
    with pytest.raises(UsageError, match=r"simulated programs.*--sim"):
        library_of(read_launch_line([str(smpirun), "-np", "4"]))


def test_of_two_that_install_a_library_at_once_one_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Path] = []
    # What one that was killed has left.
    (tmp_path / "cache" / "isochrone" / "mpi" / "mpich.abcdefgh").mkdir(parents=True)
    both = threading.Barrier(2)

    def installed(name: str, folder: Path, prefix: Path) -> None:
        calls.append(prefix)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        (prefix / "bin").mkdir()
        (prefix / "bin" / "mpicc").write_text(f"{len(calls)}", encoding="utf-8")

    monkeypatch.setattr(wheels, "_install", installed)
    threads = [threading.Thread(target=wheels.install, args=("mpich",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert {path.name for path in (tmp_path / "cache" / "isochrone" / "mpi").iterdir()} == {
        "mpich",
        "mpich.lock",
    }
