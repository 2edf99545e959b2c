# SPDX-License-Identifier: BSD-3-Clause
"""Which adapters and ports are one host, by the descriptions of nodes."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest
from fabric_dumps import routes_of
from fat_trees import Net, two_level

from isochrone.errors import IsochroneError
from isochrone.fabric.delays import by_hops
from isochrone.fabric.model import Node


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
