# SPDX-License-Identifier: BSD-3-Clause
"""The server: lines, limits, HTTP, and new generations of dumps."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fat_trees import Net, mixed, two_level

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
pytest.importorskip("uvloop", reason="isochrone[serve] is not installed")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from served import WAIT_S, Server, eventually, received, serving, write_generation
from typer.testing import CliRunner

from isochrone._core import FABRIC_LONGEST_LINE
from isochrone.cli.main import app
from isochrone.errors import IsochroneError, UsageError
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes
from isochrone.fabric.serve.lines import Connection, Counts, Door, Limits, sweep
from isochrone.fabric.serve.server import serve
from isochrone.fabric.serve.watch import Watched


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_level(4, 4, 2, speed=mixed).dump(tmp_path_factory.mktemp("fabric"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def routes(folder: Path) -> Routes:
    return Routes(read_fabric(folder))


def test_every_question_about_a_pair(server: Server, routes: Routes) -> None:
    names = list(routes.wiring.hosts)
    for one in names:
        for other in names:
            found = routes.route(routes.vertex(one), routes.vertex(other))
            pair = f"{one}:{other}"
            answer = (
                server.ask(f"query {pair}\nports {pair}\r\nhops {pair}\nspeed {pair}\n").decode().split("\n")
            )
            guids = [f"0x{hop.switch.guid:016x}" for hop in found.hops]
            ports = [
                f"{guid}:{hop.in_port}:{hop.out_port}" for guid, hop in zip(guids, found.hops, strict=True)
            ]
            assert answer[0].split() == [one, *guids, other]
            assert answer[1].split() == [one, *ports, other]
            assert answer[2] == str(len(guids))
            assert float(answer[3]) == found.speed_gbps
            assert answer[4:] == [""]


def matrix(answer: bytes) -> tuple[np.ndarray, bytes]:  # type: ignore[type-arg]
    head, _, rest = answer.partition(b"\n")
    word, what, count, kind, size = head.decode().split()
    assert (word, what) in {("matrix", "hops"), ("matrix", "speed")}
    hosts = int(count)
    assert int(size) == hosts * hosts * np.dtype(kind).itemsize
    values = np.frombuffer(rest[: int(size)], np.dtype(kind).newbyteorder("<"))
    return values.reshape(hosts, hosts), rest[int(size) :]


def test_matrices_are_binary_and_other_lines_go_on_behind_them(server: Server, routes: Routes) -> None:
    names = list(routes.wiring.hosts)
    vertices = [routes.vertex(name) for name in names]
    hosts = ",".join(names)
    answer = server.ask(f"matrix {hosts}\nversion\nmatrix speed {hosts}\nhops {names[0]}:{names[0]}\n")
    hops, rest = matrix(answer)
    np.testing.assert_array_equal(hops, routes.hops(vertices))
    version, _, rest = rest.partition(b"\n")
    assert version.startswith(b"isochrone-fabric 1 ")
    speeds, rest = matrix(rest)
    np.testing.assert_array_equal(speeds, routes.rates_gbps(vertices))
    assert rest == b"0\n"


def test_a_long_matrix_is_made_beside_other_clients(server: Server, routes: Routes) -> None:
    names = list(routes.wiring.hosts) * 64
    found, rest = matrix(server.ask("matrix " + ",".join(names) + "\n"))
    assert rest == b""
    np.testing.assert_array_equal(
        found, np.tile(routes.hops([routes.vertex(n) for n in names[:16]]), (64, 64))
    )


LINES = [
    b"query node-000-000:node-001-001\n",
    b"ports node-003-000:node-001-001\r\n",
    b"matrix node-000-000,node-001-001\n",
    b"health\n",
    b"version\n",
    b"nonsense\n",
    b"hops node-000-000\n",
    b"\n",
]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=12), st.data())
def test_lines_may_come_in_any_pieces(server: Server, lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    with server.connect() as asked:
        asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            asked.sendall(text[begin:end])
            time.sleep(0.001)
        asked.shutdown(socket.SHUT_WR)
        assert received(asked) == b"".join(server.ask(line) for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "query",
            "query ",
            "query :",
            "query a",
            "query a:b:c",
            "query node-000-000:nowhere",
            "QUERY a:b",
        ),
        *("hops node-000-000:0x", "matrix", "matrix ,", "matrix node-000-000,,", "matrix 7 node-000-000"),
        *("version 2", " health", "query node-000-000:node-000-001 ", "\0", "query \x1b[31m:\xff", "help"),
    ],
)
def test_what_is_no_question_gets_an_error_and_nothing_else(server: Server, line: str) -> None:
    answer = server.ask(line.encode("latin1") + b"\nhops node-000-000:node-000-001\n")
    error, rest = answer.split(b"\n", 1)
    assert error.startswith(b"error ")
    assert all(32 <= byte < 127 for byte in error)
    assert rest == b"1\n"


def test_what_stands_after_the_last_end_of_a_line_is_not_answered(server: Server) -> None:
    assert server.ask("health\nversion").count(b"\n") == 1


def test_a_line_without_an_end_is_cut(server: Server) -> None:
    with server.connect() as asked:
        asked.sendall(b"matrix " + b"x" * FABRIC_LONGEST_LINE)
        assert received(asked) == b"error the line is too long\n"


def test_more_hosts_than_a_matrix_may_have(server: Server) -> None:
    assert server.ask("matrix " + ",".join(["node-000-000"] * 5000) + "\n").startswith(
        b"error more than 4096"
    )


def test_a_client_that_asks_more_than_it_reads(server: Server, routes: Routes) -> None:
    """It gets all its answers in the end; until then the server keeps little for it, and answers others."""
    line = b"matrix " + ",".join(routes.wiring.hosts).encode() + b"\n"
    count = 100_000
    with server.connect() as asked:

        def ask() -> None:
            asked.sendall(line * count)
            asked.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=ask, daemon=True)
        sender.start()
        sender.join(1.0)
        assert sender.is_alive(), "the server took all lines without its answers being read"
        assert server.ask("hops node-000-000:node-000-001\n") == b"1\n"
        assert resident_mb(server) < 400
        total = len(received(asked))
        sender.join(WAIT_S)
    head = b"matrix hops 16 uint16 512\n"
    assert total == count * (len(head) + 512)


def resident_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


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
            eventually(lambda seen=generation: metric(server, "reload_failures_total") == seen - 1)
            assert server.ask("hops node-000-000:node-001-000\n") == b"3\n"
        write_generation(folder, small, 5)
        eventually(lambda: server.ask("health\n").startswith(b"ok generation 5 "))


def test_dumps_that_vanish_raise_an_alarm(tmp_path: Path, small: Net) -> None:
    folder = small.dump(tmp_path / "dumps")
    with serving(folder, "--no-http") as server:
        for file in folder.iterdir():
            file.unlink()
        eventually(lambda: server.ask("health\n").startswith(b"alarm "))
        small.dump(folder)
        eventually(lambda: server.ask("health\n").startswith(b"ok "))


def test_json_says_what_lines_say(server: Server, routes: Routes) -> None:
    pair = "from=node-000-000&to=node-001-003"
    status, told = server.get(f"/route?{pair}")
    assert status == 200
    ports = " ".join(f"{step['switch']}:{step['in_port']}:{step['out_port']}" for step in told["path"])
    line = server.ask("ports node-000-000:node-001-003\n").decode()
    assert line == f"node-000-000 {ports} node-001-003\n"
    assert told["path"][0]["name"] == "leaf-00"
    assert server.get(f"/hops?{pair}") == (200, {"hops": told["hops"]})
    assert server.get(f"/speed?{pair}") == (200, {"speed": told["speed"]})
    names = list(routes.wiring.hosts)
    status, found = server.get("/matrix", {"hosts": names})
    vertices = [routes.vertex(name) for name in names]
    assert found["hops"] == routes.hops(vertices).tolist()
    assert found["speed"][0][1:] == pytest.approx(routes.rates_gbps(vertices)[0, 1:].tolist())
    assert found["speed"][0][0] is None
    status, fabric = server.get("/fabric")
    assert (len(fabric["switches"]), len(fabric["hosts"]), len(fabric["cables"])) == (6, 16, 8)
    assert {each["tier"] for each in fabric["switches"]} == {0, 1}


def test_what_http_refuses(server: Server) -> None:
    assert server.get("/route?from=node-000-000&to=nowhere")[0] == 404
    assert server.get("/route?from=node-000-000")[0] == 422
    assert server.get(f"/hops?from=node-000-000&to={'x' * 300}")[0] == 422
    assert server.get("/matrix", {"hosts": []})[0] == 422
    assert server.get("/matrix", {"hosts": ["node-000-000"] * 5000})[0] == 422
    assert server.http is not None
    host, port = server.http.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as asked:
        asked.sendall(b"POST /matrix HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
        assert b" 413 " in asked.recv(1000)
    assert server.fetch("/../pyproject.toml")[0] == 404
    assert server.fetch("/docs")[0] == 404


def test_pages_load_nothing_from_elsewhere(server: Server) -> None:
    for path in ("/", "/page.js", "/page.css", "/api"):
        status, data, headers = server.fetch(path)
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert b"https://" not in data
    listed = server.fetch("/api")[1].decode()
    for path in json.loads(server.fetch("/openapi.json")[1])["paths"]:
        assert path in listed


def test_metrics_are_prometheus_own_form(server: Server) -> None:
    before = metrics(server)
    server.ask("health\nbogus\n")
    after = metrics(server)
    assert after["isochrone_fabric_lines_total"] == before["isochrone_fabric_lines_total"] + 2
    assert after["isochrone_fabric_errors_total"] == before["isochrone_fabric_errors_total"] + 1
    assert (after["isochrone_fabric_hosts"], after["isochrone_fabric_switches"]) == (16, 6)
    assert after["isochrone_fabric_alarm"] == 0


def metrics(server: Server) -> dict[str, float]:
    text = server.fetch("/metrics")[1].decode()
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def metric(server: Server, name: str) -> float:
    return metrics(server)[f"isochrone_fabric_{name}"]


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
