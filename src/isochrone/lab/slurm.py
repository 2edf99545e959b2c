# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on a lab: a controller on the first host, a daemon on each, and jobs whose messages go over the
lab's network.

All of it runs in the lab and keeps its files in the lab's folder: it ends with the lab, and knows nothing of
a Slurm of the machine's own.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.export.slurm import host_list, switches_of, topology_conf
from isochrone.files.topology import Topology
from isochrone.lab.labs import Lab
from isochrone.lab.launch import network_variables
from isochrone.launch.build import behind, build_for
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT, core_count
from isochrone.launch.library import MpiLibrary

_PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge"}
"""Debian's package of each program."""
_PMI = "libpmi2-0"
_FIND = "/usr/sbin:/sbin:/usr/bin:/bin"
_TIMEOUT_S = 60
_CONF = """\
ClusterName=lab
SlurmctldHost={first}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
MailProg=/bin/true
MpiDefault=pmi2
ProctrackType=proctrack/linuxproc
PropagateResourceLimits=NONE
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdParameters=config_overrides
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
TaskPlugin=task/none
TaskProlog={folder}/prolog
TopologyPlugin={topology}
NodeName={hosts} CPUs={cpus} State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# slurmd asks for control groups even where nothing uses them.
_CGROUP_CONF = """\
CgroupPlugin=cgroup/v1
CgroupAutomount=no
IgnoreSystemd=yes
IgnoreSystemdOnFailure=yes
"""


def install_slurm() -> None:
    """Installs Debian's packages of Slurm and MUNGE, where some are missing.

    Raises:
        IsochroneError: there is no apt-get, or it fails.
    """
    packages = missing_packages()
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise IsochroneError("apt-get is missing", todo=f"install {' '.join(packages)} in your system's way")
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            ["apt-get", "--quiet", "--quiet", *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[0]
            raise IsochroneError(f"apt-get {words[0]} fails: {said}")


def missing_packages() -> list[str]:
    """Debian's packages of what Slurm on a lab needs and this machine has not."""
    missing = [package for program, package in _PACKAGES.items() if shutil.which(program, path=_FIND) is None]
    return missing + ([] if _pmi_library() is not None else [_PMI])


def up(lab: Lab, library: MpiLibrary, cpus: int, topology: Topology | None) -> None:
    """Starts Slurm on a lab, or starts it anew.

    Args:
        lab: that is up.
        library: whose jobs go over the lab's network.
        cpus: of each host, and so its ranks.
        topology: of the lab as it was detected, for Slurm to place jobs by; None for a flat one.

    Raises:
        IsochroneError: Slurm is not installed, the topology is of other hosts, or a daemon does not start.
    """
    if lab.rootless:
        raise IsochroneError("Slurm's daemons run as root only", todo="bring the lab up as root")
    missing = missing_packages()
    if missing:
        raise IsochroneError(
            f"Slurm is not installed: {' '.join(missing)} missing",
            todo="add --install, or install the packages yourself",
        )
    if topology is not None:
        _check_hosts(lab, topology)
    down(lab)
    folder = _folder(lab)
    folder.mkdir(mode=0o700)
    try:
        _write_files(lab, library, cpus, topology)
        hosts = lab.network.host_names
        munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        # By force, as its socket is not for everyone: the lab's folder is ours alone.
        _start(lab, hosts[0], ["munged", "--force", f"--socket={folder}/munge.socket", *munge])
        _start(lab, hosts[0], ["slurmctld"])
        for host in hosts:
            _start(lab, host, ["slurmd"])
        _wait_until_idle(lab)
    except BaseException:
        down(lab)
        raise


def down(lab: Lab) -> bool:
    """Ends Slurm on a lab and removes its files; says whether there was one."""
    folder = _folder(lab)
    if not folder.is_dir():
        return False
    processes = [path.read_text(encoding="ascii").strip() for path in folder.glob("*.pid")]
    if processes:
        # They are numbered as in the lab, where nothing of the machine's own can be hit.
        _run(lab, lab.network.host_names[0], ["kill", "-KILL", *processes])
    shutil.rmtree(folder)
    return True


