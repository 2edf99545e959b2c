# SPDX-License-Identifier: BSD-3-Clause
"""topology.conf: hosts and the switches above them, as Slurm reads it; and nothing else is one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.errors import IsochroneError
from isochrone.export.slurm import host_list, switches_of, topology_conf
from isochrone.fabric.switches import Switches, _expand, read_switches
from isochrone.files import Place
from isochrone.files.topology import Level, Topology

FABRIC = """# Two racks of two leaf switches.
SwitchName=leaf0 Nodes=n[0-1] LinkSpeed=100
switchname=leaf1 nodes=n[2-3]
SwitchName=leaf2 Nodes=n04,\\
n[05-06]   # three

SwitchName=leaf3 Nodes=login,r[0-1]n[7-8]
SwitchName=rack0 Switches=leaf[0-1]
SwitchName=rack1 Switches=leaf2,leaf3
SwitchName=top Switches=rack[0-1]
"""


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Switches]:
    def write_and_read(text: str) -> Switches:
        path = tmp_path / "topology.conf"
        path.write_text(text, encoding="utf-8")
        return read_switches(path)

    return write_and_read


def test_hosts_and_switches_are_those_of_the_file(read: Callable[[str], Switches]) -> None:
    found = read(FABRIC)
    hosts = {
        "leaf0": ["n0", "n1"],
        "leaf1": ["n2", "n3"],
        "leaf2": ["n04", "n05", "n06"],
        "leaf3": ["login", "r0n7", "r0n8", "r1n7", "r1n8"],
    }
    assert found.leaf == {host: leaf for leaf, names in hosts.items() for host in names}
    inside = {"rack0": ["leaf0", "leaf1"], "rack1": ["leaf2", "leaf3"], "top": ["rack0", "rack1"]}
    assert found.above == {switch: higher for higher, names in inside.items() for switch in names}


def test_tiers_are_nearest_first_and_those_that_divide_nothing_are_left_out(
    read: Callable[[str], Switches],
) -> None:
    found = read(FABRIC)
    assert found.tiers(["n0", "n2", "n04", "n1.cluster.org"]) == [
        ["leaf0", "leaf1", "leaf2", "leaf0"],
        ["rack0", "rack0", "rack1", "rack0"],
    ]
    # No two of these share a leaf or a rack: one tier tells as much as two.
    assert found.tiers(["n0", "n04"]) == [["leaf0", "leaf2"]]
    assert found.tiers(["n0", "n1"]) == []


def test_trees_of_uneven_depth_and_without_a_top(read: Callable[[str], Switches]) -> None:
    found = read(
        "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=c Nodes=n2\nSwitchName=d Switches=a,b\n"
    )
    assert found.tiers(["n0", "n1", "n2"]) == [["a", "b", "c"], ["d", "d", "c"]]
    text = "".join(f"SwitchName={leaf} Nodes=n{k}\n" for k, leaf in enumerate("klab"))
    found = read(text + "SwitchName=top Switches=k,l,d\nSwitchName=d Switches=a,b\n")
    assert found.tiers(["n0", "n1", "n2", "n3"]) == [["k", "l", "a", "b"], ["k", "l", "d", "d"]]


def test_blanks_and_quotes_are_as_slurm_has_them(read: Callable[[str], Switches]) -> None:
    found = read('SwitchName = a  Nodes = "n0,n1"\n  SwitchName="b" Nodes=n2\n')
    assert found.leaf == {"n0": "a", "n1": "a", "n2": "b"}


def test_a_host_that_is_below_no_switch_is_named(read: Callable[[str], Switches]) -> None:
    with pytest.raises(
        IsochroneError, match=r"topology\.conf: host x0 is below no switch, and 1 more are not"
    ):
        read(FABRIC).tiers(["n0", "x1", "x0", "x0"])


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "no host is below a switch"),
        ("# nothing\n", None, "no host is below a switch"),
        ("SwitchName=a Nodes=n0\nNodes=n1\n", 2, "names no switch"),
        ("SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n", 2, "has a line already"),
        ("SwitchName=a Nodes=n0\nSwitchName=b Nodes=n0\n", 2, "'n0' is below switch 'a' and 'b'"),
        ("SwitchName=a Nodes=n0 Nodes=n1\n", 1, "a second time"),
        ("SwitchName=a Nodes=n0 Colour=red\n", 1, "'Colour=red' is not known"),
        ("SwitchName=a Nodes\n", 1, "'Nodes' is not known"),
        ("BlockName=a Nodes=n0\n", 1, "is of blocks"),
        ("SwitchName=a Nodes=n0\nSwitchName=b Switches=c\n", None, "switch 'c' has no line"),
        (
            "SwitchName=c Nodes=n0\nSwitchName=a Switches=b,c\nSwitchName=b Switches=a\n",
            None,
            "is above itself",
        ),
        ("SwitchName=a Nodes=n0 Switches=b\n", 1, "both hosts and switches"),
        (f"SwitchName={'a' * 300} Nodes=n0\n", 1, "names no switch"),
        (f"SwitchName={'a' * 250} Nodes=n0\nSwitchName={'a' * 250} Nodes=n1\n", 2, "has a line already"),
        (
            "SwitchName=s0 Nodes=n0\n"
            + "".join(f"SwitchName=s{k} Switches=s{k - 1}\n" for k in range(1, 80)),
            None,
            "more than 64 switches",
        ),
        (
            "".join(f"SwitchName=s{k} Switches=s{k - 1}\n" for k in range(79, 0, -1))
            + "SwitchName=s0 Nodes=n0\n",
            None,
            "more than 64 switches",
        ),
        ("SwitchName=a Nodes=n0 " + "\\\n" * 100_000 + "Colour=red", 1, "is not known"),
        ("SwitchName=a Nodes=n[0-\n", 1, "is no list of names"),
        ("SwitchName=a Nodes=n[a-b]\n", 1, "'a-b' is no range"),
        ("SwitchName=a Nodes=n[3-1]\n", 1, "no or too many"),
        ("SwitchName=a Nodes=n[0-99999999]\n", 1, "no or too many"),
        ("SwitchName=a Nodes=n[0-9999][0-9999]\n", 1, "more than 1048576 names"),
        ("SwitchName=a Nodes=" + "n[0-99999]," * 20 + "n0\n", 1, "more than 1048576 names"),
        ("SwitchName=a Nodes=" + "[0]" * 100_000 + "\n", 1, "too long"),
        ("SwitchName=a Nodes=" + "n" * 100_000 + "[0-99999]\n", 1, "too long"),
        ("SwitchName=a Nodes=n0,,n1\n", 1, "is no list"),
        ("SwitchName=a Nodes=n0\nSwitchName=b Nodes=../n1\n", 2, "is no name"),
        ("SwitchName=a Nodes=n0 \\", 1, "not at its end"),
    ],
)
def test_what_is_no_tree_is_one_line(
    read: Callable[[str], Switches], text: str, line: int | None, said: str
) -> None:
    begin = time.monotonic()
    with pytest.raises(IsochroneError, match=said) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "topology.conf" + (f":{line}:" if line else "") in str(caught.value)
    assert time.monotonic() - begin < 20


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    chance = random.Random(7)
    path = tmp_path / "topology.conf"
    kept = 0
    messages: list[str] = []
    for _ in range(3000):
        text = bytearray(FABRIC.encode())
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            change = chance.randrange(3)
            if change == 0:
                text[at] = chance.randrange(256)
            elif change == 1:
                del text[at : at + chance.randint(1, 20)]
            else:
                text[at:at] = chance.choice([b"[", b"]", b",", b"=", b"\n", b"SwitchName=", b"0-9", b"\\\n"])
        path.write_bytes(text)
        try:
            found = read_switches(path)
        except IsochroneError as error:
            messages.append(str(error))
        else:
            kept += 1
            found.tiers(list(found.leaf))
    assert not [message for message in messages if "\n" in message]
    assert 100 < kept < 2900


@given(st.lists(st.from_regex(r"[a-z]{1,3}(0|[1-9][0-9]{0,3})?", fullmatch=True), min_size=1, unique=True))
def test_what_is_written_for_slurm_is_read_back(hosts: list[str]) -> None:
    assert sorted(_expand(host_list(hosts), "here")) == sorted(hosts)


def test_a_topology_that_is_written_is_a_fabric_that_agrees(read: Callable[[str], Switches]) -> None:
    places = tuple(Place(f"h{k}", None, "1x1") for k in range(6))
    racks = ((0, 1), (2, 3, 4), (5,))
    whole = (tuple(range(6)),)
    levels = (Level("machine", whole, None, None), Level("rack", racks, None, None))
    tiers = read(topology_conf(switches_of(Topology(places, tuple(range(6)), levels)))).tiers(
        [f"h{k}" for k in range(6)]
    )
    assert tiers == [["rack-0", "rack-0", "rack-1", "rack-1", "rack-1", "rack-2"]]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "above", [{"a": "b", "b": "a"}, {"a": "a"}, {"a": "b", "b": "c", "c": "b"}, {"b": "c", "c": "b"}]
)
def test_heights_of_switches_in_a_circle_end(above: dict[str, str]) -> None:
    found = Switches("here", {"n0": "a", "n1": "b"}, above)
    assert set(found.heights()) == {"a", "b", *above}
    found.tiers(["n0", "n1"])


def test_a_domain_may_be_left_out_or_added(read: Callable[[str], Switches]) -> None:
    found = read("SwitchName=a Nodes=n0,n1.one.org,n2.one.org\nSwitchName=b Nodes=n1.two.org,n3.one.org\n")
    assert found.tiers(["n0.one.org", "n3", "n2"]) == [["a", "b", "a"]]
    for unknown in ("n1", "n3.two.org", "n4"):
        with pytest.raises(IsochroneError, match=f"host {unknown} is below no switch"):
            found.tiers(["n0", unknown])


@pytest.mark.parametrize("digits", [9, 10, 200])
def test_long_numbers_are_written_for_slurm_and_read_back(digits: int) -> None:
    hosts = ["n" + "1" * (digits - 1) + last for last in "123"]
    assert host_list(hosts).count("-") == 1
    assert sorted(_expand(host_list(hosts), "here")) == hosts


def test_numbers_may_be_longer_than_python_counts() -> None:
    name = "n" + "1" * 5000
    assert host_list([name]) == name
