# SPDX-License-Identifier: BSD-3-Clause
"""Follows a folder of dumps, and swaps whole generations of a fabric."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

from isochrone.errors import IsochroneError
from isochrone.fabric.folder import BeingReplacedError
from isochrone.fabric.serve.snapshot import Snapshot, Told, read
from isochrone.files.fabric import MANIFEST

LOG = logging.getLogger("isochrone.fabric")

_LOOK_EVERY_S = 0.1
# Files without a manifest are read when they have been left alone for as long.
_SETTLES_S = 0.3
# Dumps that are being replaced are no alarm before.
_REPLACED_WITHIN_S = 5.0

Signature = tuple[tuple[str, int, int, int], ...]


@dataclass
class Counts:
    """What the watch has done, for metrics."""

    reloads: int = 0
    failures: int = 0
    last_s: float = 0.0


class Watched:
    """The current generation of a folder.

    Attributes:
        current: what answers; replaced as a whole.
        alarm: why the newest dumps are not what answers; None where they are.
        health: the answer to ``health``, ready to be sent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = signature(folder)
        self._lost: Signature | None = None  # at which the process that reads was lost
        self.current = Snapshot(read(folder), 0)
        self.alarm: str | None = None
        self.counts = Counts(reloads=1)
        self.health = b""
        self._say()

    async def follow(self) -> None:
        """Looks for new dumps until it is cancelled."""
        while True:
            with ProcessPoolExecutor(1, get_context("spawn"), _end_with_the_server) as pool:
                # So that the first change need not wait for the process to start.
                await asyncio.get_running_loop().run_in_executor(pool, _ready)
                with contextlib.suppress(BrokenProcessPool):
                    await self._follow_with(pool)

    async def _follow_with(self, pool: ProcessPoolExecutor) -> None:
        """The same for as long as the process that reads them lives. Raises BrokenProcessPool then."""
        since = time.monotonic()
        waiting: Signature | None = None
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            now = signature(self._folder)
            if now == self._seen:
                waiting = None
                continue
            if now != waiting:
                waiting, since = now, time.monotonic()
            is_settled = any(name == MANIFEST for name, *_ in now)
            if is_settled or time.monotonic() - since >= _SETTLES_S:
                await self._reload(pool, now, time.monotonic() - since)

    async def _reload(self, pool: ProcessPoolExecutor, seen: Signature, waited_s: float) -> None:
        begin = time.monotonic()
        try:
            told: Told = await asyncio.get_running_loop().run_in_executor(pool, read, self._folder)
            self.current = Snapshot(told, self.counts.reloads)
            self.alarm = None
            self.counts.reloads += 1
            self.counts.last_s = time.monotonic() - begin
            LOG.info("generation %d is served", told.generation)
        except BrokenProcessPool:
            # It may have been killed before: what is there is read once more.
            if seen == self._lost:
                self._fail("the process that reads dumps was killed, as for want of memory")
                self._seen = seen
                self._say()
            self._lost = seen
            raise
        except BeingReplacedError as error:
            if waited_s < _REPLACED_WITHIN_S:
                return  # and look again
            self._fail(str(error))
        except IsochroneError as error:
            self._fail(str(error))
        except Exception as error:
            # Whatever is wrong with new dumps, the old ones still answer.
            LOG.exception("the new dumps cannot be used")
            self._fail(f"{type(error).__name__} while the new dumps were read")
        self._seen = seen
        self._say()

    def _fail(self, why: str) -> None:
        self.alarm = why
        self.counts.failures += 1
        LOG.error("the new dumps are not served: %s", why)

    def _say(self) -> None:
        self.health = self.current.health(self.alarm).encode("ascii", "replace")


def signature(folder: Path) -> Signature:
    """What tells whether dumps are others than before: the manifest alone where there is one."""
    files = [folder / MANIFEST]
    if not files[0].is_file():
        try:
            files = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
        except NotADirectoryError:
            files = [folder]
        except OSError:
            files = []
    found = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        found.append((file.name, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _end_with_the_server() -> None:
    """Runs in the other process first. Otherwise it would stay when the server is killed. Ctrl-C is for the
    server, which ends it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    Thread(target=end, daemon=True).start()


def _ready() -> None:
    """Imports what reading needs; runs in the other process."""
