# SPDX-License-Identifier: BSD-3-Clause
"""A fabric server as its users have it: a process, asked over loopback."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fat_trees import Net

from isochrone.files.fabric import Manifest, write_manifest

WAIT_S = 60.0


@dataclass
class Server:
    """A server that runs.

    Attributes:
        port: of lines.
        http: where its pages are.
    """

    process: subprocess.Popen[str]
    port: int
    http: str | None

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def ask(self, text: str | bytes) -> bytes:
        """All answers to some lines, asked over a connection of their own."""
        with self.connect() as asked:
            asked.sendall(text.encode() if isinstance(text, str) else text)
            asked.shutdown(socket.SHUT_WR)
            return received(asked)

    def get(self, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of a page."""
        status, data, _ = self.fetch(path, body)
        return status, json.loads(data)

    def fetch(self, path: str, body: object = None) -> tuple[int, bytes, dict[str, str]]:
        data = None if body is None else json.dumps(body).encode()
        assert self.http is not None
        where, kind = self.http + path, {"Content-Type": "application/json"}
        request = urllib.request.Request(where, data, kind)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:  # noqa: S310
                return answer.status, answer.read(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read(), dict(error.headers)

    def metrics(self) -> dict[str, float]:
        """The value of each, by its name."""
        from prometheus_client.parser import text_string_to_metric_families

        text = self.fetch("/metrics")[1].decode()
        return {
            sample.name: sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def stop(self) -> int:
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)


def received(asked: socket.socket) -> bytes:
    """All until the other end closes."""
    pieces = []
    while piece := asked.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """A server of a folder, on free ports."""
    command: Sequence[str] = [
        *(sys.executable, "-m", "isochrone", "fabric", "serve", str(folder)),
        *("--port", "0", "--http-port", "0", "--json", *options),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            text += line
        told = json.loads(text)
        http = told["http"].rstrip("/") if told["http"] else None
        yield Server(process, int(told["lines"].rpartition(":")[2]), http)
    finally:
        process.kill()
        # Its pipes end when no process of its is left.
        process.communicate(timeout=WAIT_S)


def write_generation(folder: Path, net: Net, generation: int, tables: str | None = None) -> None:
    """Dumps as ``isochrone fabric dump`` replaces them: the manifest last."""
    folder.mkdir(exist_ok=True)
    texts = {"ibnetdiscover": net.text(), "forwarding": tables if tables is not None else net.tables()}
    digests = {}
    for stem, text in texts.items():
        name = f"{stem}-{generation}.txt"
        (folder / name).write_text(text)
        digests[name] = hashlib.sha256(text.encode()).hexdigest()
    write_manifest(
        folder, Manifest(generation=generation, made="2026-01-01T00:00:00Z", settled=True, files=digests)
    )


def eventually(holds: Any, within_s: float = WAIT_S) -> None:
    """Waits until something holds."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
