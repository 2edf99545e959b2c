# SPDX-License-Identifier: BSD-3-Clause
"""Routes beside measurements: nothing to say where they agree, and which hosts are elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fat_trees import Net, three_level
from typer.testing import CliRunner

from isochrone.cli.main import app
from isochrone.files import Place, Topology, write_topology
from isochrone.files.topology import Groups, Level


@pytest.fixture
def net() -> Net:
    return three_level(2, 2, 3, 2, 2)


def measured(file: Path, hosts: list[str], leaves: list[int], ranks_each: int = 2) -> Path:
    """A topology of some ranks on each host, whose racks are as given, below two islands of two racks."""
    places = tuple(Place(host, str(cpu), "1x1") for host in hosts for cpu in range(ranks_each))
    labels = [leaf for leaf in leaves for _ in range(ranks_each)]

    def groups(keys: list[int]) -> Groups:
        return tuple(
            tuple(place for place, key in enumerate(keys) if key == wanted) for wanted in sorted(set(keys))
        )

    levels = (
        Level("machine", groups([0] * len(places)), 1.0, None),
        Level("site", groups([leaf // 2 for leaf in labels]), 1.0, None),
        Level("rack", groups(labels), 1.0, None),
        Level("node", groups([place // ranks_each for place in range(len(places))]), 1.0, None),
    )
    provenance = {"command": ["x"], "time": "2026-01-01T00:00:00Z", "host": "x", "version": "0"}
    source = {"method": "x"}
    write_topology(
        file, Topology(places, tuple(range(len(places))), levels, source=source, provenance=provenance)
    )
    return file


def asked(folder: Path, file: Path) -> tuple[int, list[dict]]:  # type: ignore[type-arg]
    done = CliRunner().invoke(app, ["fabric", "compare", str(folder), str(file), "--json"])
    return done.exit_code, json.loads(done.stdout)["tiers"]


def test_what_is_measured_as_it_is_wired(tmp_path: Path, net: Net) -> None:
    leaves = [int(host.split("-")[1]) for host in net.hosts]
    code, tiers = asked(net.dump(tmp_path / "dumps"), measured(tmp_path / "t.json", net.hosts, leaves))
    assert code == 0
    assert [(tier["level"], tier["switches"], tier["agreement"]) for tier in tiers] == [
        ("rack", 4, 1.0),
        ("site", 2, 1.0),
    ]


def test_a_host_that_is_measured_elsewhere_is_named(tmp_path: Path, net: Net) -> None:
    leaves = [int(host.split("-")[1]) for host in net.hosts]
    leaves[1] = 3  # the second host of the first leaf
    file = measured(tmp_path / "t.json", net.hosts, leaves)
    folder = net.dump(tmp_path / "dumps")
    code, tiers = asked(folder, file)
    assert code == 3
    assert tiers[0]["agreement"] == 11 / 12
    assert tiers[0]["apart"] == [
        {"host": "node-000-001", "switch": "leaf-00-00", "measured_with": "leaf-01-01"}
    ]
    assert [each["host"] for each in tiers[1]["apart"]] == ["node-000-001"]
    done = CliRunner().invoke(app, ["fabric", "compare", str(folder), str(file)])
    assert "node-000-001: at leaf-00-00 by the routes, measured with those of leaf-01-01" in done.stdout


def test_a_group_of_no_switch(tmp_path: Path, net: Net) -> None:
    leaves = [int(host.split("-")[1]) for host in net.hosts]
    leaves[0] = 4
    _, tiers = asked(net.dump(tmp_path / "dumps"), measured(tmp_path / "t.json", net.hosts, leaves))
    assert tiers[0]["apart"] == [{"host": "node-000-000", "switch": "leaf-00-00", "measured_with": None}]


def test_hosts_that_are_not_there(tmp_path: Path, net: Net) -> None:
    file = measured(tmp_path / "t.json", ["elsewhere", *net.hosts[1:]], [0] * 12)
    done = CliRunner().invoke(app, ["fabric", "compare", str(net.dump(tmp_path / "dumps")), str(file)])
    assert done.exit_code == 1
    assert "host elsewhere is below no switch" in str(done.exception)
