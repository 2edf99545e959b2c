# SPDX-License-Identifier: BSD-3-Clause
"""The speeds of simulated cables are told as a fabric's server tells them."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path

import numpy as np

from isochrone import _core
from isochrone.sim.description import load_system
from isochrone.sim.system import System
from isochrone.studies.speeds import differ, serving_speeds

SYSTEM = """
name: mixed
nodes: 3
sockets: 1
cores: 2
links:
  node:    {latency: 0.6us, bandwidth: 8GB/s}
  network: {latency: 2us, bandwidth: 2GB/s}
"""
FAULTS = "faults:\n  - {cable: 1, bandwidth: 0.5}\n"


def _system(folder: Path, text: str) -> System:
    path = folder / "system.yaml"
    path.write_text(text, encoding="utf-8")
    return load_system(str(path))


def _ask(address: str, line: bytes) -> bytes:
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as asked:
        asked.sendall(line)
        asked.shutdown(socket.SHUT_WR)
        with asked.makefile("rb") as answer:
            return answer.read()


def test_a_matrix_has_the_slowest_cable_between_hosts_in_the_order_that_was_asked(tmp_path: Path) -> None:
    with serving_speeds(_system(tmp_path, SYSTEM + FAULTS)) as address:
        _core.check_fabric_address(address)
        head, _, data = _ask(address, b"matrix speed mixed-1,mixed-2,mixed-0\n").partition(b"\n")
    assert head == b"matrix speed 3 float32 36"
    speeds = np.frombuffer(data, "<f4").reshape(3, 3)
    assert speeds[~np.eye(3, dtype=bool)].tolist() == [8, 8, 8, 16, 8, 16]


def test_what_is_not_known_is_answered_with_an_error(tmp_path: Path) -> None:
    with serving_speeds(_system(tmp_path, SYSTEM)) as address:
        for line in (b"matrix hops mixed-0,mixed-1\n", b"matrix speed mixed-0,other\n", b"\xff\n", b"\n"):
            assert re.fullmatch(rb"error [ -~]+\n", _ask(address, line))


def test_cables_differ_where_one_is_slower(tmp_path: Path) -> None:
    assert differ(_system(tmp_path, SYSTEM + FAULTS))
    assert not differ(_system(tmp_path, SYSTEM))
    assert not differ(_system(tmp_path, SYSTEM + "faults:\n  - {cable: 1, latency: 2}\n"))


def test_who_is_connected_and_asks_nothing_does_not_hold_up_the_end(tmp_path: Path) -> None:
    def serve_one_that_is_silent() -> None:
        with serving_speeds(_system(tmp_path, SYSTEM)) as address:
            port = int(address.rpartition(":")[2])
            silent.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            # When this one is answered, the silent one has a thread already.
            _ask(address, b"nothing\n")

    silent: list[socket.socket] = []
    thread = threading.Thread(target=serve_one_that_is_silent, daemon=True)
    thread.start()
    thread.join(20)
    silent[0].close()
    assert not thread.is_alive()
