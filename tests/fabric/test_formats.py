# SPDX-License-Identifier: BSD-3-Clause
"""Dumps that are damaged, half there, or none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fabric_dumps import routes_of
from fat_trees import Net
from typer.testing import CliRunner

from isochrone.cli.main import app
from isochrone.errors import IsochroneError
from isochrone.fabric import folder, model
from isochrone.fabric.folder import read_fabric


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


def test_all_files_together_are_bounded(tmp_path: Path, small: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many may be short."""
    net, tables = small.text(), small.tables()
    whole = len(net.encode()) + len(tables.encode())
    monkeypatch.setattr(folder, "_MOST_BYTES_OF_ALL", whole)
    routes_of(tmp_path, net=net, tables=tables)
    monkeypatch.setattr(folder, "_MOST_BYTES_OF_ALL", whole - 1)
    with pytest.raises(IsochroneError, match=r"(net|tables)\.txt: "):
        routes_of(tmp_path, net=net, tables=tables)


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