def _folder(lab: Lab) -> Path:
    return lab.folder / "slurm"


def _pmi_library() -> Path | None:
    return next(iter(sorted(Path("/usr/lib").glob("*/libpmi2.so.0"))), None)


def _check_hosts(lab: Lab, topology: Topology) -> None:
    ours, theirs = set(lab.network.host_names), {place.host for place in topology.places}
    if ours != theirs:
        other = min(ours ^ theirs)
        where = "has no host" if other in theirs else "is not all in the topology: it lacks"
        raise IsochroneError(
            f"the lab {lab.name!r} {where} {other}", "--topology", "survey this lab with ranks on every host"
        )


def _write_files(lab: Lab, library: MpiLibrary, cpus: int, topology: Topology | None) -> None:
    folder, hosts = _folder(lab), lab.network.host_names
    files = {
        "slurm.conf": _CONF.format(
            folder=folder,
            first=hosts[0],
            hosts=host_list(hosts),
            cpus=cpus,
            topology="topology/none" if topology is None else "topology/tree",
        ),
        "cgroup.conf": _CGROUP_CONF,
        "prolog": _prolog(library, idle_wait=cpus * len(hosts) > core_count()),
    }
    if topology is not None:
        files["topology.conf"] = topology_conf(switches_of(topology))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "prolog").chmod(0o700)
    (folder / "state").mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))


def _prolog(library: MpiLibrary, idle_wait: bool) -> str:
    """What Slurm runs before each task: it prints the variables that the task is given beside its own."""
    variables = {**library.environment, **network_variables(library)}
    if library.vendor == "Intel MPI":
        variables["I_MPI_PMI_LIBRARY"] = str(_pmi_library())
    if library.vendor == "Open MPI":
        variables |= OPEN_MPI_AS_ROOT
    # Not echo, which reads backslashes in some shells.
    lines = [f"printf '%s\\n' {shlex.quote(f'export {name}={value}')}" for name, value in variables.items()]
    if idle_wait:
        idle = shlex.quote(behind("", build_for(library).idle))
        # Steps of a batch job have it from the job.
        lines.append(f'case ":$LD_PRELOAD:" in *:{idle}:*) ;; *)')
        lines.append(f"printf '%s\\n' \"export LD_PRELOAD=${{LD_PRELOAD:+$LD_PRELOAD:}}\"{idle} ;; esac")
    return "\n".join(["#!/bin/sh", *lines, ""])


def _start(lab: Lab, host: str, words: Sequence[str]) -> None:
    """Runs a daemon, which is ready when it goes into the background."""
    done = _run(lab, host, words)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or _last_line(lab, words[0])).splitlines()
        raise IsochroneError(f"{words[0]} does not start on {host}: {said[-1] if said else 'no message'}")


def _last_line(lab: Lab, program: str) -> str:
    """Of a daemon's own log."""
    logs = sorted(_folder(lab).glob(f"{program}*.log"), key=lambda path: path.stat().st_mtime)
    lines = logs[-1].read_text(encoding="utf-8", errors="replace").splitlines() if logs else []
    return lines[-1] if lines else ""


def _wait_until_idle(lab: Lab) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    states: Mapping[str, str] = {}
    while time.monotonic() < deadline:
        done = _run(lab, lab.network.host_names[0], ["sinfo", "--noheader", "--Node", "--format=%N %T"])
        states = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
        if set(states) == set(lab.network.host_names) and set(states.values()) == {"idle"}:
            return
        time.sleep(0.2)
    bad = ", ".join(f"{host} is {state}" for host, state in states.items() if state != "idle")
    raise IsochroneError(f"Slurm's hosts do not get ready: {bad or _last_line(lab, 'slurmctld')}")


def _run(lab: Lab, host: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            lab.command(host, words),
            env=os.environ | {"PATH": f"{os.environ.get('PATH', '')}:{_FIND}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise IsochroneError(f"{words[0]} does not come to an end", host) from None
