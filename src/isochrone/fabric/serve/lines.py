# SPDX-License-Identifier: BSD-3-Clause
"""The line protocol over TCP. What lines may be asked stands in native/core/fabric/service.hpp.

Whole chunks of lines are answered at once, each by one generation of the fabric. Everything that a client can
make the server keep or do is bounded.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from isochrone._core import FABRIC_LONGEST_LINE
from isochrone.fabric.serve.watch import Watched

LOG = logging.getLogger("isochrone.fabric")

_BACKLOG = 4096
_LET_IN_AT_ONCE = 64
_TOO_LONG = b"error the line is too long\n"
_TOO_MANY = b"error too many connections; try again later\n"
_TOO_SLOW = b"error the line took too long\n"
# Matrices of more hosts than such a line holds are made outside of the loop.
_LONG_LINE = 2048
_SWEEP_EVERY_S = 1.0
_MOST_MATRICES = 4
"""That are made at the same time."""
_MOST_UNREAD_BYTES = 1 << 29
"""Of answers that clients do not read, by which no more matrices are made: each may be 64 MiB."""
_LATER_S = 0.05


@dataclass
class Limits:
    """What clients may do.

    Attributes:
        connections: at the same time.
        idle_s: without a question.
        line_s: until a line that was begun ends, and until answers are read; over HTTP, until a whole request
            is there, from the end of the one before.
    """

    connections: int = 16384
    idle_s: float = 600.0
    line_s: float = 30.0


@dataclass
class Counts:
    """What was done, for metrics."""

    accepted: int = 0
    refused: int = 0
    lines: int = 0
    errors: int = 0
    chunks: int = 0
    chunk_s: float = 0.0
    open: set[Connection] = field(default_factory=set)
    unread: set[Connection] = field(default_factory=set)
    matrices: int = 0

    def may_make_matrix(self) -> bool:
        """Whether there is room for another one now."""
        unread_bytes = sum(connection.unread_bytes for connection in self.unread)
        return self.matrices < _MOST_MATRICES and unread_bytes < _MOST_UNREAD_BYTES


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, watched: Watched, limits: Limits, counts: Counts) -> None:
        self._watched = watched
        self._limits = limits
        self._counts = counts
        self._asked = b""  # and not answered
        self._is_blocked = False  # the client does not read its answers
        self._is_busy = False  # an answer is made elsewhere, or in a later turn
        self._is_ending = False  # nothing more is read
        # When a line was begun, answers were last read, or the last answer was given.
        self._since = time.monotonic()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Takes the client, or says that there are too many."""
        self._transport = cast(asyncio.Transport, transport)
        if len(self._counts.open) >= self._limits.connections:
            self._counts.refused += 1
            self._transport.write(_TOO_MANY)
            self._transport.close()
            return
        self._counts.accepted += 1
        self._counts.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the client."""
        self._counts.open.discard(self)
        self._counts.unread.discard(self)

    @property
    def unread_bytes(self) -> int:
        """Of answers that the client has not read."""
        return self._transport.get_write_buffer_size()

    def data_received(self, data: bytes) -> None:
        """Answers what is whole of it."""
        # The time of a line counts from its first byte: a client may not keep it open with one now and then.
        if not self._asked or b"\n" in data:
            self._since = time.monotonic()
        self._asked += data
        if not self._is_busy and not self._is_blocked:
            self._answer()

    def eof_received(self) -> bool:
        """What was asked is still answered; then the connection is closed."""
        self._is_ending = True
        return self._is_busy or self._is_blocked

    def pause_writing(self) -> None:
        """The client reads more slowly than it asks: no more is read from it."""
        self._is_blocked = True
        self._counts.unread.add(self)
        self._since = time.monotonic()
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """It has read."""
        self._is_blocked = False
        self._counts.unread.discard(self)
        self._since = time.monotonic()
        if not self._is_busy:
            self._answer()

    def sweep(self, now: float) -> None:
        """Ends what has lasted too long."""
        waited = now - self._since
        if self._is_blocked or self._transport.is_closing():
            # What is closed still waits for the client to read.
            if waited > self._limits.line_s:
                self._transport.abort()
        elif self._asked and not self._is_busy:
            if waited > self._limits.line_s:
                self._end(_TOO_SLOW)
        elif waited > self._limits.idle_s:
            self._close(now)

    def finish(self) -> None:
        """Answers what was asked, and closes."""
        self._is_ending = True
        if not self._is_busy and not self._is_blocked:
            self._close(time.monotonic())

    def _close(self, now: float) -> None:
        # What is unread then has as long as a line.
        self._since = now
        self._transport.close()

    def _answer(self) -> None:
        if self._is_busy:
            # Nothing was read meanwhile, so the client could not end its line.
            self._since = time.monotonic()
        self._is_busy = False
        if self._transport.is_closing():
            return
        if b"\n" not in self._asked:
            if len(self._asked) > FABRIC_LONGEST_LINE:
                self._end(_TOO_LONG)
            elif self._is_ending:
                self._close(time.monotonic())
            else:
                self._transport.resume_reading()
            return
        watched = self._watched
        if b"matrix" in self._asked:
            loop = asyncio.get_running_loop()
            if not self._counts.may_make_matrix():
                self._hold()
                loop.call_later(_LATER_S, self._answer)
                return
            if len(self._asked) > _LONG_LINE:
                self._hold()
                self._counts.matrices += 1
                # In another thread; the core does not hold Python's lock.
                done = loop.run_in_executor(None, watched.current.service.answer, self._asked, watched.health)
                done.add_done_callback(self._made)
                return
        begin = time.perf_counter()
        answers = watched.current.service.answer(self._asked, watched.health)
        self._counts.chunk_s += time.perf_counter() - begin
        self._send(*answers)

    def _made(self, answers: asyncio.Future[tuple[bytes, int, int, int]]) -> None:
        self._counts.matrices -= 1
        self._send(*answers.result())

    def _send(self, text: bytes, used: int, lines: int, errors: int) -> None:
        self._counts.chunks += 1
        self._counts.lines += lines
        self._counts.errors += errors
        self._asked = self._asked[used:]
        if not self._transport.is_closing():
            self._transport.write(text)  # and may be blocked by that
        if not self._asked and not self._is_busy and not self._is_ending:
            return
        self._is_busy = False
        if not self._is_blocked:
            # What is left comes after whoever else waits.
            self._hold()
            asyncio.get_running_loop().call_soon(self._answer)

    def _hold(self) -> None:
        self._is_busy = True
        self._transport.pause_reading()

    def _end(self, why: bytes) -> None:
        self._counts.errors += 1
        self._transport.write(why)
        self._close(time.monotonic())


class Door:
    """Lets clients in, many in each turn of the loop.

    The loop's own servers let in one: where clients keep it busy, a newcomer would wait for seconds.
    """

    def __init__(self, bound: socket.socket, make: Callable[[], Connection]) -> None:
        self._bound = bound
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._is_open = True
        bound.listen(_BACKLOG)
        self._loop.add_reader(bound, self._let_in)

    def close(self) -> None:
        """Lets in nobody else."""
        self._is_open = False
        self._loop.remove_reader(self._bound)

    def _let_in(self) -> None:
        for _ in range(_LET_IN_AT_ONCE):
            try:
                client, _address = self._bound.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # No files or no memory: those who wait may be let in when others have left.
                LOG.warning("clients have to wait (%s)", error.strerror)
                self._loop.remove_reader(self._bound)
                self._loop.call_later(_SWEEP_EVERY_S, self._reopen)
                return
            client.setblocking(False)
            task = self._loop.create_task(self._loop.connect_accepted_socket(self._make, client))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _reopen(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._bound, self._let_in)


async def sweep(counts: Counts) -> None:
    """Ends connections that have lasted too long, until it is cancelled."""
    while True:
        await asyncio.sleep(_SWEEP_EVERY_S)
        now = time.monotonic()
        for connection in list(counts.open):
            connection.sweep(now)
