# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of finding on a fabric made to have it, and none on one that is well."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fat_trees import Net, three_level, two_level
from typer.testing import CliRunner

from isochrone.cli.main import app
from isochrone.errors import IsochroneError
from isochrone.fabric.check import Finding, check
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes


def found_in(folder: Path, net: str, tables: str, links: str = "") -> dict[str, Finding]:
    folder.mkdir(exist_ok=True)
    (folder / "net.txt").write_text(net)
    (folder / "tables.txt").write_text(tables)
    (folder / "links.txt").write_text(links or "\n")
    findings = check(Routes(read_fabric(folder)))
    assert len({finding.kind for finding in findings}) == len(findings)
    return {finding.kind: finding for finding in findings}


def with_entry(net: Net, switch: str, target: str, port: int | None) -> str:
    """Tables in which a switch has another entry for a node, or none."""
    lid = net.lids()[target]
    tables = re.split(r"^(?=Unicast)", net.tables(), flags=re.MULTILINE)
    at = next(number for number, table in enumerate(tables) if f"({switch}):" in table)
    line = "" if port is None else f"0x{lid:04x} {port:03d}\n"
    tables[at] = re.sub(rf"^0x{lid:04x} .*\n", line, tables[at], flags=re.MULTILINE)
    return "".join(tables)


@pytest.fixture
def even() -> Net:
    return two_level(4, 4, 2)


def test_nothing_but_ways_back_on_a_fabric_that_is_well(tmp_path: Path, even: Net) -> None:
    for number, net in enumerate((even, two_level(5, 3, 1), two_level(3, 7, 4, 2))):
        found = found_in(tmp_path / str(number), net.text(), net.tables())
        assert set(found) <= {"asymmetric"}


def test_choices_at_two_levels_that_go_together(tmp_path: Path) -> None:
    """Leaves and middle switches that both choose by the LID's last digit: half of the cables carry all."""
    net = three_level(3, 2, 4, 2, 2)
    found = found_in(tmp_path, net.text(), net.tables())
    assert (found["unbalanced"].severity, found["unbalanced"].count) == ("info", 3 * 2)


def test_dead_ends(tmp_path: Path, even: Net) -> None:
    found = found_in(tmp_path, even.text(), with_entry(even, "leaf-01", "node-000-000", None))
    assert (found["dead-end"].severity, found["dead-end"].count) == ("fault", 4)
    assert "node-000-000 HCA-1[1]" in found["dead-end"].examples[0]


def test_loops(tmp_path: Path, even: Net) -> None:
    tables = with_entry(even, "spine-00", "node-000-000", 2)
    net = even.text()
    found = found_in(tmp_path, net, tables)
    using = even.lids()["node-000-000"] % 2 == 0
    assert ("loop" in found) == using or found["loop"].count
    both = with_entry(even, "spine-01", "node-000-000", 2)
    found = found_in(tmp_path, net, both) if not using else found
    assert found["loop"].severity == "fault"
    # The three other leaves' hosts: those of leaf-01 come back to it, the others run into it.
    assert found["loop"].count == 12


def test_misrouted(tmp_path: Path, even: Net) -> None:
    found = found_in(tmp_path, even.text(), with_entry(even, "leaf-00", "node-000-000", 2))
    assert found["misrouted"].count == 15


def test_parts_without_a_cable_between_them(tmp_path: Path) -> None:
    one, other = two_level(2, 3, 1), two_level(1, 2, 1)
    # The second fabric's GUIDs, LIDs and names are moved out of the way.
    moved = [
        re.sub(
            r"lid (\d+)",
            lambda found: f"lid {int(found[1]) + 100}",
            text.replace("0002c903", "0002c904").replace("2c903", "2c904").replace("node-", "more-")
            .replace("leaf-", "far-").replace("spine-", "deep-"),
        )
        for text in (other.text(), re.sub(r"^0x(\w+)", lambda f: f"0x{int(f[1], 16) + 100:04x}",
                                          other.tables(), flags=re.MULTILINE))
    ]  # fmt: skip
    found = found_in(tmp_path, one.text() + "\n" + moved[0], one.tables() + moved[1])
    assert (found["split"].severity, found["split"].count) == ("fault", 2)
    assert set(found["split"].examples) == {"more-000-000", "more-000-001"}
    assert "2 hosts of 8" in found["split"].words
    assert found["dead-end"].count == 2 * 2 * 6


def test_hosts_do_not_join_parts(tmp_path: Path) -> None:
    """Two leaves, and one host with a cable to each."""
    net = Net()
    for leaf, hosts in (("leaf-00", 3), ("leaf-01", 2)):
        net.add(leaf)
        for host in range(hosts):
            net.join(net.add(f"node-{leaf[-1]}-{host}"), leaf, "4xHDR")
    net.join("node-0-0", "leaf-01", "4xHDR")
    found = found_in(tmp_path, net.text(), "")
    assert (found["split"].severity, found["split"].count) == ("fault", 2)
    assert found["split"].examples == ("node-1-0", "node-1-1")
    # A cable between the leaves does.
    net.join("leaf-00", "leaf-01", "4xHDR")
    assert "split" not in found_in(tmp_path, net.text(), "")


