# SPDX-License-Identifier: BSD-3-Clause
"""Cables, their speeds and the switches that they tell of, as tools and their versions write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabric_dumps import in_another_order, routes_of
from fat_trees import Net, two_level
from walked import agree, walker

from isochrone.fabric.check import check
from isochrone.fabric.formats import FORMATS, iblinkinfo, ibnetdiscover
from isochrone.fabric.model import Fabric
from isochrone.fabric.rates import LANE_GBPS
from isochrone.fabric.tree import tree


def test_cables_in_another_order(tmp_path: Path, small: Net) -> None:
    routes = routes_of(tmp_path, net=in_another_order(small.text(), "vendid"), tables=small.tables())
    agree(routes, walker(small.text(), small.tables()))


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


def test_a_cable_that_one_end_tells_of(tmp_path: Path, small: Net) -> None:
    lines = small.text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith('[5]\t"S-'))
    del lines[at]
    routes = routes_of(tmp_path, net="\n".join(lines), tables=small.tables())
    assert any("of which nothing is told" in remark for remark in routes.fabric.remarks)
