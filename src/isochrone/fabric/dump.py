# SPDX-License-Identifier: BSD-3-Clause
"""Dumps a fabric with the tools of infiniband-diags, all of one generation: what its administrator runs.

Cables, speeds and forwarding tables are read side by side, and the cables once more after that. Where they
changed meanwhile the tables may be half of before and half of after, so that all is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from isochrone.errors import IsochroneError
from isochrone.fabric.folder import untold
from isochrone.fabric.formats import forwarding, iblinkinfo, ibnetdiscover
from isochrone.fabric.model import Fabric
from isochrone.files.content import read_content
from isochrone.files.fabric import Manifest, read_manifest, write_manifest
from isochrone.files.text import printable, quoted
from isochrone.launch.process import end_group
from isochrone.progress import part

LOG = logging.getLogger("isochrone.fabric")

_MOST_BYTES = 1 << 30
_MOST_READINGS = 3
_SHOWN = 200
_LOOK_EVERY_S = 0.05
AGAIN_S = 10.0
# Administrators' programs are not on everybody's path.
_MORE_PATH = "/usr/sbin:/sbin:/usr/local/sbin:/opt/ibutils/bin"


@dataclass(frozen=True)
class Tool:
    """A program that dumps, the stem of the file that what it prints goes to, and what reads that."""

    command: tuple[str, ...]
    stem: str
    read: Callable[[bytes, str, Fabric], None]


CABLES = Tool(("ibnetdiscover",), "ibnetdiscover", ibnetdiscover.read)
TOOLS = (
    CABLES,
    Tool(("iblinkinfo",), "iblinkinfo", iblinkinfo.read),
    # Names would make the tables seven times as long, and say nothing that the cables do not.
    Tool(("dump_fts", "-n"), "forwarding", forwarding.read),
)


_DUMP = re.compile(rf"(?:{'|'.join(tool.stem for tool in TOOLS)})-(\d{{1,15}})\.txt")
"""The files of a generation."""


def dump(
    folder: Path, timeout_s: float, adapter: Sequence[str] = (), changed: Callable[[], bool] | None = None
) -> tuple[Manifest, Fabric]:
    """Reads the fabric of this machine and writes its dumps, and the manifest last.

    Args:
        folder: made if need be; what it holds stays until all is read.
        timeout_s: for each program.
        adapter: options of the programs that choose the adapter and port.
        changed: whether the subnet manager has said that something changed since it was asked last.

    Raises:
        IsochroneError: a program is missing, fails, takes too long or prints nothing that can be read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        last, old = _before(folder)
        with tempfile.TemporaryDirectory(prefix=".dump-", dir=folder) as room, part("dumping") as advance:
            for reading in range(1, _MOST_READINGS + 1):
                if changed is not None:
                    changed()
                fabric, failed = _read_all(Path(room), timeout_s, adapter, advance)
                settled = _cables_now(Path(room), timeout_s, adapter) == _cables(fabric)
                settled = settled and not (changed is not None and changed()) and not failed
                if settled or reading == _MOST_READINGS:
                    break
                why = failed[0] if failed else "the fabric changed while it was read"
                LOG.warning("%s: reading it again", why)
            fabric.remarks += failed
            generation = last + 1
            files = {f"{tool.stem}-{generation}.txt": Path(room) / tool.stem for tool in TOOLS}
            digests = {name: hashlib.sha256(made.read_bytes()).hexdigest() for name, made in files.items()}
            for name, made in files.items():
                made.replace(folder / name)
    except OSError as error:
        raise IsochroneError(
            f"cannot write ({error.strerror})", str(folder), "choose another folder"
        ) from None
    manifest = Manifest(
        generation=generation,
        made=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        settled=settled,
        files=digests,
    )
    # This one step is the change from one generation to the next.
    write_manifest(folder, manifest)
    for name in old:
        if name not in digests:
            with contextlib.suppress(OSError):  # it does no harm
                (folder / name).unlink()
    fabric.generation = manifest.generation
    return manifest, fabric


def _before(folder: Path) -> tuple[int, Sequence[str]]:
    """The last generation that a folder may hold, 0 for none, and its files. A manifest that is damaged is to
    be replaced: nobody else would.
    """
    try:
        before = read_manifest(folder)
    except IsochroneError as error:
        LOG.warning("%s: it is replaced", error)
        found = [_DUMP.fullmatch(file.name) for file in folder.iterdir()]
        return max((int(match[1]) for match in found if match), default=0), ()
    return (before.generation, tuple(before.files)) if before else (0, ())


