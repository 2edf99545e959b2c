# SPDX-License-Identifier: BSD-3-Clause
"""Dumps in all the forms that tools and their versions write, and damaged ones."""

from __future__ import annotations

import gzip
import random
import re
from itertools import permutations
from pathlib import Path

import pytest
from fat_trees import Net, two_level
from typer.testing import CliRunner
from walked import agree, walker

from isochrone.cli.main import app
from isochrone.errors import IsochroneError
from isochrone.fabric import model
from isochrone.fabric.check import check
from isochrone.fabric.delays import by_hops
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.formats import FORMATS, forwarding, iblinkinfo, ibnetdiscover
from isochrone.fabric.model import NO_PORT, Fabric, Node
from isochrone.fabric.rates import LANE_GBPS
from isochrone.fabric.routes import Routes
from isochrone.fabric.tree import tree


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


def in_lines_of_windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def indented(text: str) -> str:
    return "".join(f" \t{line}" for line in text.splitlines(keepends=True))


def entries_indented(tables: str) -> str:
    return re.sub(r"^0x", "  0x", tables, flags=re.MULTILINE)


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
        in_lines_of_windows,
        lambda t: in_lines_of_windows(without_names(t)),
        indented,
        entries_indented,
        lambda t: in_lines_of_windows(as_opensm_dumps(t)),
        lambda t: in_another_order(t, "Unicast"),
    ],
    ids=[
        *("dump_fts", "without names", "ibroute", "opensm-lfts.dump", "without zeros", "CR LF"),
        *("CR LF without names", "indented"),
        *("entries indented", "opensm-lfts.dump in CR LF", "another order"),
    ],
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


@pytest.mark.parametrize(
    "device", ["mlx5_0", "HCA-1", "ibp59s0", "ibs2", "ibx0002c90300a1b2c3", "qib0", "opap1s0"]
)
def test_hosts_stand_before_devices_whatever_names_them(device: str) -> None:
    node = Node(1, "adapter", f"node-7 {device}", 1)
    assert (node.host, node.device) == ("node-7", device)


def test_what_does_not_end_in_a_device_names_no_host() -> None:
    for name in ("node-7 of the lab", "", "node-7 ibex", "Quantum switch"):
        assert Node(1, "adapter", name, 1).host is None, name


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


@pytest.mark.parametrize(
    ("lids", "end", "is_said"),
    [
        ("0x0-0x16", "22 lids dumped", False),
        ("0x0-0x16", "23 lids dumped", True),
        ("0-22", "22 lids dumped", False),
        ("0x0-0x17", "23 lids dumped", False),  # OpenSM has the highest LID there
        ("0-23", "23 lids dumped", False),
        ("0-21", "21 lids dumped", False),
        ("0-20", "20 lids dumped", True),
        ("0x0-0x17", "23 valid lids dumped", True),
    ],
)
def test_what_the_end_of_a_table_counts(
    tmp_path: Path, small: Net, lids: str, end: str, is_said: bool
) -> None:
    tables = small.tables().replace("[0x0-0x16]", f"[{lids}]").replace("22 valid lids dumped", end)
    routes = routes_of(tmp_path, net=small.text(), tables=tables)
    assert len(routes.fabric.remarks) == (len(small.switches) if is_said else 0)


def test_a_highest_lid_that_dump_fts_leaves_out_is_said(tmp_path: Path) -> None:
    head = "Unicast lids [0x0-0x40] of switch Lid 1 guid 0x0000000000000001 (leaf):\n"
    for highest, is_said in ((0x3F, True), (0x40, False)):
        entries = "".join(f"0x{lid:04x} 001 : (x)\n" for lid in range(1, highest + 1))
        fabric = Fabric("")
        forwarding.read(f"{head}{entries}{highest} valid lids dumped\n".encode(), "t", fabric)
        assert any("ends before its highest LID 0x40" in line for line in fabric.remarks) == is_said


