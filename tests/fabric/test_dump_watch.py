# SPDX-License-Identifier: BSD-3-Clause
"""When a fabric is dumped again, and what a dump makes of the folder of the one before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from isochrone.errors import IsochroneError
from isochrone.fabric.dump import SubnetManagerLog, dump, watch
from isochrone.fabric.folder import read_fabric
from isochrone.files.fabric import MANIFEST, read_manifest

NET = """Switch 2 "S-0000000000000001" # "leaf" enhanced port 0 lid 1 lmc 0
[1] "H-0000000000000010"[1](11) # "n0 HCA-1" lid 2 4xSDR
[2] "H-0000000000000020"[1](21) # "n1 HCA-1" lid 3 4xSDR

Ca 1 "H-0000000000000010" # "n0 HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf" lid 1 4xSDR

Ca 1 "H-0000000000000020" # "n1 HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf" lid 1 4xSDR
"""
LINKS = """Switch: 0x0000000000000001 leaf:
   1  1[  ] ==( 4X          2.5 Gbps Active/  LinkUp)==>   2   1[  ] "n0 HCA-1" ( )
   1  2[  ] ==( 4X          2.5 Gbps Active/  LinkUp)==>   3   1[  ] "n1 HCA-1" ( )
"""
TABLES = """Unicast lids [0x0-0x3] of switch Lid 1 guid 0x0000000000000001 (leaf):
0x0002 001 : (Channel Adapter portguid 0x0000000000000011: 'n0 HCA-1')
0x0003 002 : (Channel Adapter portguid 0x0000000000000021: 'n1 HCA-1')
3 valid lids dumped
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that print a fabric of two hosts."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in (("ibnetdiscover", NET), ("iblinkinfo", LINKS), ("dump_fts", TABLES)):
        (folder / f"{name}.txt").write_text(text)
        (folder / name).write_text(f"#!/bin/sh\ncat {folder}/{name}.txt\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_a_dump_that_a_tool_could_not_read_whole_is_not_settled(
    tools: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole, fabric = dump(tmp_path / "whole", 10)
    assert whole.settled
    said = "dump_fts: iberror: failed: SubnGet(LFT) failed on switch 'leaf' Lid 1"
    script = (tools / "dump_fts").read_text() + f'echo "{said}" >&2\n'
    (tools / "dump_fts").write_text(script)
    part, fabric = dump(tmp_path / "part", 10)
    assert not part.settled
    assert any("SubnGet(LFT) failed on switch" in line for line in fabric.remarks)
    assert any("reading it again" in line for line in caplog.messages)


def watched(log: Path, results: list[bool], settled: bool, when: Callable[[int], None]) -> int:
    """How often a dump was made, with these results, until there are no more; `when` is told of each."""
    stopped, dumps = Event(), 0

    def redump() -> bool:
        nonlocal dumps
        result = results[dumps]
        dumps += 1
        when(dumps)
        if dumps == len(results):
            stopped.set()
        return result

    watch(SubnetManagerLog(log), redump, stopped, settled, again_s=0.01)
    return dumps


def test_a_dump_that_failed_or_did_not_settle_is_made_again_though_nothing_changes_any_more(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    log.write_text("")
    assert watched(log, [False, False, True], settled=False, when=lambda _: None) == 3


def test_a_dump_that_settled_is_made_again_after_a_change_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("")
    manager, stopped, dumps = SubnetManagerLog(log), Event(), []
    with log.open("a") as file:
        file.write("SUBNET UP\n")

    class Soon(Event):
        """Stopped when it was looked at some times."""

        looks = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.looks += 1
            return self.looks > 20

    def redump() -> bool:
        dumps.append(stopped)
        return True

    watch(manager, redump, Soon(), settled=True, again_s=0)
    assert len(dumps) == 1


def test_a_damaged_manifest_is_replaced(
    tools: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "dumps"
    first, _ = dump(folder, 10)
    assert first.generation == 1
    (folder / MANIFEST).write_text("{")
    again, _ = dump(folder, 10)
    assert again.generation == 2
    assert "it is replaced" in caplog.text
    assert read_manifest(folder) == again
    assert set(read_fabric(folder).hosts) == {"n0", "n1"}
    assert {file.name for file in folder.iterdir()} >= set(again.files)


def test_nobody_waits_for_tools_when_one_fails_or_the_dump_is_stopped(tools: Path, tmp_path: Path) -> None:
    (tools / "dump_fts").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 600 & wait\n")
    begin = time.monotonic()
    (tools / "iblinkinfo").write_text(
        f"#!/bin/sh\nwhile [ ! -s {tmp_path}/pid ]; do sleep 0.01; done\nexit 3\n"
    )
    with pytest.raises(IsochroneError, match="iblinkinfo: ends with 3"):
        dump(tmp_path / "dumps", 300)
    (tmp_path / "pid").unlink()
    words = ["fabric", "dump", str(tmp_path / "dumps"), "--timeout", "300"]
    command = [sys.executable, "-m", "isochrone", *words]
    (tools / "iblinkinfo").write_text(f"#!/bin/sh\ncat {tools}/iblinkinfo.txt\n")
    stopped = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    stopped.send_signal(signal.SIGTERM)
    stopped.communicate(timeout=100)
    assert stopped.returncode == 128 + signal.SIGTERM
    # Both times a tool was still at work for ten minutes.
    assert time.monotonic() - begin < 200
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_changed_while_it_was_dumped_is_remarked(tools: Path, tmp_path: Path) -> None:
    manifest, _ = dump(tmp_path / "dumps", 10, changed=lambda: True)
    assert not manifest.settled
    assert "changed while it was dumped" in "\n".join(read_fabric(tmp_path / "dumps").remarks)
