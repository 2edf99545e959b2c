# SPDX-License-Identifier: BSD-3-Clause
"""Labs start and end, and nothing of them stays."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.lab import labs
from isochrone.lab import start as starting
from isochrone.lab.labs import Lab, find_lab
from isochrone.lab.network import Network


def keep_labs_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (labs, starting):
        monkeypatch.setattr(module, "labs_folder", lambda: folder)


def start(network: Network, name: str) -> Lab:
    try:
        return starting.up(network, name)
    except IsochroneError as error:
        if os.environ.get("CI") == "true" or "is up already" in str(error):
            raise
        pytest.skip(str(error))


def processes_of(lab: Lab) -> list[int]:
    """All processes in a lab's namespace, as seen from here."""
    namespace = Path(f"/proc/{lab.process}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and (entry / "ns" / "pid").readlink() == namespace:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def name_of(process: int) -> str | None:
    """Of the program that it runs; None where it has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return None


def is_alive(process: int) -> bool:
    """Whether it runs; one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def test_a_second_lab_of_one_name_says_what_is_in_the_way(small: Network, name: str) -> None:
    first = start(small, name)
    with pytest.raises(IsochroneError, match=f"the lab '{name}' is up already; isochrone lab down {name}"):
        starting.up(small, name)
    assert find_lab(name) == first


@pytest.mark.parametrize("wrong", ["../other", "/tmp/other", "", "a b", "x" * 60, "."])
def test_a_name_that_is_a_path_is_refused_and_nothing_is_removed(
    small: Network, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_labs_in(tmp_path / "isochrone" / "labs", monkeypatch)
    kept = tmp_path / "isochrone" / "other" / "file"
    kept.parent.mkdir(parents=True)
    (tmp_path / "isochrone" / "labs").mkdir()
    kept.touch()
    assert find_lab(wrong) is None
    assert not starting.remove_traces(wrong)
    if wrong:  # none is the network's own
        with pytest.raises(UsageError, match="is no name for a lab"):
            starting.up(small, wrong)
    assert kept.exists()


def test_a_folder_that_others_may_write_to_is_not_trusted(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "labs"
    folder.mkdir()
    folder.chmod(0o777)
    keep_labs_in(folder, monkeypatch)
    with pytest.raises(IsochroneError, match="is not ours alone"):
        starting.up(small)
    assert list(folder.iterdir()) == []


def test_a_lab_that_cannot_start_leaves_nothing(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_labs_in(tmp_path / "isochrone" / "labs", monkeypatch)
    program = tmp_path / "isochrone-lab"
    program.write_text("#!/bin/sh\necho 'isochrone-lab: h0: /dev/net/tun cannot be opened: No' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(starting, "lab_program", lambda: program)
    with pytest.raises(
        IsochroneError, match=r"/dev/net/tun cannot be opened: No; a lab needs the kernel's TUN"
    ):
        starting.up(small)
    assert not (tmp_path / "isochrone" / "labs" / "small").exists()


def test_down_ends_all_that_runs_and_leaves_nothing(small: Network, name: str) -> None:
    lab = start(small, name)
    # One that ignores requests to end, and is nobody's child.
    script = "trap '' TERM HUP INT; setsid sleep 1000 & sleep 1000"
    inside = subprocess.Popen(lab.command("h2", ["sh", "-c", script]))
    deadline = time.monotonic() + 20
    while len(processes_of(lab)) < 9 and time.monotonic() < deadline:
        time.sleep(0.05)
    processes = processes_of(lab)
    assert len(processes) >= 9  # the lab, five hosts, the shell and two sleepers
    starting.down(lab)
    inside.wait(20)
    assert find_lab(name) is None
    assert not lab.folder.exists()
    deadline = time.monotonic() + 20
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [process for process in processes if is_alive(process)]


def test_ending_a_lab_that_is_not_up_says_which_are_and_nothing_of_starting_one(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["down", "nosuch"], ["slurm", "down", "nosuch"]):
        assert main(["lab", *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("isochrone: no lab 'nosuch' is up; up are: ")
        assert lab.name in said
        assert "start" not in said
    keep_labs_in(tmp_path, monkeypatch)
    assert main(["lab", "down", "nosuch"]) == 2
    assert capsys.readouterr().err == "isochrone: no lab 'nosuch' is up; nor is any other\n"
    assert main(["lab", "down"]) == 2
    assert capsys.readouterr().err == "isochrone: no lab is up\n"
    assert main(["lab", "status", "nosuch"]) == 2
    assert "isochrone lab up" in capsys.readouterr().err


def test_after_a_crash_the_name_is_free_again(small: Network, name: str) -> None:
    lab = start(small, name)
    os.kill(lab.process, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while find_lab(name) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert find_lab(name) is None
    again = start(small, name)
    assert again.process != lab.process


def test_a_temporary_lab_ends_with_whoever_started_it(small: Network, tmp_path: Path, lab: Lab) -> None:
    description = tmp_path / "network.json"
    description.write_text(json.dumps(small.to_json()), encoding="utf-8")
    script = (
        "import json, sys, time\n"
        "from isochrone.lab.start import temporary_lab\n"
        "from isochrone.lab.network import Network\n"
        "network = Network.from_json(json.load(open(sys.argv[1])))\n"
        "with temporary_lab(network) as lab:\n"
        "    print(lab.process, lab.name, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    names = []
    for _ in range(2):
        starter = subprocess.Popen(
            [sys.executable, "-c", script, str(description)], stdout=subprocess.PIPE, text=True
        )
        assert starter.stdout is not None
        process, name = starter.stdout.readline().split()
        names.append(name)
        # What the one before had no time to remove is gone.
        left = [name for name in names if (labs.labs_folder() / name).exists()]
        assert left == [name]
        assert find_lab(lab.name) is not None
        starter.kill()
        starter.wait()
        deadline = time.monotonic() + 20
        while is_alive(int(process)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_alive(int(process))
    starting.remove_traces(name)


def test_a_temporary_lab_leaves_nothing_behind(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labs_of_test = tmp_path / "isochrone" / "labs"
    keep_labs_in(labs_of_test, monkeypatch)
    with starting.temporary_lab(small):
        assert list(labs_of_test.iterdir())
    assert list(labs_of_test.iterdir()) == []


def test_a_command_in_a_lab_ends_with_whoever_started_it(lab: Lab) -> None:
    before = set(processes_of(lab))
    starter = subprocess.Popen(lab.command("h0", ["sleep", "1000"]))
    deadline = time.monotonic() + 20
    # What is on its way to the host does not yet know whom to end with.
    while "sleep" not in map(name_of, set(processes_of(lab)) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(processes_of(lab)) - before
    starter.kill()
    starter.wait()
    while set(processes_of(lab)) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(processes_of(lab)) - before


def _fake_starter(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "isochrone-lab"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(starting, "lab_program", lambda: program)
    monkeypatch.setattr(starting, "_TIMEOUT_S", 0.2)


@pytest.mark.parametrize("stays", [False, True])
def test_a_lab_that_does_not_come_up_is_not_waited_for(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stays: bool
) -> None:
    keep_labs_in(tmp_path / "isochrone" / "labs", monkeypatch)
    _fake_starter(tmp_path, monkeypatch, f"sleep 2; touch {tmp_path}/late; echo up")
    way = starting.temporary_lab(small).__enter__ if stays else lambda: starting.up(small)
    with pytest.raises(IsochroneError, match="does not come up"):
        way()
    assert not (tmp_path / "late").exists()
    assert not list((tmp_path / "isochrone" / "labs").glob("small*"))


def test_a_lab_that_came_up_as_we_were_stopped_is_taken_down(
    small: Network, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Lab] = []
    whole = starting._starter

    def stopped_when_up(folder: Path, options: list[str]) -> subprocess.Popen[str]:
        starter = whole(folder, options)
        wait = starter.wait

        def stopped(timeout: float | None = None) -> int:
            wait(timeout)
            if not found:
                lab = find_lab(name)
                assert lab is not None
                found.append(lab)
                raise KeyboardInterrupt
            return 0

        monkeypatch.setattr(starter, "wait", stopped)
        return starter

    monkeypatch.setattr(starting, "_starter", stopped_when_up)
    with pytest.raises(KeyboardInterrupt):
        start(small, name)
    assert not is_alive(found[0].process)
    assert not found[0].folder.exists()


def test_a_lab_that_comes_up_while_its_traces_are_to_be_removed_keeps_its_files(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labs_of_test = tmp_path / "isochrone" / "labs"
    keep_labs_in(labs_of_test, monkeypatch)
    with starting._making(small, "small") as folder:
        lock = labs_of_test / ".small.lock"
        held = lock.stat().st_ino

    up: list[str] = []

    @contextlib.contextmanager
    def comes_up_first(path: Path) -> Iterator[None]:
        assert path == lock
        up.append("small")
        yield

    with monkeypatch.context() as patched:
        patched.setattr(starting, "locked", comes_up_first)
        patched.setattr(starting, "find_lab", lambda name: name if name in up else None)
        assert not starting.remove_traces("small")
    assert (folder / "description.json").is_file()
    assert starting.remove_traces("small")
    assert not folder.exists()
    # Who waits for the lock and who comes later hold one file.
    assert lock.stat().st_ino == held