def test_links_that_iblinkinfo_has_in_parentheses() -> None:
    """The speed FDR10, widths that it does not know, and what a link could do and why it does not."""
    text = """Switch: 0x0000000000000001 leaf:
   1  1[  ] ==( 4X          10.0 Gbps (FDR10) Active/  LinkUp)==>   2   1[  ] "n0 HCA-1" ( )
   1  2[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==> 3 1[  ] "n1 HCA-1" \
( Could be FDR10 (Found link at QDR but expected speed is FDR10))
   1  3[  ] ==( undefined (0) 2.5 Gbps Active/  LinkUp)==>   4   1[  ] "n2 HCA-1" ( )
   1  4[  ] ==(                Down/ Polling)==>             [  ] "" ( )
CA: n0 HCA-1:
   0x0000000000000011  2  1[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>  1  1[  ] "leaf" ( )
"""
    assert FORMATS[1].head.search(text.encode())
    fabric = Fabric("")
    iblinkinfo.read(text.encode(), "links", fabric)
    ports = fabric.nodes[1].ports
    assert (ports[1].speed, ports[1].width) == ("FDR10", 4)
    assert (ports[2].speed, ports[2].able_speed) == ("QDR", "FDR10")
    assert 3 in ports
    assert 4 not in ports


def test_a_switch_whose_port_has_another_guid_is_one_switch() -> None:
    fabric = Fabric("")
    net = """switchguid=0x1(101)
Switch 2 "S-0000000000000001" # "leaf" enhanced port 0 lid 1 lmc 0
[1] "H-0000000000000010"[1](11) # "n0 HCA-1" lid 2 4xSDR

caguid=0x10
Ca 1 "H-0000000000000010" # "n0 HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf" lid 1 4xSDR
"""
    ibnetdiscover.read(net.encode(), "net", fabric)
    links = """Switch: 0x0000000000000101 leaf:
   1  1[  ] ==( 4X 14.0625 Gbps Active/  LinkUp)==>   2   1[  ] "n0 HCA-1" ( )
"""
    iblinkinfo.read(links.encode(), "links", fabric)
    assert set(fabric.nodes) == {1, 0x10}
    assert fabric.nodes[1].ports[1].speed == "FDR"


def test_ports_without_a_lid_are_no_one_port() -> None:
    text = """Switch: 0x0000000000000001 leaf:
   1  1[  ] ==( 4X          2.5 Gbps Active/  LinkUp)==>   0   1[  ] "n0 HCA-1" ( )
   1  2[  ] ==( 4X          2.5 Gbps Active/  LinkUp)==>   0   1[  ] "n1 HCA-1" ( )
CA: n0 HCA-1:
   0x0000000000000011  0  1[  ] ==( 4X  2.5 Gbps Active/  LinkUp)==>  1  1[  ] "leaf" ( )
"""
    fabric = Fabric("")
    iblinkinfo.read(text.encode(), "links", fabric)
    assert [port.peer for port in fabric.nodes[1].ports.values() if port.number] == [None, None]


def test_tables_without_an_entry_are_said(tmp_path: Path, small: Net) -> None:
    tables = re.sub(r"^0x.*\n", "", small.tables(), flags=re.MULTILINE).replace(" valid", "")
    routes = routes_of(tmp_path, net=small.text(), tables=tables)
    assert "0 of 22 entries" in routes.fabric.remarks[0]


def test_what_is_not_read_is_not_passed_over(tmp_path: Path, small: Net) -> None:
    """Whatever is known for an entry is one, or an error."""
    for blank in ("\v", "\f", "x"):
        tables = small.tables().replace("0x0003 ", f"{blank}0x0003 ", 1)
        with pytest.raises(IsochroneError, match=r"tables\.txt:6: .* is no line of a forwarding table"):
            routes_of(tmp_path, net=small.text(), tables=tables)
    for where in (1, 5):
        lines = small.tables().splitlines(keepends=True)
        lines[where] = "  " + lines[where]
        with pytest.raises(IsochroneError, match="is no line of a forwarding table"):
            routes_of(tmp_path, net=small.text(), tables="".join([*lines[:8], "junk\n", *lines[8:]]))