def _read_all(
    room: Path, timeout_s: float, adapter: Sequence[str], advance: Callable[[int, int], None]
) -> tuple[Fabric, list[str]]:
    """The fabric, and a line for each tool that could not read a part of it."""
    failed = []
    started: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(len(TOOLS)) as pool:
        running = [pool.submit(_run, tool, room / tool.stem, timeout_s, adapter, started) for tool in TOOLS]
        try:
            for done, (tool, each) in enumerate(zip(TOOLS, running, strict=True), start=1):
                # Of a switch that does not answer dump_fts prints another's entries, or none, and ends
                # with 0.
                failed += [f"{tool.command[0]}: {line}" for line in each.result() if "failed" in line][:1]
                advance(done, len(TOOLS) + 1)
        except BaseException:
            # One has failed, or we are stopped: nobody waits for the others.
            for process in started:
                end_group(process)
            raise
    fabric = Fabric(str(room.parent))
    for tool in TOOLS:
        tool.read(read_content(room / tool.stem, _MOST_BYTES), tool.command[0], fabric)
    if not fabric.nodes:
        raise IsochroneError("prints no node", CABLES.command[0], "is this machine on the fabric?")
    fabric.remarks += untold(fabric)
    return fabric, failed


def _cables_now(room: Path, timeout_s: float, adapter: Sequence[str]) -> frozenset[tuple[object, ...]]:
    again = room / "again"
    _run(CABLES, again, timeout_s, adapter, [])
    fabric = Fabric("")
    CABLES.read(read_content(again, _MOST_BYTES), CABLES.command[0], fabric)
    return _cables(fabric)


def _cables(fabric: Fabric) -> frozenset[tuple[object, ...]]:
    return frozenset(
        (node.guid, port.number, port.peer)
        for node in fabric.nodes.values()
        for port in node.ports.values()
        if port.peer is not None
    )


def _run(
    tool: Tool,
    file: Path,
    timeout_s: float,
    adapter: Sequence[str],
    started: list[subprocess.Popen[bytes]],
) -> list[str]:
    """Runs a program into a file, which is on disk when it returns. What it said beside that, for people.
    `started` gets the process, in a session of its own.
    """
    name = tool.command[0]
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), _MORE_PATH)))
    if found is None:
        raise IsochroneError("is not installed", name, "install infiniband-diags")
    with file.open("wb") as out, tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                [found, *tool.command[1:], *adapter],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=said,
                start_new_session=True,
            )
        except OSError as error:
            raise IsochroneError(f"cannot be run ({error.strerror})", name, "install it again") from None
        started.append(process)
        try:
            code = process.wait(timeout_s)
        except BaseException as error:
            end_group(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise IsochroneError(
                f"does not end within {timeout_s:g} s", name, "give it more with --timeout"
            ) from None
        said.seek(0)
        words = said.read(1 << 16).decode("utf-8", "replace").strip()
        if code != 0:
            first = words.splitlines()[-1][:_SHOWN] if words else "says nothing"
            raise IsochroneError(
                f"ends with {code}: {quoted(first) if first else ''}",
                name,
                "run it on a machine of the fabric, as root",
            )
        os.fsync(out.fileno())
    lines = [printable(line[:_SHOWN]) for line in words.splitlines()]
    if lines:
        LOG.debug("%s: %s", name, lines[0])
    return lines


class SubnetManagerLog:
    """What the subnet manager writes when it has changed something: its own log, or the events of Isochrone's
    plugin.
    """

    _SIGNS = (b"SUBNET UP", b"SUBNET_UP")
    _MOST_AT_ONCE = 1 << 20

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file_id = (0, 0)
        self._position = 0
        self._rest = b""
        self._look(from_end=True)

    def changed(self) -> bool:
        """Whether it has finished some change since this was asked last. A log that was truncated or replaced
        counts as one.
        """
        return self._look(from_end=False)

    def _look(self, from_end: bool) -> bool:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                is_other = self._file_id != (status.st_dev, status.st_ino)
                was_cut = status.st_size < self._position
                found = (is_other and self._file_id != (0, 0)) or was_cut
                if is_other or was_cut:
                    self._file_id, self._position, self._rest = (status.st_dev, status.st_ino), 0, b""
                if from_end:
                    self._position = status.st_size
                    return False
                file.seek(self._position)
                while piece := file.read(self._MOST_AT_ONCE):
                    self._position += len(piece)
                    text = self._rest + piece
                    found = found or any(sign in text for sign in self._SIGNS)
                    self._rest = text[-max(map(len, self._SIGNS)) + 1 :]
                if found:
                    self._rest = b""
                return found
        except OSError:
            return False  # between two logs there may be none


def watch(
    log: SubnetManagerLog, redump: Callable[[], bool], stopped: Event, settled: bool, again_s: float = AGAIN_S
) -> None:
    """Dumps again after each change, until it is ``stopped``.

    Args:
        log: tells of changes.
        redump: returns whether it has dumped a fabric that stayed the same meanwhile.
        stopped: ends it.
        settled: whether the last dump is of such a fabric.
        again_s: after which a dump is tried again that failed or did not settle: of its changes the log has
            told, and may tell of no more.
    """
    last = time.monotonic()
    while not stopped.wait(_LOOK_EVERY_S):
        if log.changed() or (not settled and time.monotonic() >= last + again_s):
            settled = redump()
            last = time.monotonic()
