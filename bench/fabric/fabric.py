#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fabrics cost: reading their dumps, matrices of all hosts, and a server under load.

Usage: fabric.py RESULT.json

Fat trees of 648 hosts (two levels) and 3,936 hosts with 524 switches (three levels), with tables of shortest
routes. Every row is the median of several runs, each in a process of its own. Server and load share the
machine: the load is load.cpp, compiled here, one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes
from isochrone.files import provenance

HERE = Path(__file__).resolve().parent
RUNS = 5
SECONDS = 5
LEADERS = 32
QUESTIONS = 50_000


def nets() -> dict[str, Any]:
    """The fabrics, by their number of hosts."""
    sys.path.insert(0, str(HERE.parent.parent / "tests" / "support"))
    from fat_trees import three_level, two_level

    return {"648": two_level(36, 18, 18), "3936": three_level(41, 8, 12, 4, 8)}


def read(folder: Path) -> dict[str, float]:
    """Of one process: time to read dumps, and to make the matrix of hops between all hosts."""
    begin = time.perf_counter()
    routes = Routes(read_fabric(folder))
    load_s = time.perf_counter() - begin
    vertices = list(routes.wiring.hosts.values())
    begin = time.perf_counter()
    routes.hops(vertices)
    return {
        "load_s": load_s,
        "hop_matrix_s": time.perf_counter() - begin,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def medians(rows: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Of each column, with its extremes."""
    return {
        name: {
            "median": statistics.median(row[name] for row in rows),
            "least": min(row[name] for row in rows),
            "most": max(row[name] for row in rows),
        }
        for name in rows[0]
    }


def questions(net: Any) -> str:
    """Pairs of hosts, at random."""
    random = Random(1)  # noqa: S311
    pairs = (random.sample(net.hosts, 2) for _ in range(QUESTIONS))
    return "".join(f"query {one}:{other}\n" for one, other in pairs)


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, int]]:
    """Port and process of a server."""
    command = [sys.executable, "-m", "isochrone", "fabric", "serve", str(folder)]
    with subprocess.Popen(
        [*command, "--port", "0", "--http-port", "0", "--json"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield _port(process), process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def _port(process: subprocess.Popen[str]) -> int:
    text = ""
    while process.stdout is not None and not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    return int(json.loads(text)["lines"].rpartition(":")[2])


def matrix_ms(port: int, hosts: list[str]) -> dict[str, float]:
    """A matrix of the leaders' hops, asked over TCP as rank 0 of a job asks it."""
    line = ("matrix " + ",".join(hosts) + "\n").encode()
    need = len(f"matrix hops {len(hosts)} uint16 {2 * len(hosts) ** 2}\n") + 2 * len(hosts) ** 2
    first, again = [], []
    for _ in range(200):
        begin = time.perf_counter()
        with socket.create_connection(("127.0.0.1", port)) as asked:
            asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for times in (first, again):
                asked.sendall(line)
                got = 0
                while got < need:
                    got += len(asked.recv(1 << 16))
                times.append((time.perf_counter() - begin) * 1e3)
                begin = time.perf_counter()
    return {
        "with_connecting": statistics.median(first),
        "again": statistics.median(again),
        "most": max(first),
    }


def main(result: Path) -> None:
    """Measures all, and writes it."""
    found: dict[str, Any] = {
        "provenance": {**provenance(), "cores": os.cpu_count()},
        "fabrics": {},
    }
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        load = room / "load"
        subprocess.run(["c++", "-std=c++20", "-O2", "-o", load, HERE / "load.cpp"], check=True)
        for hosts, net in nets().items():
            folder = net.dump(room / hosts)
            rows = []
            for _ in range(RUNS):
                told = subprocess.run(
                    [sys.executable, __file__, "--read", folder], check=True, capture_output=True, text=True
                )
                rows.append(json.loads(told.stdout))
            row: dict[str, Any] = {"switches": len(net.switches), **medians(rows)}
            with served(folder) as (port, pid):
                row["leaders_matrix_ms"] = matrix_ms(port, net.hosts[:: len(net.hosts) // LEADERS][:LEADERS])
                row["load"] = [
                    json.loads(
                        subprocess.run(
                            [load, str(port), str(connections), str(SECONDS), str(ahead)],
                            input=questions(net),
                            check=True,
                            capture_output=True,
                            text=True,
                        ).stdout
                    )
                    for connections, ahead in [
                        (1, 1),
                        (200, 1),
                        (1000, 1),
                        (1000, 1),
                        (1000, 1),
                        (1000, 4),
                        (10000, 0),
                    ]
                ]
                row["server_rss_mb"] = _resident_mb(pid)
            found["fabrics"][hosts] = row
            print(json.dumps(row, indent=1), file=sys.stderr)
    result.write_text(json.dumps(found, indent=1) + "\n")


def _resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Times fabrics and their server.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("result", type=Path, nargs="?", metavar="RESULT.json")
    what.add_argument("--read", type=Path, metavar="FOLDER", help="of dumps: what one process does")
    wanted = parser.parse_args()
    if wanted.read:
        print(json.dumps(read(wanted.read)))
    else:
        main(wanted.result)