def test_a_lid_above_all_tables_is_a_dead_end(tmp_path: Path, small: Net) -> None:
    lid = small.lids()["node-001-000"]
    text = small.text().replace(f"# lid {lid} lmc 0", "# lid 4000 lmc 0")
    routes = routes_of(tmp_path, net=text, tables=small.tables())
    found = routes.route(routes.vertex("node-000-000"), routes.vertex("node-001-000"))
    assert found.ending == "ends at a switch without an entry for it"
    assert [hop.switch.name for hop in found.hops] == ["leaf-00"]


def test_two_hosts_on_one_cable_need_no_table(tmp_path: Path) -> None:
    text = """caguid=0x20
Ca	1 "H-0000000000000020"		# "a HCA-1"
[1](21) 	"H-0000000000000030"[1](31)		# lid 1 lmc 0 "b HCA-1" lid 2 4xHDR

caguid=0x30
Ca	1 "H-0000000000000030"		# "b HCA-1"
[1](31) 	"H-0000000000000020"[1](21)		# lid 2 lmc 0 "a HCA-1" lid 1 4xHDR
"""
    routes = routes_of(tmp_path, net=text)
    a, b = routes.vertex("a"), routes.vertex("b")
    for one, other in ((a, b), (b, a)):
        found = routes.route(one, other)
        assert (found.arrives, found.hops, found.speed_gbps) == (True, [], 200.0)
    assert routes.hops([a, b]).tolist() == [[0, 0], [0, 0]]
    assert check(routes) == []
    assert len(set(tree(routes).above.values())) == 1


def of_rails(order: list[str]) -> str:
    """Two hosts with two adapters, each at a leaf of its own; the adapters in some order."""
    net = two_level(2, 2, 1)
    devices = {"node-000-000": "n0 mlx5_2", "node-000-001": "n1 mlx5_2"}
    devices |= {"node-001-000": "n0 mlx5_10", "node-001-001": "n1 mlx5_10"}
    text = net.text()
    for name, device in devices.items():
        text = text.replace(f'"{name} HCA-1"', f'"{device}"')
    records = re.split(r"^(?=vendid)", text, flags=re.MULTILINE)
    rank = {device: number for number, device in enumerate(order)}

    def place(record: str) -> int:
        found = re.search(r'^Ca.*"(.*)"$', record, re.MULTILINE)
        return rank[found[1]] if found else -1

    return "".join(sorted(records, key=place))


def test_the_port_that_stands_for_a_host_is_the_same_in_any_order(tmp_path: Path) -> None:
    tables = two_level(2, 2, 1).tables()
    devices = ["n0 mlx5_2", "n1 mlx5_2", "n0 mlx5_10", "n1 mlx5_10"]
    for number, order in enumerate(permutations(devices)):
        routes = routes_of(tmp_path / str(number), net=of_rails(list(order)), tables=tables)
        assert [node.name for node, _ in routes.fabric.hosts["n0"]] == ["n0 mlx5_2", "n0 mlx5_10"]
        assert routes.wiring.labels[routes.vertex("n1")] == "n1 mlx5_2[1]"
        assert routes.fabric.remarks == []


def test_adapters_of_one_description_are_said(tmp_path: Path, small: Net) -> None:
    text = re.sub("node-00[01]-001 HCA-1", "localhost HCA-1", small.text())
    text = text.replace("node-001-002 HCA-1", "localhost HCA-2")
    routes = routes_of(tmp_path, net=text, tables=small.tables())
    (remark,) = routes.fabric.remarks
    guids = small.guids()
    assert "2 adapters are described as 'localhost HCA-1'" in remark
    assert all(f"0x{guids[name]:016x}" in remark for name in ("node-000-001", "node-001-001"))


