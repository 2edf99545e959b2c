# SPDX-License-Identifier: BSD-3-Clause
"""The server over HTTP: JSON, pages and metrics."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
pytest.importorskip("uvloop", reason="isochrone[serve] is not installed")
from served import WAIT_S, Server

from isochrone.fabric.routes import Routes
from isochrone.fabric.serve import web
from isochrone.fabric.serve.lines import Counts


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
    assert server.get("/matrix", {"hosts": [f"node-{number}" for number in range(513)]})[0] == 422
    status, told = server.get("/matrix", {"hosts": ["node-000-000", "node-000-001", "node-000-000"]})
    assert (status, told["detail"]) == (422, "a host is named twice; name each once")
    # By its GUID it is the same.
    twice = [told["hosts"][0][key] for told in (server.get("/fabric")[1],) for key in ("name", "guid")]
    assert server.get("/matrix", {"hosts": twice})[0] == 422
    assert server.http is not None
    host, port = server.http.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as asked:
        asked.sendall(b"POST /matrix HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
        assert b" 413 " in asked.recv(1000)
    assert server.fetch("/../pyproject.toml")[0] == 404
    assert server.fetch("/docs")[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        *('{"hosts":NaN}', '{"hosts":[NaN]}', '{"hosts":[1e999]}', '{"hosts":["\\ud800"]}'),
        *('{"\\ud800":1}', "[" * 100_000, "\ud800", "", "null", '{"hosts":["a' + "\0" * 300 + '"]}'),
    ],
)
def test_bodies_that_are_none_are_refused_and_not_repeated(server: Server, body: str) -> None:
    assert server.http is not None
    data = body.encode("utf-8", "surrogatepass")
    request = urllib.request.Request(  # noqa: S310
        server.http + "/matrix", data, {"Content-Type": "application/json"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=WAIT_S)  # noqa: S310
    assert refused.value.code in (400, 422)
    told = refused.value.read()
    assert len(told) < 1000
    assert b"input" not in told.replace(b"valid", b"")
    assert json.loads(told)["detail"]


@pytest.mark.parametrize("length", ["9999999", "-1", "1" * 5000, "\xb2", "x"])
def test_lengths_that_are_none_are_refused(server: Server, length: str) -> None:
    assert server.http is not None
    host, port = server.http.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as asked:
        head = f"POST /matrix HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
        asked.sendall(head.encode("latin1"))
        assert asked.recv(1000).split(b" ")[1] in (b"400", b"413")


def test_matrices_are_made_one_at_a_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way = most = 0
    lock = threading.Lock()

    def made(now: object, hosts: list[str]) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return "{}"

    monkeypatch.setattr(web, "_matrix", made)
    app = web.application(SimpleNamespace(current=None), Counts())  # type: ignore[arg-type]

    async def ask() -> None:
        sent: list[dict[str, object]] = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b'{"hosts":["a"]}', "more_body": False}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/matrix", "query_string": b"",
                 "headers": [(b"content-type", b"application/json"), (b"content-length", b"15")]}  # fmt: skip
        await app(scope, receive, send)  # type: ignore[arg-type]
        assert sent[0]["status"] == 200

    async def ask_all() -> None:
        await asyncio.gather(*(ask() for _ in range(8)))

    asyncio.run(ask_all())
    assert most == 1


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
    before = server.metrics()
    server.ask("health\nbogus\n")
    after = server.metrics()
    assert after["isochrone_fabric_lines_total"] == before["isochrone_fabric_lines_total"] + 2
    assert after["isochrone_fabric_errors_total"] == before["isochrone_fabric_errors_total"] + 1
    assert (after["isochrone_fabric_hosts"], after["isochrone_fabric_switches"]) == (16, 6)
    assert after["isochrone_fabric_alarm"] == 0
