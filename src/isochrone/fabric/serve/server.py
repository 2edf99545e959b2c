# SPDX-License-Identifier: BSD-3-Clause
"""Starts and stops the server: lines over TCP, and HTTP beside it, in one loop."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import uvicorn
import uvloop

from isochrone.errors import IsochroneError, UsageError
from isochrone.fabric.serve.lines import Connection, Counts, Door, Limits, sweep
from isochrone.fabric.serve.slow import Slow
from isochrone.fabric.serve.watch import Watched
from isochrone.fabric.serve.web import application

LOG = logging.getLogger("isochrone.fabric")

_STOPS_WITHIN_S = 10.0
# Files that are open beside connections.
_OTHER_FILES = 256
_HTTP_AT_ONCE = 256


def serve(
    folder: Path,
    bind: str,
    port: int,
    http_port: int | None,
    limits: Limits,
    ready: Callable[[str, str | None], None],
) -> None:
    """Serves until SIGINT or SIGTERM; then what was asked is answered, and all is closed.

    Args:
        folder: of dumps.
        bind: the address.
        port, http_port: 0: any free; no HTTP without the second.
        limits: of clients.
        ready: called with the addresses when clients can connect.

    Raises:
        IsochroneError: the dumps cannot be read, or an address not be bound.
    """
    limits.connections = _allowed(limits.connections)
    watched = Watched(folder)
    with _bound(bind, port) as lines:
        http = _bound(bind, http_port) if http_port is not None else None
        with http or nullcontext():
            uvloop.run(_serve(watched, lines, http, limits, ready))


class _Web(uvicorn.Server):
    """Leaves signals to the loop that it runs in."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


def made_web(watched: Watched, counts: Counts, at_once: int) -> uvicorn.Server:
    """The server of HTTP; it refuses what comes over more connections than ``at_once``."""
    return _Web(
        uvicorn.Config(
            application(watched, counts),
            loop="none",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=at_once,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=int(_STOPS_WITHIN_S),
        )
    )


async def _serve(
    watched: Watched,
    lines: socket.socket,
    http: socket.socket | None,
    limits: Limits,
    ready: Callable[[str, str | None], None],
) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    counts = Counts()
    door = Door(lines, lambda: Connection(watched, limits, counts))
    # What goes on until it is cancelled, and what ends by itself when it is told to.
    endless = [asyncio.create_task(watched.follow()), asyncio.create_task(sweep(counts))]
    serving = []
    web = None
    if http is not None:
        web = made_web(watched, counts, _HTTP_AT_ONCE)
        http.listen(_HTTP_AT_ONCE)  # before its address is told: that task begins later
        slow = Slow(web.server_state.connections, limits.line_s)
        endless.append(asyncio.create_task(slow.follow()))
        serving.append(asyncio.create_task(web.serve([http])))
    ready(_address(lines), _address(http) if http is not None else None)
    stop = asyncio.create_task(stopped.wait())
    # A task that ends by itself has failed.
    ended, _ = await asyncio.wait([stop, *endless, *serving], return_when=asyncio.FIRST_COMPLETED)
    door.close()
    for connection in list(counts.open):
        connection.finish()
    if web is not None:
        web.should_exit = True
    end = loop.time() + _STOPS_WITHIN_S
    while counts.open and loop.time() < end:
        await asyncio.sleep(0.02)
    for task in endless:
        task.cancel()
    results = await asyncio.gather(*endless, *serving, return_exceptions=True)
    if stop not in ended:
        stop.cancel()
        failed = [each for each in results if isinstance(each, Exception)]
        raise IsochroneError(f"the server had to stop ({failed[0] if failed else 'HTTP ended'})")


def _bound(address: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise UsageError(f"{address!r} is no address ({error.strerror})", "--bind") from None
    family, kind, protocol, _, where = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
    except OSError as error:
        made.close()
        raise IsochroneError(
            f"cannot be bound ({error.strerror})", f"{address}:{port}", "choose another --bind or --port"
        ) from None
    made.setblocking(False)
    return made


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _allowed(connections: int) -> int:
    """As many as the system lets this process have, at most."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = connections + _OTHER_FILES
    if soft < need:
        with suppress(ValueError, OSError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (need if hard == resource.RLIM_INFINITY else min(need, hard), hard)
            )
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < need:
            LOG.warning(
                "this process may have %d files open: at most %d connections", soft, soft - _OTHER_FILES
            )
            return max(1, soft - _OTHER_FILES)
    return connections