def test_a_domain_may_be_left_out_or_added(tmp_path: Path, small: Net) -> None:
    text = re.sub("node-000-00(\\d) HCA", r"n\1.one.org HCA", small.text())
    text = text.replace("node-001-001 HCA", "n1.two.org HCA").replace("node-001-002 HCA", "n2 HCA")
    routes = routes_of(tmp_path, net=text, tables=small.tables())
    for name, host in (("n0", "n0.one.org"), ("n2", "n2"), ("n2.any.org", "n2"), ("n3", "n3.one.org")):
        assert routes.vertex(name) == routes.wiring.hosts[host]
    assert by_hops(routes, ["n0", "n3.one.org"]).tolist() == [[0, 1], [1, 0]]
    for name in ("n1", "n0.two.org", "n0.", ".one.org", ""):
        with pytest.raises(IsochroneError, match="is not on this fabric"):
            routes.vertex(name)
    answer = routes.service.answer(b"hops n0:n3\nhops n0:n1\n", b"")[0]
    assert answer == b"1\nerror 'n1' is not on this fabric\n"


def test_speeds_that_are_not_known_are_no_missing_routes_in_lines(tmp_path: Path) -> None:
    net = two_level(2, 2, 1, speed=lambda one, other: "" if one == "node-001-000" else "4xHDR")
    routes = routes_of(tmp_path, net=net.text(), tables=net.tables())

    def answer(question: str) -> bytes:
        return bytes(routes.service.answer(question.encode() + b"\n", b"")[0])

    error = answer("matrix speed node-000-000,node-001-000")
    assert error.startswith(
        b"error the speeds of some cables between these hosts are not known; add what iblinkinfo"
    )
    assert error.count(b"\n") == 1
    assert answer("matrix speed node-000-000,node-001-001").startswith(b"matrix speed 2 float32 16\n")
    assert answer("matrix node-000-000,node-001-000").startswith(b"matrix hops 2 uint16 8\n")
    assert answer("speed node-000-000:node-001-000") == b"0\n"


def test_names_cannot_tell_a_terminal_what_to_do(tmp_path: Path, small: Net) -> None:
    text = small.text().replace("leaf-00", "\x1b]0;x\x07leaf").replace("node-001-000", "no\x9b31mde")
    tables = small.tables().replace("(leaf-01)", "(\x1b[1mleaf)")
    assert "?[1mleaf" in routes_of(tmp_path / "tables", tables=tables).wiring.labels
    routes = routes_of(tmp_path, net=text, tables=tables)
    assert "no?31mde" in routes.wiring.hosts
    assert "?]0;x?leaf" in routes.wiring.labels
    for command in (["check"], ["route"], ["load"], ["export"]):
        options = {"route": ["node-000-000", "no?31mde"], "export": ["graphviz"]}.get(command[0], [])
        done = CliRunner().invoke(app, ["fabric", *command, str(tmp_path), *options])
        printed = done.stdout + done.stderr
        assert "leaf" in printed or command == ["check"]
        assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_more_than_a_subnet_has_is_refused(
    tmp_path: Path, small: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the memory for it is asked for."""
    tables = [table for table in re.split(r"^(?=Unicast)", small.tables(), flags=re.MULTILINE) if table]
    assert len(tables) * 23 == 138
    monkeypatch.setattr(model, "_MOST_ENTRIES", 138)
    routes_of(tmp_path, net=small.text(), tables="".join(tables))
    monkeypatch.setattr(model, "_MOST_ENTRIES", 137)
    with pytest.raises(IsochroneError, match=r"tables\.txt:131: 6 switches with tables up to LID 22"):
        routes_of(tmp_path, net=small.text(), tables="".join(tables))
    with pytest.raises(IsochroneError, match="6 switches with tables up to LID 22"):
        routes_of(tmp_path, net=small.text(), tables=tables[0])


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