def test_routes_that_do_not_arrive_are_not_asymmetric(tmp_path: Path) -> None:
    net = two_level(2, 2, 1)
    found = found_in(tmp_path, net.text(), with_entry(net, "leaf-01", "node-000-000", None))
    assert found["dead-end"].count == 2
    assert "asymmetric" not in found


def test_lids_given_twice(tmp_path: Path, even: Net) -> None:
    lids = even.lids()
    mine, other = lids["node-000-000"], lids["node-003-003"]
    text = re.sub(rf"# lid {other} lmc 0", f"# lid {mine} lmc 0", even.text())
    found = found_in(tmp_path, text, even.tables())
    assert found["duplicate-lid"].count == 1
    assert "node-000-000" in found["duplicate-lid"].examples[0]
    assert "node-003-003" in found["duplicate-lid"].examples[0]


LINK = """Switch: 0x{guid:016x} leaf-00:
   {lid}  5[  ] ==( {width}X          {rate} Gbps Active/  LinkUp)==>   {far}   1[  ] "spine-00" ({able})
"""


@pytest.mark.parametrize(
    ("width", "able", "severity"),
    [("1", "Could be 4X", "fault"), ("4", "Could be 12X", "info"), ("4", "", None)],
)
def test_width_below_what_both_ends_could(
    tmp_path: Path, even: Net, width: str, able: str, severity: str | None
) -> None:
    lids = even.lids()
    links = LINK.format(
        guid=even.guids()["leaf-00"], lid=lids["leaf-00"], far=lids["spine-00"], width=width, rate="53.125",
        able=able,
    )  # fmt: skip
    found = found_in(tmp_path, even.text(), even.tables(), links)
    assert found["degraded"].severity == severity if severity else "degraded" not in found
    if severity:
        assert "leaf-00 port 5 to spine-00" in found["degraded"].examples[0]


def test_speed_below_what_both_ends_could(tmp_path: Path, even: Net) -> None:
    lids = even.lids()
    for rate, able, severity in (("5.0", "25.78125", "fault"), ("53.125", "106.25", "info")):
        links = LINK.format(
            guid=even.guids()["leaf-00"], lid=lids["leaf-00"], far=lids["spine-00"], width="4", rate=rate,
            able=f"Could be {able} Gbps",
        )  # fmt: skip
        assert found_in(tmp_path, even.text(), even.tables(), links)["degraded"].severity == severity


def test_uplinks_that_carry_all(tmp_path: Path) -> None:
    net = two_level(3, 6, 3)
    tables = net.tables()
    parts = re.split(r"^(?=Unicast)", tables, flags=re.MULTILINE)
    # leaf-00 sends all that leaves it up its first cable.
    parts[1] = re.sub(r"^(0x\w+) 00[89]", r"\1 007", parts[1], flags=re.MULTILINE)
    found = found_in(tmp_path, net.text(), "".join(parts))
    assert found["unbalanced"].count == 1
    assert found["unbalanced"].examples == ("leaf-00 port 7, 3.0 times",)


def test_the_command(dumped: Path, small: Net) -> None:
    done = CliRunner().invoke(app, ["fabric", "check", str(dumped), "--json"])
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (told["hosts"], told["switches"], told["links"]) == (16, 6, 24)
    assert {finding["severity"] for finding in told["findings"]} <= {"info"}
    (dumped / "dump_fts.txt").write_text(with_entry(small, "leaf-01", "node-000-000", None))
    done = CliRunner().invoke(app, ["fabric", "check", str(dumped)])
    assert done.exit_code == 3
    assert "fault: dead-end: the route of 4 pairs of hosts" in done.stdout


def test_loads_of_traffic(dumped: Path, tmp_path: Path) -> None:
    traffic = tmp_path / "traffic.csv"
    traffic.write_text("from,to,bytes\nnode-000-000,node-001-000,1e9\nnode-000-000,node-000-001,1e9\n")
    done = CliRunner().invoke(app, ["fabric", "load", str(dumped), str(traffic), "--json"])
    told = json.loads(done.stdout)
    first = told["cables"][0]
    # Both leave by the host's own cable, of four lanes at 2 Gb/s.
    assert (first["name"], first["bytes"], first["seconds"]) == ("node-000-000 HCA-1", 2e9, 2.0)
    assert len(told["cables"]) == 1 + 1 + 3
    traffic.write_text("node-000-000,node-001-000,1e9\nnode-000-000;x\n")
    done = CliRunner().invoke(app, ["fabric", "load", str(dumped), str(traffic)])
    assert done.exit_code == 1
    wrongs = ["node-000-000,elsewhere,1e9\n", "a,b\n", "", "node-000-000,node-000-001,nan\n", "a,b,-1\n"]
    for wrong in (*wrongs, "a,b," + "1" * 200_000, '"' + "a,b,1\n" * 50_000):
        traffic.write_text(wrong)
        done = CliRunner().invoke(app, ["fabric", "load", str(dumped), str(traffic)])
        assert isinstance(done.exception, IsochroneError), wrong[:40]
        assert len(str(done.exception)) < 400
