# SPDX-License-Identifier: BSD-3-Clause
"""The server as a process: limits, starts and ends, and new generations of dumps."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from fat_trees import Net, mixed, two_level

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
pytest.importorskip("uvloop", reason="isochrone[serve] is not installed")
from served import WAIT_S, eventually, received, serving, write_generation
from typer.testing import CliRunner

from isochrone.cli.main import app
from isochrone.errors import IsochroneError, UsageError
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes
from isochrone.fabric.serve.lines import Connection, Counts, Door, Limits, sweep
from isochrone.fabric.serve.server import made_web, serve
from isochrone.fabric.serve.slow import Slow
from isochrone.fabric.serve.watch import Watched


def readers_of(server: int) -> list[int]:
    """The processes that it has started to read dumps."""
    found = []
    for children in Path(f"/proc/{server}/task").glob("*/children"):
        for child in children.read_text().split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


async def limited(folder: Path, limits: Limits, client) -> None:  # type: ignore[no-untyped-def, type-arg]
    """Runs a client against the lines of a server in this process."""
    counts = Counts()
    watched = Watched(folder)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.setblocking(False)
        door = Door(bound, lambda: Connection(watched, limits, counts))
        sweeping = asyncio.create_task(sweep(counts))
        try:
            await asyncio.wait_for(client(bound.getsockname()[1], counts), WAIT_S)
        finally:
            sweeping.cancel()
            door.close()


def test_no_more_clients_than_allowed(folder: Path) -> None:
    async def client(port: int, counts: Counts) -> None:
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for reader, writer in pairs[:2]:
            writer.write(b"hops node-000-000:node-000-001\n")
            assert await reader.readline() == b"1\n"
        assert await pairs[2][0].read() == b"error too many connections; try again later\n"
        assert (counts.refused, len(counts.open)) == (1, 2)
        pairs[0][1].close()
        while len(counts.open) > 1:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hops node-000-000:node-000-001\n")
        assert await reader.readline() == b"1\n"

    asyncio.run(limited(folder, Limits(connections=2), client))


def test_idle_clients_and_half_lines_end(folder: Path) -> None:
    async def client(port: int, counts: Counts) -> None:
        idle, _ = await asyncio.open_connection("127.0.0.1", port)
        half, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hops node-000")
        assert await half.read() == b"error the line took too long\n"
        assert await idle.read() == b""
        assert not counts.open

    asyncio.run(limited(folder, Limits(idle_s=0.1, line_s=0.1), client))


def test_a_byte_now_and_then_does_not_keep_a_line_open(folder: Path) -> None:
    """Nor do whole lines before it count for it; the client goes on until it is cut."""

    async def client(port: int, counts: Counts) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hops node-000-000:node-000-001\nh")
        assert await reader.readline() == b"1\n"
        while counts.open:
            writer.write(b"x")
            await asyncio.sleep(0.02)
        assert counts.errors == 1

    asyncio.run(limited(folder, Limits(line_s=0.5), client))


def connection(
    folder: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> tuple[Connection, MagicMock]:
    """With time that a test makes."""
    monkeypatch.setattr("isochrone.fabric.serve.lines.time.monotonic", lambda: clock[0])
    made = Connection(Watched(folder), Limits(idle_s=100, line_s=10), Counts())
    transport = MagicMock()
    transport.is_closing.return_value = False
    made.connection_made(transport)
    return made, transport


def test_the_time_of_a_line_is_counted_from_its_first_byte(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    made, transport = connection(folder, clock, monkeypatch)
    clock[0] = 90
    for clock[0] in (90, 94, 98, 100):
        made.data_received(b"x")
        made.sweep(clock[0])
    transport.close.assert_not_called()
    made.sweep(100.1)
    transport.write.assert_called_with(b"error the line took too long\n")


def test_time_in_which_nothing_is_read_is_not_the_clients(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    made, transport = connection(folder, clock, monkeypatch)
    made.data_received(b"h")
    made.pause_writing()
    for clock[0] in (9.0, 18.0):
        made.sweep(clock[0])
        made.resume_writing()
        made.pause_writing()
    made.resume_writing()
    clock[0] = 27.0
    made.sweep(27.0)
    transport.close.assert_not_called()
    transport.abort.assert_not_called()


def test_http_connections_without_a_whole_request_end(folder: Path) -> None:
    """So that they do not keep others out: no more are let in than there are of these."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.setblocking(False)
        bound.listen()
        asyncio.run(kept_busy(folder, bound))


