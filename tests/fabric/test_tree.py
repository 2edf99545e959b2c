# SPDX-License-Identifier: BSD-3-Clause
"""The tree that routes make of hosts, and the forms that it and distances are written in."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from fat_trees import Net, mixed, three_level, two_level
from typer.testing import CliRunner

from isochrone.cli.main import app
from isochrone.errors import IsochroneError, UsageError
from isochrone.export.slurm import topology_conf
from isochrone.fabric.delays import by_hops, by_speed, by_times
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes
from isochrone.fabric.switches import read_switches
from isochrone.fabric.tree import read_tree, tree
from isochrone.files import Level, Links, Place, Topology, write_topology


def exported(folder: Path, form: str) -> str:
    done = CliRunner().invoke(app, ["fabric", "export", str(folder), form])
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.mark.parametrize("shape", ["two", "three", "parallel", "one switch"])
def test_hosts_are_together_as_they_are_wired(tmp_path: Path, shape: str) -> None:
    net = {
        "two": two_level(5, 3, 2),
        "three": three_level(3, 2, 3, 2, 2),
        "parallel": two_level(3, 4, 2, 3),
        "one switch": two_level(1, 6, 1),
    }[shape]
    found = tree(Routes(read_fabric(net.dump(tmp_path))))
    assert found.leaf == {host: net.cables[host][0][0] for host in net.hosts}
    tiers = found.tiers(net.hosts)
    leaf = [int(host.split("-")[1]) for host in net.hosts]
    wanted = {"two": [leaf], "three": [leaf, [at // 2 for at in leaf]], "parallel": [leaf], "one switch": []}
    assert [together(tier) for tier in tiers] == [together(labels) for labels in wanted[shape]]


def together(labels: list[object]) -> list[list[bool]]:  # type: ignore[type-arg]
    return [[one == other for other in labels] for one in labels]


def test_speeds_are_of_the_slowest_cable_between_hosts(tmp_path: Path) -> None:
    net = two_level(3, 2, 1, speed=lambda one, other: "4xDDR" if one.startswith("leaf-01") else "4xHDR")
    found = tree(Routes(read_fabric(net.dump(tmp_path))))
    assert found.speeds_gbps["leaf-00"] == 200
    assert found.speeds_gbps["tier-1-0"] == 16


def test_switches_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    net = two_level(3, 2, 1)
    text = re.sub(r'# "leaf-0\d"', '# "MF0;sw/36:Quantum 2"', net.text())
    (tmp_path / "net").write_text(text)
    (tmp_path / "tables").write_text(net.tables())
    found = tree(Routes(read_fabric(tmp_path)))
    assert Counter(found.leaf.values()) == {
        "MF0-sw-36-Quantum-2": 2, "MF0-sw-36-Quantum-2-2": 2, "MF0-sw-36-Quantum-2-3": 2
    }  # fmt: skip
    assert topology_conf(found).count("SwitchName=") == 4


def test_hosts_without_a_way_are_apart(tmp_path: Path) -> None:
    """Tables of one leaf only: its hosts reach one another, and nobody else does."""
    net = two_level(3, 2, 1)
    tables = net.tables()
    (tmp_path / "net").write_text(net.text())
    (tmp_path / "tables").write_text(tables[: tables.index("Unicast", 10)])
    found = tree(Routes(read_fabric(tmp_path)))
    assert found.above == {}
    assert len(set(found.leaf.values())) == 3


@pytest.mark.parametrize("name", ["tier-1-0", "tier-1-0-2", "tier-2-0"])
def test_a_leaf_may_be_called_as_the_switches_above_are(tmp_path: Path, name: str) -> None:
    net = three_level(2, 2, 2, 1, 1)
    (tmp_path / "net").write_text(net.text().replace("leaf-00-00", "tier-1-0").replace("leaf-00-01", name))
    (tmp_path / "tables").write_text(net.tables())
    found = tree(Routes(read_fabric(tmp_path)))
    assert found.leaf["node-000-000"] == "tier-1-0"
    assert len({*found.leaf.values(), *found.above, *found.above.values()}) == 4 + 2 + 1
    assert [len(set(tier)) for tier in found.tiers(net.hosts)] == [4, 2]
    assert topology_conf(found).count("SwitchName=") == 4 + 2 + 1


def one_leaf_away(net: Net, unreached: list[str], how: str) -> tuple[str, str]:
    """Dumps in which some hosts have no LID, or have one that no table knows, or has an entry for."""
    text, tables = net.text(), net.tables()
    for name in unreached:
        lid = net.lids()[name]
        if how == "no LID":
            text = re.sub(rf"lid {lid} lmc 0", "lid 0 lmc 0", text)
        else:
            new = lid + (1000 if how == "new LID" else 0)
            text = re.sub(rf"lid {lid} lmc 0", f"lid {new} lmc 0", text)
            tables = re.sub(rf"^0x{lid:04x} .*\n", "", tables, flags=re.MULTILINE)
    return text, tables


@pytest.mark.parametrize("how", ["no LID", "new LID", "no entry"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_host_that_is_not_reached_does_not_take_its_leaf_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, at: int
) -> None:
    net = three_level(2, 2, 3, 1, 1)
    text, tables = one_leaf_away(net, [f"node-001-00{at}"], how)
    (tmp_path / "net").write_text(text)
    (tmp_path / "tables").write_text(tables)
    with caplog.at_level(logging.WARNING, "isochrone.fabric"):
        found = tree(Routes(read_fabric(tmp_path)))
    whole = tree(Routes(read_fabric(net.dump(tmp_path / "whole"))))
    assert (found.leaf, found.above) == (whole.leaf, whole.above)
    assert not caplog.messages


def test_a_leaf_that_is_not_reached_is_apart_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    net = two_level(3, 2, 1)
    text, tables = one_leaf_away(net, ["node-002-000", "node-002-001"], "no LID")
    (tmp_path / "net").write_text(text)
    (tmp_path / "tables").write_text(tables)
    with caplog.at_level(logging.WARNING, "isochrone.fabric"):
        found = tree(Routes(read_fabric(tmp_path)))
    assert found.above["leaf-00"] == found.above["leaf-01"] != found.above["leaf-02"]
    (said,) = caplog.messages
    assert "2 parts" in said
    assert "2 are not in the largest, such as node-002-000" in said


@pytest.mark.parametrize("make", [lambda: two_level(12, 3, 2), lambda: three_level(3, 2, 3, 2, 2)])
def test_slurms_files_say_the_same(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    net: Net = make()
    folder = net.dump(tmp_path / "dumps")
    found = read_tree(folder)
    conf = tmp_path / "topology.conf"
    conf.write_text(exported(folder, "topology.conf"))
    read = read_switches(conf)
    assert (read.leaf, read.above) == (found.leaf, found.above)
    assert "LinkSpeed=200 " in conf.read_text()
    (tree_of,) = yaml.safe_load(exported(folder, "topology.yaml"))
    rows = {row["switch"]: row for row in tree_of["tree"]["switches"]}
    assert set(rows) == {*found.leaf.values(), *found.above, *found.above.values()}
    for switch, parent in found.above.items():
        assert switch in rows[parent]["children"].split(",")
    (blocks_of,) = yaml.safe_load(exported(folder, "topology-block.yaml"))
    blocks = blocks_of["block"]["blocks"]
    assert [block["block"] for block in blocks] == sorted(set(found.leaf.values()))
    assert blocks_of["block"]["block_sizes"] == [3]
    assert [block["nodes"] for block in blocks] == [rows[block["block"]]["nodes"] for block in blocks]


def test_distances(tmp_path: Path) -> None:
    net = two_level(2, 4, 1, speed=mixed)
    folder = net.dump(tmp_path)
    hops, delays = (
        np.loadtxt(exported(folder, form).splitlines(), delimiter=",") for form in ("hops.csv", "delays.csv")
    )
    gbps = [(8, 16, 32, 200)[int(host[-1]) % 4] for host in net.hosts]
    for row, one in enumerate(net.hosts):
        for column, other in enumerate(net.hosts):
            same = one.split("-")[1] == other.split("-")[1]
            assert hops[row, column] == (0 if row == column else 1 if same else 3)
            slowest = min(gbps[row], gbps[column], 200 if same else 96)
            assert delays[row, column] == pytest.approx(0 if row == column else 1 / slowest, rel=1e-5)


def one_unknown(one: str, other: str) -> str:
    return "4xZDR" if one == "node-001-000" else "4xHDR"


def test_speeds_that_are_not_known_are_not_taken_for_no_way(tmp_path: Path) -> None:
    """A speed that is of a later generation than this one knows."""
    net = two_level(2, 2, 1, speed=one_unknown)
    folder = net.dump(tmp_path / "dumps")
    with pytest.raises(IsochroneError, match="6 pairs of hosts, such as node-000-000 to node-001-000"):
        by_speed(Routes(read_fabric(folder)), net.hosts)
    done = CliRunner().invoke(app, ["fabric", "export", str(folder), "delays.csv"])
    assert "are not known" in str(done.exception)
    assert "iblinkinfo" in str(done.exception)
    places = tuple(Place(host, "0", "1x1") for host in net.hosts)
    links = Links(1e-6, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (1000, 1e-6)))
    topology = Topology(places, tuple(range(4)), (Level("machine", (tuple(range(4)),), 1.0, links),))
    with pytest.raises(IsochroneError, match="are not known"):
        by_times(Routes(read_fabric(folder)), topology, 100)
    assert np.isfinite(by_hops(Routes(read_fabric(folder)), net.hosts)).all()
    known = [host for host in net.hosts if host != "node-001-000"]
    assert np.isfinite(by_speed(Routes(read_fabric(folder)), known)).all()
    assert set(tree(Routes(read_fabric(folder))).speeds_gbps.values()) == {200.0}


def test_no_way_is_infinitely_far(tmp_path: Path) -> None:
    net = two_level(2, 2, 1)
    text, tables = one_leaf_away(net, ["node-001-000"], "no entry")
    (tmp_path / "net").write_text(text)
    (tmp_path / "tables").write_text(tables)
    delays = by_speed(Routes(read_fabric(tmp_path)), net.hosts)
    assert (np.isinf(delays) == np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]])).all()


def test_names_of_any_letters_and_lengths(tmp_path: Path) -> None:
    net = two_level(2, 2, 1)
    long = "n" + "1" * 5000
    text = net.text().replace("node-000-000 HCA", "² HCA").replace("node-000-001 HCA", f"{long} HCA")
    (tmp_path / "net").write_text(text.replace("leaf-00", "Blätter 'ä' \\ \x1b[31m\x9b31m"))
    (tmp_path / "tables").write_text(net.tables())
    head = exported(tmp_path, "hops.csv").partition("\n")[0]
    assert head == f"# hops, from (row) to (column): {long}, node-001-000, node-001-001, ²"
    done = CliRunner().invoke(app, ["fabric", "export", str(tmp_path), "topology.conf"])
    assert "cannot be written for Slurm" in str(done.exception)
    drawn = exported(tmp_path, "graphviz")
    assert r"""[label="Blätter 'ä' \\ ?[31m?31m\n2 hosts"];""" in drawn


def slow_half(one: str, other: str) -> str:
    return "4xSDR" if one.startswith("node") and one[-1] in "02" else "4xDDR"


def test_times_by_what_was_measured_and_how_fast_cables_are(tmp_path: Path) -> None:
    """Half of the hosts have cables of half the speed, so that the median of a level is the slow one."""
    net = two_level(2, 4, 1, speed=slow_half)
    folder = net.dump(tmp_path / "dumps")
    places = tuple(Place(host, str(cpu), "1x1") for host in net.hosts for cpu in range(2))

    def level(name: str, width: int, links: Links | None) -> Level:
        groups = tuple(tuple(range(first, first + width)) for first in range(0, 16, width))
        return Level(name, groups, 1.0, links)

    machine, switch = (
        Links(latency, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (1000, slope)))
        for latency, slope in ((3e-6, 2e-6), (1e-6, 1e-6))
    )
    made = {"command": ["x"], "time": "2026-01-01T00:00:00Z", "host": "x", "version": "0"}
    for inner, code in ((switch, 0), (None, 1)):
        levels = (level("machine", 16, machine), level("switch", 8, inner), level("node", 2, None))
        topology = Topology(places, tuple(range(16)), levels, source={"method": "x"}, provenance=made)
        write_topology(tmp_path / "topology.json", topology)
        words = ["fabric", "export", str(folder), "times.csv", "--survey", str(tmp_path / "topology.json")]
        done = CliRunner().invoke(app, [*words, "--bytes", "2000"])
        assert done.exit_code == code
        if code:
            assert "level switch was not measured" in str(done.exception)
            continue
        times = np.loadtxt(done.stdout.splitlines(), delimiter=",")
        for row, one in enumerate(net.hosts):
            for column, other in enumerate(net.hosts):
                latency, slope = (1e-6, 1e-9) if one[:8] == other[:8] else (3e-6, 2e-9)
                is_slow = one[-1] in "02" or other[-1] in "02"
                wanted = latency + 2000 * slope * (1.0 if is_slow else 0.5)
                assert times[row, column] == pytest.approx(0 if row == column else wanted, rel=1e-5)
    done = CliRunner().invoke(app, ["fabric", "export", str(folder), "times.csv"])
    assert isinstance(done.exception, UsageError)


def test_the_drawing_has_every_switch_and_bundle(tmp_path: Path) -> None:
    text = exported(two_level(3, 2, 2, 4).dump(tmp_path), "graphviz")
    assert len(re.findall(r'" \[label=', text)) == 5
    assert len(re.findall(r'" -- "', text)) == 6
    assert text.count('tooltip="4 x 4xHDR"') == 6
    assert text.count("2 hosts") == 3


def test_wrong_forms(dumped: Path) -> None:
    done = CliRunner().invoke(app, ["fabric", "export", str(dumped), "xml"])
    assert isinstance(done.exception, UsageError)
    done = CliRunner().invoke(app, ["fabric", "export", str(dumped), "hops.csv", "--json"])
    assert json.loads(done.stdout)["text"].startswith("# hops")
