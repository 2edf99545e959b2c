# SPDX-License-Identifier: BSD-3-Clause
"""Whatever goes wrong while a report is written, no part of a file stays behind."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.files.text import refuse_stream
from isochrone.files.whole import write_whole
from isochrone.report import read_facts, write_page


@pytest.mark.parametrize("which", ["report.html", "broadcast.pdf"])
def test_a_full_disk_leaves_the_files_as_they_were(
    survey_of: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    folder = survey_of("laptop").write(tmp_path)
    write_page(read_facts(folder))
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    write_bytes = Path.write_bytes

    def until_the_disk_is_full(path: Path, data: bytes) -> int:
        if which not in path.name:
            return write_bytes(path, data)
        write_bytes(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_bytes", until_the_disk_is_full)
    with pytest.raises(IsochroneError, match="cannot write the report: No space left on device"):
        write_page(read_facts(folder))
    after = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    assert after == before


def test_what_is_told_to_stop_while_it_writes_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys, time\n"
        "import signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
        "from isochrone.files.whole import write_whole\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "write = pathlib.Path.write_bytes\n"
        "def slowly(path, data):\n"
        "    write(path, data)\n"
        "    time.sleep(60)\n"
        "pathlib.Path.write_bytes = slowly\n"
        "write_whole(path, b'new')\n"
    )
    path = tmp_path / "report.html"
    path.write_text("old")
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(IsochroneError, match="is a device or a pipe, and no file; name a file with -o"):
        refuse_stream(pipe)
    assert pipe.is_fifo()


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_disk_that_is_full_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "figure.svg").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: .*figure.svg"):
        write_whole(tmp_path / "figure.svg", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_a_file_is_put_in_place_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"1")
    write_whole(tmp_path / "a", b"22")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"22"]