def test_only_connections_that_wait_for_their_client_end() -> None:
    class Made:
        cycle: SimpleNamespace | None

        def __init__(self, **of: bool) -> None:
            self.flow = SimpleNamespace(write_paused=of.get("write_paused", False))
            self.transport = MagicMock()
            self.cycle = SimpleNamespace(**{"more_body": False, "response_complete": False, **of})

    first, body, answered = Made(), Made(more_body=True), Made(response_complete=True)
    first.cycle = None
    blocked, under_way, asking = Made(write_paused=True), Made(), Made(response_complete=True)
    slow = Slow({first, body, answered, blocked, under_way, asking}, 10.0)
    for now in range(0, 12, 2):
        slow.sweep(float(now))
        asking.cycle = Made(response_complete=True).cycle
        assert not first.transport.abort.called
    slow.sweep(10.1)
    for each in (first, body, answered, blocked):
        each.transport.abort.assert_called_once()
    for each in (under_way, asking):
        each.transport.abort.assert_not_called()


async def kept_busy(folder: Path, bound: socket.socket) -> None:
    web = made_web(Watched(folder), Counts(), at_once=5)
    slow = Slow(web.server_state.connections, 1.0)
    tasks = [asyncio.create_task(slow.follow()), asyncio.create_task(web.serve([bound]))]
    port = bound.getsockname()[1]
    pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
    head = b"POST /matrix HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n"
    begins = [b"", head + b"X: ", head + b"\r\n"]
    for (_, writer), begin in zip(pairs, begins, strict=True):
        writer.write(begin)
    again, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\nG")
    assert b" 200 " in await again.readline()
    end = time.monotonic() + WAIT_S
    while web.server_state.connections:
        assert time.monotonic() < end
        for each in (pairs[1][1], pairs[2][1], writer):
            each.write(b"x")
        await asyncio.sleep(0.02)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b" 200 " in await asyncio.wait_for(reader.readline(), WAIT_S)
    web.should_exit = True
    await tasks[1]
    tasks[0].cancel()


def test_a_client_that_never_reads_is_cut(folder: Path) -> None:
    async def client(port: int, counts: Counts) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        hosts = ",".join(f"node-00{leaf}-00{host}" for leaf in range(4) for host in range(4))
        writer.write(f"matrix {hosts}\n".encode() * 100_000)
        while not counts.open:
            await asyncio.sleep(0.01)
        while counts.open:
            await asyncio.sleep(0.01)
        writer.transport.abort()

    asyncio.run(limited(folder, Limits(line_s=0.2), client))


def test_stopping_answers_what_was_asked(folder: Path) -> None:
    with serving(folder) as server, server.connect() as asked, server.connect():
        asked.sendall(b"hops node-000-000:node-000-001\nmatr")
        assert asked.recv(100) == b"1\n"
        begin = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begin < 8
        assert received(asked) == b""
        with pytest.raises(ConnectionRefusedError):
            server.connect()


def test_new_generations_are_served_whole(tmp_path: Path) -> None:
    """Every answer is of the one fabric or of the other, while a client asks without end."""
    one, other = two_level(4, 4, 2), two_level(4, 4, 2, speed=mixed)
    folder = tmp_path / "dumps"
    write_generation(folder, one, 1)
    expected = {}
    for generation, net in ((1, one), (2, other), (3, one)):
        net.dump(tmp_path / str(generation))
        found = Routes(read_fabric(tmp_path / str(generation)))
        rates = found.rates_gbps(list(found.wiring.hosts.values()))
        expected[generation] = rates
    names = ",".join(Routes(read_fabric(folder)).wiring.hosts)
    seen = set()
    with serving(folder) as server, server.connect() as asked:
        stream = asked.makefile("rwb")
        written, end = 1, time.monotonic() + WAIT_S
        while 3 not in seen:
            assert time.monotonic() < end
            stream.write(f"version\nmatrix speed {names}\nversion\n".encode())
            stream.flush()
            before = int(stream.readline().split()[-1])
            size = int(stream.readline().split()[-1])
            values = np.frombuffer(stream.read(size), "<f4").reshape(16, 16)
            after = int(stream.readline().split()[-1])
            # Lines that come at once are answered by one generation.
            assert before == after
            np.testing.assert_array_equal(values, expected[before])
            assert before >= max(seen, default=0)
            seen.add(before)
            if before == written < 3:
                written += 1
                write_generation(folder, one if written != 2 else other, written)
    assert seen == {1, 2, 3}


