# SPDX-License-Identifier: BSD-3-Clause
"""Dumps in all the forms that tools and their versions write, and damaged ones."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest
from fat_trees import Net, two_level
from walked import agree, walker

from isochrone.errors import IsochroneError
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.model import NO_PORT
from isochrone.fabric.rates import LANE_GBPS
from isochrone.fabric.routes import Routes


def routes_of(folder: Path, **files: str) -> Routes:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return Routes(read_fabric(folder))


def without_names(tables: str) -> str:
    return re.sub(r" : \(.*\)$", "", tables, flags=re.MULTILINE)


def as_ibroute(tables: str) -> str:
    return re.sub(r"switch DR path slid 0; dlid 0; 0,(\d+) guid", r"switch Lid \1 guid", tables)


def as_opensm_dumps(tables: str) -> str:
    """``opensm-lfts.dump``: comments, no titles, the table's end as ibroute writes it."""
    lines = [line for line in tables.splitlines() if "Lid  Out" not in line and "Port     Info" not in line]
    return "\n".join(re.sub(r"^(0x\w+ \d+) : .*$", r"\1 # x", line) for line in lines) + "\n"


def without_zeros(text: str) -> str:
    return re.sub(r"guid 0x0*", "guid 0x", text)


def in_another_order(text: str, begin: str) -> str:
    records = re.split(rf"^(?={begin})", text, flags=re.MULTILINE)
    random.Random(3).shuffle(records)
    return "".join(records)


@pytest.mark.parametrize(
    "form",
    [
        str,
        without_names,
        as_ibroute,
        as_opensm_dumps,
        without_zeros,
        lambda t: in_another_order(t, "Unicast"),
    ],
    ids=["dump_fts", "without names", "ibroute", "opensm-lfts.dump", "without zeros", "another order"],
)
def test_tables_in_all_forms(tmp_path: Path, small: Net, form) -> None:  # type: ignore[no-untyped-def]
    routes = routes_of(tmp_path, net=small.text(), tables=form(small.tables()))
    assert routes.fabric.remarks == []
    agree(routes, walker(small.text(), small.tables()))


def test_cables_in_another_order(tmp_path: Path, small: Net) -> None:
    routes = routes_of(tmp_path, net=in_another_order(small.text(), "vendid"), tables=small.tables())
    agree(routes, walker(small.text(), small.tables()))


def test_tables_of_each_switch_in_a_file_and_packed(tmp_path: Path, small: Net) -> None:
    (tmp_path / "net.gz").write_bytes(gzip.compress(small.text().encode()))
    for number, table in enumerate(re.split(r"^(?=Unicast)", small.tables(), flags=re.MULTILINE)[1:]):
        (tmp_path / f"table-{number}").write_text(table)
    agree(Routes(read_fabric(tmp_path)), walker(small.text(), small.tables()))


@pytest.mark.parametrize("speed", sorted(LANE_GBPS))
def test_speeds(tmp_path: Path, speed: str) -> None:
    net = two_level(2, 2, 1, speed=lambda one, other: f"4x{speed}")
    routes = routes_of(tmp_path, net=net.text(), tables=net.tables())
    found = routes.route(routes.vertex("node-000-000"), routes.vertex("node-001-001"))
    assert found.speed_gbps == pytest.approx(4 * LANE_GBPS[speed])


def test_newer_tools_add_rates_to_speeds(tmp_path: Path) -> None:
    net = two_level(2, 2, 1, speed=lambda one, other: "2xNDR")
    text = net.text().replace("2xNDR", "2xNDR200")
    routes = routes_of(tmp_path, net=text, tables=net.tables())
    assert routes.route(routes.vertex("node-000-000"), routes.vertex("node-001-001")).speed_gbps == 200


def test_hosts_with_several_adapters_and_ports(tmp_path: Path) -> None:
    """A host is what its adapters' descriptions begin with; any of its ports can be named by GUID."""
    net = two_level(2, 3, 1)
    text = net.text().replace('"node-000-001 HCA-1"', '"node-000-000 HCA-2"')
    routes = routes_of(tmp_path, net=text, tables=net.tables())
    assert len(routes.fabric.hosts) == 5
    assert len(routes.fabric.hosts["node-000-000"]) == 2
    second = net.guids()["node-000-001"]
    assert routes.vertex(f"0x{second:x}") != routes.vertex("node-000-000")
    assert routes.vertex(f"0x{second + 1:016x}") == routes.vertex(f"0x{second:x}")


def test_aggregation_nodes_are_no_hosts(tmp_path: Path) -> None:
    net = two_level(2, 2, 1)
    name = "Mellanox Technologies Aggregation Node"
    text = net.text().replace('"node-001-001 HCA-1"', f'"{name}"')
    routes = routes_of(tmp_path, net=text, tables=net.tables())
    assert len(routes.fabric.hosts) == 3


