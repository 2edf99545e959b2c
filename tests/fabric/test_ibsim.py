# SPDX-License-Identifier: BSD-3-Clause
"""Real subnet managers and tools on simulated subnets: what is dumped, and what is served while cables go."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fat_trees import Net, three_level, two_level
from ibsim import Subnet, subnet, wait_for
from served import serving
from walked import agree, walker

from isochrone.fabric.check import check
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes
from isochrone.files.fabric import read_manifest

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("minhop", "updn", "ftree")
CLIENTS = 200


@pytest.fixture(scope="session")
def plugin() -> Path:
    """OpenSM's plugin."""
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, capture_output=True)
    command = ["cmake", "--build", "--preset", "release", "--target", "isochrone_opensm"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return ROOT / "build" / "release" / "native" / "libisochrone_opensm.so"


def dumped_well(up: Subnet, folder: Path, net: Net) -> Routes:
    """Dumps with our command, and compares all with what the tools print and a walk through that."""
    told = json.loads(up.isochrone("fabric", "dump", str(folder), "--json"))
    assert (told["hosts"], told["switches"]) == (len(net.hosts), len(net.switches))
    assert told["settled"]
    routes = Routes(read_fabric(folder))
    assert routes.fabric.remarks == []
    assert sum(1 for _ in routes.fabric.cables()) == sum(map(len, net.cables.values())) // 2
    agree(routes, walker(up.run("ibnetdiscover"), up.run("dump_fts", "-n")))
    assert not [finding for finding in check(routes) if finding.kind in ("dead-end", "loop", "split")]
    return routes


@pytest.mark.parametrize("engine", ENGINES)
def test_16_hosts_of_mixed_speeds(tmp_path: Path, small: Net, engine: str) -> None:
    with subnet(small.text(), tmp_path / engine, engine) as up:
        routes = dumped_well(up, tmp_path / "dumps", small)
        names = sorted(routes.wiring.hosts)
        for one, other in random.Random(2).sample([(a, b) for a in names for b in names if a != b], 24):
            traced(up, routes, one, other)


def traced(up: Subnet, routes: Routes, one: str, other: str) -> None:
    """``ibtracert`` goes the same way."""
    lids = [str(routes.wiring.arrays[4][routes.vertex(name)]) for name in (one, other)]
    text = up.run("ibtracert", *lids)
    steps = re.findall(r"\[(\d+)\] -> switch port \{0x([0-9a-f]+)\}\[(\d+)\]", text)
    found = routes.route(routes.vertex(one), routes.vertex(other))
    assert [(int(guid, 16), int(into)) for _, guid, into in steps] == [
        (hop.switch.guid, hop.in_port) for hop in found.hops
    ]
    assert [int(out) for out, _, _ in steps[1:]] == [hop.out_port for hop in found.hops[:-1]]


@pytest.mark.parametrize("engine", ENGINES)
def test_648_hosts(tmp_path: Path, engine: str) -> None:
    net = two_level(36, 18, 18)
    with subnet(net.text(), tmp_path / engine, engine) as up:
        dumped_well(up, tmp_path / "dumps", net)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_3936_hosts(tmp_path: Path, engine: str) -> None:
    net = three_level(41, 8, 12, 4, 8)
    with subnet(net.text(), tmp_path / engine, engine) as up:
        dumped_well(up, tmp_path / "dumps", net)


def test_the_plugin_tells_of_changes(tmp_path: Path, small: Net, plugin: Path) -> None:
    folder = tmp_path / "dumps"
    guid = small.guids()["leaf-00"]
    with (
        subnet(small.text(), tmp_path / "subnet", plugin=plugin) as up,
        up.following(folder, up.events),
    ):
        assert generation(folder) == 1
        up.cut(guid, 5)
        wait_for(lambda: not uses(folder, guid, 5))
        events = up.events.read_text()
        # Each line has a time and a name; the tables of leaf-00 have changed.
        assert all(re.fullmatch(r"\d+\.\d{6} [A-Z_]+( \w+=\w+)*", line) for line in events.splitlines())
        assert f"LFT_CHANGE switch=0x{guid:016x} block=0" in events
        assert events.index("SUBNET_UP") < events.index("LFT_CHANGE") < events.rindex("SUBNET_UP")
        up.restore(guid, 5)
        wait_for(lambda: uses(folder, guid, 5))
    assert generation(folder) >= 3


def test_the_plugin_keeps_no_subnet_manager_down(tmp_path: Path, small: Net, plugin: Path) -> None:
    """Events that cannot be written are lost, and said once."""
    folder = tmp_path / "subnet"
    folder.mkdir()
    (folder / "events").mkdir()
    with subnet(small.text(), folder, plugin=plugin) as up:
        assert "cannot write events to" in up.log.read_text(errors="replace")
        assert up.sweeps() >= 1


def generation(folder: Path) -> int:
    manifest = read_manifest(folder)
    return manifest.generation if manifest else 0


def uses(folder: Path, guid: int, port: int) -> bool:
    """Whether any route leaves by that port in the newest dump."""
    routes = Routes(read_fabric(folder))
    at = next(vertex for vertex, switch in enumerate(routes.switches) if switch.guid == guid)
    (out, _, _), _ = routes.core.uniform(list(routes.wiring.hosts.values()))
    return port < out.shape[1] and bool(out[at, port])


@contextmanager
def kept(folder: Path, room: Path) -> Iterator[dict[int, Path]]:
    """Copies of all generations that a folder has meanwhile, by number."""
    found: dict[int, Path] = {}
    stopped = threading.Event()

    def follow() -> None:
        while not stopped.wait(0.005):
            manifest = read_manifest(folder)
            if manifest is None or manifest.generation in found:
                continue
            copy = room / str(manifest.generation)
            copy.mkdir(parents=True)
            for name in manifest.files:
                os.link(folder / name, copy / name)
            shutil.copy(folder / "fabric.json", copy)
            found[manifest.generation] = copy

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stopped.set()
        thread.join()


class Clients:
    """Many that ask without end which generation answers, and for one route after the other."""

    def __init__(self, port: int, names: list[str]) -> None:
        self._port = port
        self._names = names
        self._stopped = threading.Event()
        self.answers: set[tuple[int, str]] = set()
        self.count = 0
        self.newest = 0

    async def _one(self, seed: int) -> None:
        pick = random.Random(seed)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while not self._stopped.is_set():
            pairs = [":".join(pick.sample(self._names, 2)) for _ in range(3)]
            asked = "".join(f"ports {pair}\n" for pair in pairs)
            writer.write(f"version\n{asked}version\n".encode())
            answers = [(await reader.readline()).decode() for _ in range(5)]
            begin, end = (int(answers[at].split()[-1]) for at in (0, 4))
            # Lines that come at once are of one generation; those after that never of an older one.
            assert begin == end, answers
            for pair, answer in zip(pairs, answers[1:4], strict=True):
                one, other = pair.split(":")
                assert answer.startswith(f"{one} "), answer
                assert answer.endswith(f" {other}\n"), answer
                self.answers.add((begin, answer))
                self.count += 1
            self.newest = max(self.newest, begin)
            await asyncio.sleep(0.01)
        writer.write_eof()
        assert await reader.read() == b""

    async def _all(self) -> None:
        await asyncio.gather(*(self._one(seed) for seed in range(CLIENTS)))

    @contextmanager
    def asking(self) -> Iterator[None]:
        failed: list[BaseException] = []

        def run() -> None:
            try:
                asyncio.run(self._all())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join(60)
        assert not thread.is_alive()
        assert not failed, failed


def test_a_cable_is_cut_and_restored_while_200_clients_ask(tmp_path: Path, small: Net) -> None:
    """No answer is wrong, mixed or lost."""
    folder, guid = tmp_path / "dumps", small.guids()["leaf-00"]
    with (
        subnet(small.text(), tmp_path / "subnet") as up,
        kept(folder, tmp_path / "kept") as generations,
        up.following(folder, up.log),
        serving(folder) as server,
    ):
        clients = Clients(server.port, small.hosts)
        with clients.asking():
            wait_for(lambda: clients.newest >= 1)
            for change, port_is_used in ((up.cut, False), (up.restore, True)):
                change(guid, 5)
                wait_for(lambda wanted=port_is_used: uses(folder, guid, 5) == wanted)
                wait_for(lambda: clients.newest == generation(folder))
    assert clients.count > 10 * CLIENTS
    walks = {}
    for number in {number for number, _ in clients.answers}:
        texts = [
            next(generations[number].glob(f"{stem}-*")).read_text()
            for stem in ("ibnetdiscover", "forwarding")
        ]
        walks[number] = walker(*texts)
    assert len(walks) >= 3
    for number, answer in clients.answers:
        one, *hops, other = answer.split()
        found = walks[number].walk(one, other)
        assert found is not None, (number, answer)
        assert hops == [f"0x{at:016x}:{into}:{out}" for at, into, out in found[0]], (number, answer)