def test_a_broken_dump_raises_an_alarm_and_the_old_one_answers(tmp_path: Path, small: Net) -> None:
    folder = tmp_path / "dumps"
    write_generation(folder, small, 1)
    with serving(folder) as server:
        assert server.ask("health\n") == b"ok generation 1 hosts 16 switches 6 links 24 faults 0\n"
        assert server.get("/health") == (
            200,
            {
                "ok": True,
                "alarm": None,
                "generation": 1,
                "serial": 0,
                "hosts": 16,
                "switches": 6,
                "links": 24,
            },
        )
        write_generation(folder, small, 2, tables=small.tables().replace("0x0003", "0xnonsense", 1))
        eventually(lambda: server.ask("health\n").startswith(b"alarm generation 1 "))
        assert b"forwarding-2.txt:" in server.ask("health\n")
        status, told = server.get("/health")
        assert (status, told["ok"], told["generation"]) == (503, False, 1)
        assert "forwarding-2.txt" in told["alarm"]
        assert server.ask("hops node-000-000:node-001-000\n") == b"3\n"
        assert b"isochrone_fabric_alarm 1.0" in server.fetch("/metrics")[1]
        for generation, tables in ((3, "nothing that is known\n"), (4, "Unicast lids [0x0-0x1]\n")):
            write_generation(folder, small, generation, tables=tables)
            eventually(
                lambda seen=generation: server.metrics()["isochrone_fabric_reload_failures_total"] == seen - 1
            )
            assert server.ask("hops node-000-000:node-001-000\n") == b"3\n"
        write_generation(folder, small, 5)
        eventually(lambda: server.ask("health\n").startswith(b"ok generation 5 "))


def test_a_server_outlives_the_process_that_reads(tmp_path: Path, small: Net) -> None:
    folder = tmp_path / "dumps"
    write_generation(folder, small, 1)
    with serving(folder, "--no-http") as server:
        for generation in (2, 3):
            for reader in readers_of(server.process.pid):
                os.kill(reader, signal.SIGKILL)
            write_generation(folder, small, generation)
            eventually(lambda seen=generation: server.ask("health\n").startswith(b"ok generation %d " % seen))


def test_dumps_that_vanish_raise_an_alarm(tmp_path: Path, small: Net) -> None:
    folder = small.dump(tmp_path / "dumps")
    with serving(folder, "--no-http") as server:
        for file in folder.iterdir():
            file.unlink()
        eventually(lambda: server.ask("health\n").startswith(b"alarm "))
        small.dump(folder)
        eventually(lambda: server.ask("health\n").startswith(b"ok "))


def test_wrong_starts_are_said_in_a_line(folder: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["fabric", "serve", str(folder), "--port", port, "--no-http"])
    assert "cannot be bound" in str(done.exception)
    done = CliRunner().invoke(app, ["fabric", "serve", str(tmp_path / "nowhere"), "--port", "0"])
    assert isinstance(done.exception, IsochroneError)
    done = CliRunner().invoke(
        app, ["fabric", "serve", str(folder), "--bind", "no such address", "--port", "0"]
    )
    assert isinstance(done.exception, UsageError)


def test_clients_can_connect_as_soon_as_the_addresses_are_told(folder: Path) -> None:
    connected = []

    def ready(lines: str, http: str | None) -> None:
        for address in (lines, http or ""):
            host, _, port = address.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=WAIT_S):
                connected.append(address)
        os.kill(os.getpid(), signal.SIGTERM)

    serve(folder, "127.0.0.1", 0, 0, Limits(), ready)
    assert len(connected) == 2
