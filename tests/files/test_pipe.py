# SPDX-License-Identifier: BSD-3-Clause
"""Files may come through a pipe; one that nobody writes to is refused after a while."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isochrone.errors import IsochroneError
from isochrone.files import pipe, read_measurements, read_plan, read_topology
from isochrone.files.clusters import read_clusters
from isochrone.files.text import read_lines, read_object

_READERS: list[Callable[[Path], Any]] = [read_plan, read_topology, read_measurements, read_clusters]


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "PATIENCE_S", 0.2)


def _written_to(path: Path, *pieces: bytes, pause_s: float = 0.0) -> threading.Thread:
    def write() -> None:
        with path.open("wb", buffering=0) as file:
            for piece in pieces:
                time.sleep(pause_s)
                file.write(piece)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("read", _READERS)
def test_a_pipe_that_nobody_writes_to_is_refused(fifo: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(IsochroneError, match="nobody writes to this pipe") as caught:
        read(fifo)
    assert str(fifo) in str(caught.value)


@pytest.mark.usefixtures("impatient")
def test_a_writer_of_nothing_is_no_document(fifo: Path) -> None:
    thread = _written_to(fifo)
    with pytest.raises(IsochroneError):
        read_object(fifo)
    thread.join()


@pytest.mark.parametrize("pause_s", [0.0, 0.1])
def test_what_a_writer_gives_in_pieces_is_read_whole(fifo: Path, pause_s: float) -> None:
    many = b"[" + b"1," * 200_000 + b"1]"
    thread = _written_to(fifo, b'{"a": ', many, b"}", pause_s=pause_s)
    assert len(read_object(fifo)["a"]) == 200_001
    thread.join()


def test_a_writer_that_is_there_may_take_longer_than_none(
    fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "PATIENCE_S", 0.5)
    thread = _written_to(fifo, b'{"a": 1}\n', b'{"b": 2}\n', pause_s=1.5)
    assert [line for _, line in read_lines(fifo)] == [{"a": 1}, {"b": 2}]
    thread.join()


def test_the_output_of_a_command_is_read_by_its_descriptor() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(0.3); print('{\"a\": 1}')"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert read_object(Path(f"/dev/fd/{process.stdout.fileno()}")) == {"a": 1}
