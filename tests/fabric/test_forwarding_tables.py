# SPDX-License-Identifier: BSD-3-Clause
"""Forwarding tables in all the forms that tools and their versions write."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from fabric_dumps import in_another_order, routes_of
from fat_trees import Net, two_level
from walked import agree, walker

from isochrone.fabric.folder import read_fabric
from isochrone.fabric.formats import forwarding
from isochrone.fabric.model import NO_PORT, Fabric
from isochrone.fabric.routes import Routes


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


def test_tables_of_each_switch_in_a_file_and_packed(tmp_path: Path, small: Net) -> None:
    (tmp_path / "net.gz").write_bytes(gzip.compress(small.text().encode()))
    for number, table in enumerate(re.split(r"^(?=Unicast)", small.tables(), flags=re.MULTILINE)[1:]):
        (tmp_path / f"table-{number}").write_text(table)
    agree(Routes(read_fabric(tmp_path)), walker(small.text(), small.tables()))


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


def test_tables_without_an_entry_are_said(tmp_path: Path, small: Net) -> None:
    tables = re.sub(r"^0x.*\n", "", small.tables(), flags=re.MULTILINE).replace(" valid", "")
    routes = routes_of(tmp_path, net=small.text(), tables=tables)
    assert "0 of 22 entries" in routes.fabric.remarks[0]


def test_a_lid_above_all_tables_is_a_dead_end(tmp_path: Path, small: Net) -> None:
    lid = small.lids()["node-001-000"]
    text = small.text().replace(f"# lid {lid} lmc 0", "# lid 4000 lmc 0")
    routes = routes_of(tmp_path, net=text, tables=small.tables())
    found = routes.route(routes.vertex("node-000-000"), routes.vertex("node-001-000"))
    assert found.ending == "ends at a switch without an entry for it"
    assert [hop.switch.name for hop in found.hops] == ["leaf-00"]


def test_tables_without_cables(tmp_path: Path, small: Net) -> None:
    routes = routes_of(tmp_path, tables=small.tables())
    assert len(routes.fabric.tables) == len(small.switches)
    assert all("has a table and no cables" in remark for remark in routes.fabric.remarks)
