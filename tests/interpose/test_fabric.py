# SPDX-License-Identifier: BSD-3-Clause
"""Programs that ask a fabric's server how far their hosts are apart, and what they do without an answer."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from fat_trees import mixed, two_level
from interposed import PROGRAMS, compiled, full_plan, launched
from planned import Bench, defaults_of, said
from served import serving

from isochrone.launch.build import behind

_PLAIN = "20 broadcasts, 0 wrong values\n"
_ALONE = "trees follow the topology alone"


@pytest.fixture(scope="module")
def rounds(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of twenty broadcasts, of 200, 400 and so on up to 4000 bytes."""
    return compiled(bench, tmp_path_factory.mktemp("rounds") / "rounds", PROGRAMS / "rounds.c")


@pytest.fixture(scope="module")
def plan(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan that lays a tree over the network for every broadcast."""
    return full_plan(bench, tmp_path_factory.mktemp("plan"), {3: "depth_first(knomial/3)"})


def _words(plan: Path, address: str) -> list[str]:
    return [sys.executable, "-m", "isochrone", "run", "--plan", str(plan), "--fabric", address, "--"]


def _run(
    bench: Bench, rounds: Path, plan: Path, address: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    before = _words(plan, address)
    done = launched(bench, ("-n", "3", rounds), before=before, ISOCHRONE_EXPLAIN="1", **environment)
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert "broadcasts on rank 0: 20 by the plan's recipes" in done.stderr
    return done


@contextmanager
def _answering(answer: bytes | None) -> Iterator[int]:
    """A server that answers whatever it is asked, or nothing at all; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def serve() -> None:
            try:
                while True:
                    client, _ = server.accept()
                    held.append(client)
                    client.recv(4096)
                    if answer is not None:
                        client.sendall(answer)
                        client.close()
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        for client in held:
            client.close()


@pytest.mark.parametrize("by", ["", "hops@", "speed@", "time@"])
def test_trees_are_laid_by_the_routes_of_a_fabric(
    bench: Bench, rounds: Path, plan: Path, tmp_path: Path, by: str
) -> None:
    net = two_level(2, 2, 1)
    for name, text in (("ibnetdiscover.txt", net.text()), ("dump_fts.txt", net.tables())):
        (tmp_path / name).write_text(text.replace(net.hosts[0], socket.gethostname().partition(".")[0]))
    with serving(tmp_path) as server:
        done = _run(bench, rounds, plan, f"{by}127.0.0.1:{server.port}")
        # Rank 0 alone asks, once.
        (lines,) = re.findall(rb"^isochrone_fabric_lines_total (.*)$", server.fetch("/metrics")[1], re.M)
        assert float(lines) == 1
    assert not any("fabric" in line for line in said(done)), done.stderr


@pytest.mark.parametrize("by", ["hops", "speed", "time"])
def test_each_rank_knows_how_far_all_hosts_are(bench: Bench, rounds: Path, tmp_path: Path, by: str) -> None:
    net = two_level(2, 2, 1, speed=mixed)
    for name, text in (("ibnetdiscover.txt", net.text()), ("dump_fts.txt", net.tables())):
        for host, letter in zip(net.hosts, "abcd", strict=True):
            text = text.replace(host, letter)
        (tmp_path / name).write_text(text)
    preload = compiled(bench, tmp_path / "hosts.so", PROGRAMS / "hosts.c", "-shared", "-fPIC")
    others = defaults_of(bench.launcher).get("LD_PRELOAD", "")
    plan = full_plan(bench, tmp_path, {7: "longest_first(knomial/3)@512"})
    with serving(tmp_path) as server:
        done = launched(
            bench,
            ("-n", "7", rounds),
            before=_words(plan, f"{by}@127.0.0.1:{server.port}"),
            LD_PRELOAD=behind(others, preload),
            FAKE_HOSTS="abdacbd",
            ISOCHRONE_EXPLAIN="1",
        )
    assert (done.returncode, done.stdout) == (0, _PLAIN), done.stderr
    assert "broadcasts on rank 0: 20 by the plan's recipes" in done.stderr
    assert not any("fabric" in line for line in said(done)), done.stderr


def test_a_host_that_is_not_on_the_fabric_is_named(
    bench: Bench, rounds: Path, plan: Path, tmp_path: Path
) -> None:
    with serving(two_level(2, 2, 1).dump(tmp_path / "dumps")) as server:
        done = _run(bench, rounds, plan, f"127.0.0.1:{server.port}")
    (line,) = [line for line in said(done) if "fabric server" in line]
    assert socket.gethostname().partition(".")[0] in line
    assert line.endswith(_ALONE)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "does not answer"),
        (b"", "ended before it had answered"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "what answers is no fabric server"),
        (b"x" * 100000, "what answers is no fabric server"),
        (b"matrix speed 1 float32 4\n\x00", "ended before it had answered"),
        (b"error the fabric is not read yet\n", "the fabric is not read yet"),
        (b"error \x1b[2J\x07" + b"x" * 1000 + b"\n", "?[2J?" + "x" * 295),
    ],
)
def test_a_server_that_does_not_answer_costs_a_line(
    bench: Bench, rounds: Path, plan: Path, answer: bytes | None, why: str
) -> None:
    with _answering(answer) as port:
        done = _run(bench, rounds, plan, f"127.0.0.1:{port}")
    assert f"isochrone: the fabric server 127.0.0.1:{port}: {why}: {_ALONE}" in said(done)


@pytest.fixture(scope="module")
def names(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that answers for name servers."""
    library = tmp_path_factory.mktemp("names") / "names.so"
    return compiled(bench, library, "-shared", "-fPIC", PROGRAMS / "names.c", "-ldl")


def test_a_name_that_is_not_found_in_time_costs_a_line(
    bench: Bench, rounds: Path, plan: Path, names: Path
) -> None:
    done = _run(bench, rounds, plan, "slow.test:7471", LD_PRELOAD=str(names))
    assert f"isochrone: the fabric server slow.test:7471: its name is not found in time: {_ALONE}" in said(
        done
    )


def test_an_address_that_is_silent_leaves_time_for_the_next(
    bench: Bench, rounds: Path, plan: Path, names: Path
) -> None:
    with _answering(b"error the fabric is not read yet\n") as port, ExitStack() as held:
        silent = held.enter_context(socket.create_server(("127.0.0.3", port), backlog=0))
        # More connections wait than it has room for, so that the next has no answer.
        for _ in range(4):
            client = held.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(silent.getsockname())
        done = _run(bench, rounds, plan, f"two.test:{port}", LD_PRELOAD=str(names))
    assert f"isochrone: the fabric server two.test:{port}: the fabric is not read yet: {_ALONE}" in said(done)


def test_no_server_costs_a_line(bench: Bench, rounds: Path, plan: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done = _run(bench, rounds, plan, f"127.0.0.1:{port}")
    assert f"isochrone: the fabric server 127.0.0.1:{port}: Connection refused: {_ALONE}" in said(done)


def test_a_plan_that_lays_no_tree_asks_nobody(bench: Bench, rounds: Path, tmp_path: Path) -> None:
    done = _run(bench, rounds, full_plan(bench, tmp_path), "127.0.0.1:1")
    (line,) = [line for line in said(done) if "fabric" in line]
    assert line.endswith("so the fabric's server is not asked")


def test_what_is_no_address_is_refused_before_the_start(bench: Bench, rounds: Path, plan: Path) -> None:
    done = launched(bench, ("-n", "3", rounds), before=_words(plan, "head"))
    assert done.returncode == 2
    assert "--fabric: 'head' is no address of a fabric server" in done.stderr
