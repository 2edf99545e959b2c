# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's own reader of the switches that a fabric is exported as."""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fat_trees import mixed, three_level
from served import eventually

from isochrone.lab import slurm

pytestmark = pytest.mark.long

_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_CONF = """\
ClusterName=fabric
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
CommunicationParameters=NoCtldInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldPidFile={folder}/slurmctld.pid
StateSaveLocation={folder}/state
TopologyPlugin=topology/tree
NodeName=node-[000-007]-[000-003] NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for a controller of Slurm, which is ended afterwards."""
    slurm.install_slurm()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tmp_path.chmod(0o700)
    (tmp_path / "state").mkdir()
    (tmp_path / "slurm.conf").write_text(_CONF.format(folder=tmp_path, port=port))
    key = tmp_path / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    yield tmp_path
    for name in ("slurmctld.pid", "munge.pid"):
        if (tmp_path / name).exists():
            os.kill(int((tmp_path / name).read_text()), signal.SIGKILL)


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_slurm_reads_the_switches_and_their_speeds(folder: Path) -> None:
    dumps = three_level(4, 2, 4, 2, 2, mixed).dump(folder / "dumps")
    command = [sys.executable, "-m", "isochrone", "fabric", "export", str(dumps), "topology.conf"]
    conf = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (folder / "topology.conf").write_text(conf)
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    assert _run(folder, "munged", "--force", f"--socket={folder}/munge.socket", *munge).returncode == 0
    assert _run(folder, "slurmctld").returncode == 0
    eventually(lambda: _run(folder, "scontrol", "show", "topology").returncode == 0)
    shown = _run(folder, "scontrol", "show", "topology").stdout
    found = re.findall(r"SwitchName=(\S+) Level=(\d+) LinkSpeed=(\d+) Nodes=(\S+)", shown)
    assert {name: int(speed) for name, _, speed, _ in found} == {
        name: int(speed) for name, speed in re.findall(r"SwitchName=(\S+) .*LinkSpeed=(\d+)", conf)
    }
    assert sorted(int(level) for _, level, _, _ in found) == [0] * 8 + [1] * 4 + [2]
    assert {nodes for _, level, _, nodes in found if level == "0"} == {
        f"node-{leaf:03d}-[000-003]" for leaf in range(8)
    }
    log = (folder / "slurmctld.log").read_text()
    assert not re.search("error.*[Tt]opolog|WARNING.*switch", log), log
