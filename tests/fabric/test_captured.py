# SPDX-License-Identifier: BSD-3-Clause
"""Dumps captured from real tools: two fabrics, one of them before and after a cable was cut."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from pathlib import Path

import pytest
from walked import agree, walker

from isochrone.fabric.folder import read_fabric
from isochrone.fabric.model import Fabric
from isochrone.fabric.routes import Routes

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "infiniband"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the captured dumps are not here")


def text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


@pytest.mark.parametrize(
    ("name", "hosts", "switches", "links"), [("fattree-2l", 16, 6, 24), ("fattree-648", 648, 90, 972)]
)
def test_a_captured_fabric(name: str, hosts: int, switches: int, links: int) -> None:
    routes = Routes(read_fabric(DATA / name))
    fabric = routes.fabric
    counted = len(fabric.hosts), len(fabric.switches), sum(1 for _ in fabric.cables())
    assert counted == (hosts, switches, links)
    assert fabric.remarks == []
    tables = next((DATA / name).glob("dump_fts*"))
    agree(routes, walker(text(DATA / name / "ibnetdiscover.txt"), text(tables)))


def test_tables_of_ibroute_and_of_dump_fts_say_the_same() -> None:
    for name in ("fattree-2l", "fattree-648"):
        by_fts, by_ibroute = (
            read_fabric_of(DATA / name, ["ibnetdiscover.txt", tables]).tables
            for tables in ("dump_fts.txt*", "ibroute_all.txt*")
        )
        assert by_fts.keys() == by_ibroute.keys()
        for guid, table in by_fts.items():
            # ibroute may leave out LIDs at the end that no port has.
            least = min(len(table), len(by_ibroute[guid]))
            assert (table[:least] == by_ibroute[guid][:least]).all()


def read_fabric_of(folder: Path, patterns: list[str]) -> Fabric:
    with tempfile.TemporaryDirectory() as room:
        for pattern in patterns:
            for file in folder.glob(pattern):
                shutil.copy(file, room)
        return read_fabric(Path(room))


def test_links_and_cables_say_the_same_speeds() -> None:
    by_cables = read_fabric_of(DATA / "fattree-2l", ["ibnetdiscover.txt"])
    by_links = read_fabric_of(DATA / "fattree-2l", ["iblinkinfo.txt"])

    def speeds(fabric: Fabric) -> list[tuple[int, int, int, str]]:
        return sorted(
            (port.lid if node.kind != "switch" else 0, port.number, port.width, port.speed)
            for node in fabric.nodes.values()
            for port in node.ports.values()
            if port.peer is not None
        )

    assert speeds(by_cables) == speeds(by_links)


def test_a_cut_cable_is_seen_and_no_longer_used(tmp_path: Path) -> None:
    found = []
    for state in "01":
        folder = tmp_path / state
        folder.mkdir()
        for stem in ("net", "fts"):
            shutil.copy(DATA / "change-2l" / f"{stem}{state}.txt", folder)
        routes = Routes(read_fabric(folder))
        agree(routes, walker(text(folder / f"net{state}.txt"), text(folder / f"fts{state}.txt")))
        found.append(routes)
    before, after = (
        {
            frozenset(((one.guid, its.number), (other.guid, far.number)))
            for one, its, other, far in routes.fabric.cables()
        }
        for routes in found
    )
    assert after < before
    (cut,) = before - after
    assert any(passing(found[0], end) for end in cut)
    assert not any(passing(found[1], end) for end in cut)


def passing(routes: Routes, out: tuple[int, int]) -> int:
    """Pairs of hosts whose route leaves a switch by a port."""
    hosts = list(routes.wiring.hosts.values())
    return sum(
        (hop.switch.guid, hop.out_port) == out
        for source in hosts
        for target in hosts
        for hop in routes.route(source, target).hops
    )
