# SPDX-License-Identifier: BSD-3-Clause
"""The server over HTTP: JSON, pages and metrics."""

from __future__ import annotations

import json
import socket

import pytest

pytest.importorskip("fastapi", reason="isochrone[serve] is not installed")
pytest.importorskip("uvloop", reason="isochrone[serve] is not installed")
from served import WAIT_S, Server

from isochrone.fabric.routes import Routes


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
    before = server.metrics()
    server.ask("health\nbogus\n")
    after = server.metrics()
    assert after["isochrone_fabric_lines_total"] == before["isochrone_fabric_lines_total"] + 2
    assert after["isochrone_fabric_errors_total"] == before["isochrone_fabric_errors_total"] + 1
    assert (after["isochrone_fabric_hosts"], after["isochrone_fabric_switches"]) == (16, 6)
    assert after["isochrone_fabric_alarm"] == 0
