# SPDX-License-Identifier: BSD-3-Clause
"""A simulated InfiniBand subnet with a real subnet manager: ``ibsim`` and OpenSM, and tools that dump it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from libraries import missing

UMAD = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), Path("/nonexistent"))
_TOOLS = ("ibsim", "opensm", "ibnetdiscover", "iblinkinfo", "dump_fts", "ibroute", "ibtracert")
_WAIT_S = 120.0
_QUIET_S = 0.5


def tool(name: str) -> str:
    """The path of a tool; administrators' ones are not on everybody's path."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") or missing(name)


class Subnet:
    """A subnet that is up.

    Attributes:
        environment: what tools need to see it.
        log: of OpenSM.
        events: what its plugin writes.
    """

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.log = folder / "osm.log"
        self.events = folder / "events"

    def run(self, *command: str) -> str:
        """What a tool prints."""
        done = subprocess.run(
            [tool(command[0]), *command[1:]],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_WAIT_S,
            check=True,
        )
        return done.stdout

    def isochrone(self, *arguments: str) -> str:
        """What one of our own commands prints on this subnet."""
        command = [sys.executable, "-m", "isochrone", *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_WAIT_S,
            check=True,
        )
        return done.stdout

    @contextmanager
    def following(self, folder: Path, log: Path) -> Iterator[None]:
        """``isochrone fabric dump --watch`` runs meanwhile."""
        command = [sys.executable, "-m", "isochrone", "fabric", "dump", str(folder), "--watch", str(log)]
        with (self.folder / "dump.log").open("wb") as out:
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=out, stderr=out)
        try:
            wait_for(lambda: (folder / "fabric.json").exists() or _ended(process))
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(_WAIT_S)

    def cut(self, guid: int, port: int) -> None:
        """Takes the cable off a switch's port, and waits until the subnet manager has found other ways."""
        self._console(f'Unlink "S-{guid:016x}"[{port}]')

    def restore(self, guid: int, port: int) -> None:
        """Puts it back."""
        self._console(f'ReLink "S-{guid:016x}"[{port}]')

    def sweeps(self) -> int:
        """How often the subnet manager has finished its work."""
        return self.log.read_text(errors="replace").count("SUBNET UP") if self.log.exists() else 0

    def _console(self, line: str) -> None:
        before = self.sweeps()
        with (self.folder / "console").open("w") as console:
            console.write(line + "\n")
        wait_for(lambda: self.sweeps() > before)
        self.settle()

    def settle(self) -> None:
        """Waits until the subnet manager has been quiet for a while: traps of one change come one by one."""
        seen = (-1, 0.0)
        while seen[0] != self.log.stat().st_size or time.monotonic() - seen[1] < _QUIET_S:
            if seen[0] != self.log.stat().st_size:
                seen = (self.log.stat().st_size, time.monotonic())
            time.sleep(0.02)


def wait_for(holds: Callable[[], bool]) -> None:
    """Waits until something holds; fails if it never does."""
    end = time.monotonic() + _WAIT_S
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@contextmanager
def subnet(
    net: str, folder: Path, engine: str = "minhop", options: Sequence[str] = (), plugin: Path | None = None
) -> Iterator[Subnet]:
    """Starts a subnet of a net file's text, and ends all of it afterwards.

    Args:
        net: as ``ibnetdiscover`` prints it.
        folder: for logs, and for the folder sys-PID of each tool that ends badly; made if need be.
        engine: of OpenSM's routing.
        options: of OpenSM, more of them.
        plugin: of OpenSM, a shared library.
    """
    for name in _TOOLS:
        tool(name)
    if not UMAD.exists():
        missing("libumad2sim.so")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net").write_text(net)
    (folder / "console").unlink(missing_ok=True)
    os.mkfifo(folder / "console")
    environment = os.environ | {
        "LD_PRELOAD": str(UMAD),
        # Abstract sockets have no folder: their names keep subnets apart.
        "IBSIM_SOCKNAME": f"isochrone-{os.getpid()}-{folder.name}",
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
    }
    found = Subnet(folder, environment)
    conf = folder / "osm.conf"
    lines = ["force_log_flush TRUE", f"log_file {found.log}"]
    if plugin is not None:
        environment["LD_LIBRARY_PATH"] = str(plugin.parent)
        lines += [
            f"event_plugin_name {plugin.stem.removeprefix('lib')}",
            f"event_plugin_options {found.events}",
        ]
    conf.write_text("\n".join(lines) + "\n")
    started: list[subprocess.Popen[bytes]] = []
    try:
        # Open at both ends: ibsim leaves when nobody writes to its console any more.
        with (folder / "console").open("r+b", buffering=0) as console:
            command = [tool("ibsim"), "-s", "-N", "8192", "-S", "1024", "-P", "60000", str(folder / "net")]
            without = environment | {"LD_PRELOAD": ""}
            started.append(_start(command, folder, without, "ibsim.log", console.fileno()))
            wait_for(
                lambda: "ready" in (folder / "ibsim.log").read_text(errors="replace") or _ended(started[0])
            )
            command = [tool("opensm"), "-F", str(conf), "-R", engine, *options]
            started.append(_start(command, folder, environment, "opensm.out"))
            wait_for(lambda: found.sweeps() > 0 or _ended(started[1]))
            found.settle()
            yield found
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(
    command: list[str], folder: Path, environment: dict[str, str], log: str, stdin: int | None = None
) -> subprocess.Popen[bytes]:
    with (folder / log).open("wb") as out:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=out
        )


def _ended(process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, f"{process.args} ended with {process.returncode}"
    return False