def test_several_lids_of_a_port(tmp_path: Path) -> None:
    """With an LMC of 2 a host has four LIDs, and may have four ways to it."""
    net = two_level(2, 2, 3)
    text = re.sub(r"# lid (\d+) lmc 0", lambda found: f"# lid {int(found[1]) * 4} lmc 2", net.text())
    parts = []
    for table in re.split(r"^(?=Unicast)", net.tables(), flags=re.MULTILINE)[1:]:
        lines = []
        for line in table.splitlines():
            if found := re.match(r"0x(\w+) (\d+)(.*)", line):
                lid, out = int(found[1], 16), int(found[2])
                is_up = table.splitlines()[0].endswith("(leaf-00):") and out > 2
                lines += [
                    f"0x{lid * 4 + path:04x} {3 + (out + path) % 3 if is_up else out:03d}{found[3]}"
                    for path in range(4)
                ]
            else:
                lines.append(re.sub(r"^(\d+) valid", lambda f: f"{int(f[1]) * 4} valid", line))
        parts.append("\n".join(lines) + "\n")
    routes = routes_of(tmp_path, net=text, tables="".join(parts))
    assert routes.fabric.remarks == []
    source, target = routes.vertex("node-000-000"), routes.vertex("node-001-000")
    ways = [routes.route(source, target, path) for path in range(5)]
    assert all(way.arrives for way in ways)
    assert len({way.hops[1].switch.guid for way in ways}) == 3
    assert ways[4] == ways[0]


def test_missing_entries_are_said(tmp_path: Path, small: Net) -> None:
    lid = small.lids()["node-001-000"]
    tables = re.sub(rf"^0x{lid:04x} .*\n", "", small.tables(), flags=re.MULTILINE)
    routes = routes_of(tmp_path, net=small.text(), tables=tables)
    assert len(routes.fabric.remarks) == len(small.switches)
    assert "21 of 22 entries" in routes.fabric.remarks[0]
    table = routes.fabric.tables[small.guids()["leaf-00"]]
    assert table[lid] == NO_PORT
    found = routes.route(routes.vertex("node-000-000"), routes.vertex("node-001-000"))
    assert not found.arrives
    assert "without an entry" in found.ending


def test_a_half_dumped_fabric_is_usable_and_says_so(tmp_path: Path, small: Net) -> None:
    tables = small.tables()
    half = tables[: tables.index("(leaf-03):")]
    half = half[: half.rindex("Unicast")]
    routes = routes_of(tmp_path, net=small.text(), tables=half)
    assert routes.route(routes.vertex("node-000-000"), routes.vertex("node-000-001")).arrives
    assert not routes.route(routes.vertex("node-003-000"), routes.vertex("node-000-001")).arrives
    assert "3 of 6 switches have no table, such as leaf-03" in routes.fabric.remarks[0]
    cut = tables[: len(tables) - len(tables.rstrip().rpartition("\n")[2]) - 2]
    routes = routes_of(tmp_path, net=small.text(), tables=cut[: cut.rindex("\n") + 1])
    assert any("has no end" in remark for remark in routes.fabric.remarks)


def test_tables_without_cables(tmp_path: Path, small: Net) -> None:
    routes = routes_of(tmp_path, tables=small.tables())
    assert len(routes.fabric.tables) == len(small.switches)
    assert all("has a table and no cables" in remark for remark in routes.fabric.remarks)


def test_a_cable_that_one_end_tells_of(tmp_path: Path, small: Net) -> None:
    lines = small.text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith('[5]\t"S-'))
    del lines[at]
    routes = routes_of(tmp_path, net="\n".join(lines), tables=small.tables())
    assert any("of which nothing is told" in remark for remark in routes.fabric.remarks)


def test_damage_is_named_by_file_and_line(tmp_path: Path, small: Net) -> None:
    net, tables = small.text(), small.tables()
    first = 'Switch\t6 "S-'
    for name, damaged, what in (
        ("net", net.replace(first, 'Swatch\t6 "S-', 1), "is no line of ibnetdiscover"),
        ("net", '[1]\t"S-0000000000000001"[1]\n' + net, "a cable stands before any node"),
        ("net", net.replace("[6]\t", "[77]\t", 1), "is not one of the node's"),
        ("net", net.replace("[2]\t", "[1]\t", 1), "has two cables"),
        ("tables", tables.replace("0x0002 ", "0xzz02 ", 1), "is no line of a forwarding table"),
        ("tables", tables[tables.index("0x0001") :], "entries stand before any switch"),
        ("tables", tables.replace("0x0001", "0xfffe", 1), "is none of one port"),
    ):
        assert damaged not in (net, tables)
        files = {"net": net, "tables": tables, name: damaged}
        with pytest.raises(IsochroneError) as error:
            routes_of(tmp_path, **files)
        assert re.search(rf"{name}\.txt:\d+", str(error.value)), error.value
        assert what in str(error.value)


def test_what_is_no_dump(tmp_path: Path, small: Net) -> None:
    with pytest.raises(IsochroneError, match="holds no dump"):
        routes_of(tmp_path, readme="Nothing to see here.\n")
    with pytest.raises(IsochroneError, match="keep one fabric in a folder"):
        routes_of(tmp_path, one=small.text(), two=small.text())
    with pytest.raises(IsochroneError):
        read_fabric(tmp_path / "nowhere")
