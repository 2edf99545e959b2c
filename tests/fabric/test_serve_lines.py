# SPDX-License-Identifier: BSD-3-Clause
"""The server's lines: questions, answers, and what is none."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
pytest.importorskip("uvloop", reason="isochrone[serve] is not installed")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import WAIT_S, Server, received

from isochrone._core import FABRIC_LONGEST_LINE
from isochrone.fabric.routes import Routes
from isochrone.fabric.serve.lines import Connection, Counts, Limits


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


class Unread:
    """A transport to a client that does not read."""

    def __init__(self) -> None:
        self.sent = b""
        self.is_closed = self.is_aborted = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return len(self.sent)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def abort(self) -> None:
        self.is_aborted = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def unread_by(counts: Counts, limits: Limits) -> tuple[Connection, Unread]:
    connection, transport = Connection(None, limits, counts), Unread()  # type: ignore[arg-type]
    connection.connection_made(transport)  # type: ignore[arg-type]
    return connection, transport


def test_a_client_that_does_not_read_loses_its_place_though_little_is_unread() -> None:
    limits = Limits(idle_s=600, line_s=30)
    connection, transport = unread_by(Counts(), limits)
    begin = time.monotonic()
    connection.sweep(begin + 599)
    assert not transport.is_closed
    connection.sweep(begin + 601)  # asyncio waits for what is unread before it really closes
    assert (transport.is_closed, transport.is_aborted) == (True, False)
    connection.sweep(begin + 602)
    assert not transport.is_aborted
    connection.sweep(begin + 632)
    assert transport.is_aborted


def test_a_line_that_took_too_long_is_told_once() -> None:
    counts = Counts()
    connection, transport = unread_by(counts, Limits(line_s=30))
    connection.data_received(b"query a")
    begin = time.monotonic()
    for later in (31, 32, 33):
        connection.sweep(begin + later)
    assert transport.sent == b"error the line took too long\n"
    assert counts.errors == 1


def test_no_more_matrices_are_made_than_clients_read() -> None:
    counts = Counts()
    assert counts.may_make_matrix()
    for _ in range(8):
        connection, transport = unread_by(counts, Limits())
        transport.write(bytes(64 << 20))
        connection.pause_writing()
    assert not counts.may_make_matrix()
    connection.connection_lost(None)
    assert counts.may_make_matrix()
    counts.matrices = 4
    assert not counts.may_make_matrix()
