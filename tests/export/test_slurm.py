# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's topology.conf: every host once, under the switches of its groups."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.errors import IsochroneError
from isochrone.export.slurm import host_list, switches_of, topology_conf
from isochrone.files import Place
from isochrone.files.topology import Groups, Level, Topology


def topology(hosts: list[str], *levels: tuple[str, Groups]) -> Topology:
    places = tuple(Place(host=host, cpus=None, signature="1x1") for host in hosts)
    found = tuple(Level(name, groups, None, None) for name, groups in levels)
    return Topology(places, tuple(range(len(places))), found)


def written(*arguments: object) -> str:
    return topology_conf(switches_of(topology(*arguments)))  # type: ignore[arg-type]


def hosts_of(text: str) -> dict[str, set[str]]:
    """The hosts below each switch, as Slurm would find them."""
    switches = dict(re.findall(r"SwitchName=(\S+) (.*)", text))

    def below(name: str) -> set[str]:
        kind, _, value = switches[name].partition("=")
        if kind == "Nodes":
            return set(expand(value))
        return set().union(*(below(child) for child in value.split(",")))

    return {name: below(name) for name in switches}


def expand(text: str) -> list[str]:
    hosts = []
    for stem, ranges in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text):
        for part in ranges.split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if part else []
            hosts += [f"{stem}{number:0{len(first)}}" for number in numbers] if part else [stem]
    return hosts


def test_racks_are_leaves_below_the_machine() -> None:
    two_ranks_each = [f"h{i}" for i in range(4)] * 2
    racks: Groups = ((0, 1, 4, 5), (2, 3, 6, 7))
    nodes: Groups = ((0, 4), (1, 5), (2, 6), (3, 7))
    whole: Groups = (tuple(range(8)),)
    cores: Groups = tuple((i,) for i in range(8))
    text = written(two_ranks_each, ("machine", whole), ("rack", racks), ("node", nodes), ("core", cores))
    assert text == (
        "SwitchName=rack-0 Nodes=h[0-1]\n"
        "SwitchName=rack-1 Nodes=h[2-3]\n"
        "SwitchName=machine Switches=rack-0,rack-1\n"
    )


def test_one_host_hangs_on_one_switch() -> None:
    text = written(["a", "a"], ("machine", ((0, 1),)), ("socket", ((0,), (1,))))
    assert text == "SwitchName=machine Nodes=a\n"


def test_sites_of_racks_of_any_size() -> None:
    hosts = [f"n{i:02}" for i in range(9)]
    sites: Groups = ((0, 3, 4, 8), (1, 2, 5, 6, 7))
    racks: Groups = ((0, 3), (4,), (8,), (1, 2, 5), (6, 7))
    text = written(hosts, ("machine", (tuple(range(9)),)), ("site", sites), ("rack", racks))
    below = hosts_of(text)
    assert below["machine"] == set(hosts)
    assert [below[f"site-{i}"] for i in range(2)] == [{hosts[i] for i in group} for group in sites]
    assert [below[f"rack-{i}"] for i in range(5)] == [{hosts[i] for i in group} for group in racks]
    assert "SwitchName=site-1 Switches=rack-3,rack-4\n" in text


def test_a_name_that_would_be_another_line_is_refused() -> None:
    with pytest.raises(IsochroneError, match="cannot be written for Slurm"):
        written(["h0\nNodeName=evil"], ("machine", ((0,),)))


@given(st.sets(st.from_regex(r"[a-z][a-z0-9-]{0,6}[a-z0-9]", fullmatch=True), min_size=1, max_size=40))
def test_a_host_list_means_each_host_once(hosts: set[str]) -> None:
    assert sorted(expand(host_list(hosts))) == sorted(hosts)


def test_numbers_with_leading_zeros_are_ranges_too() -> None:
    assert host_list([f"n{i:03}" for i in range(95, 104)]) == "n[095-103]"
    assert host_list(["n9", "n10", "n09"]) == "n[09,9-10]"
