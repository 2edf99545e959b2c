# SPDX-License-Identifier: BSD-3-Clause
"""Grids and graphs that may be reordered have their ranks where their edges cost least, and stay the same."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import structs
from planned import LINKS
from recorded import Library, with_program
from reordered import PROGRAMS, complaints, fake_hosts, mapped, order_of, rest, write_map

from isochrone.files import Level, Place, Topology, write_topology

_APART = 10.0
"""How many times as much a message costs between two hosts as within one."""


@dataclass(frozen=True)
class Case:
    """A topology, and the host of each rank as launched."""

    words: str
    hosts: str
    gains: bool


CASES = [
    Case("cart 2 4 0 0", "abababab", True),
    Case("cart 2 4 0 0", "aaaabbbb", True),
    Case("cart 2 4 0 0", "aabbaabb", False),
    Case("cart 3 2 1 0", "abcabcab", True),
    Case("cart 5 1 1 1", "ababab", True),
    Case("graph 1 0", "aabbccab", True),
    Case("edges 3 1", "aaabbb", True),
    Case("adjacent 5 1", "abcabcabc", True),
    Case("adjacent 6 1", "aaaaa", False),
]


@pytest.fixture(scope="module")
def topologies(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The same library with the program of topologies."""
    name = "openmpi" if library.is_openmpi else "mpich"
    return with_program(name, tmp_path_factory.mktemp("topologies"), PROGRAMS / "topologies.c")


def _topology(folder: Path, hosts: str) -> Path:
    names = sorted(set(hosts))
    places = tuple(Place(name, None, f"like {name}") for name in names)
    far = structs.replace(LINKS, latency_s=_APART * LINKS.latency_s, gap_s=((0, 0.0),))
    near = structs.replace(LINKS, gap_s=((0, 0.0),))
    levels = (
        Level("machine", (tuple(range(len(names))),), 1.0, far),
        Level("node", tuple((place,) for place in range(len(names))), 1.0, near),
    )
    write_topology(
        folder / "topology.json", Topology(places, tuple(names.index(host) for host in hosts), levels)
    )
    return folder / "topology.json"


def _cost(done: subprocess.CompletedProcess[str], hosts: str, order: Sequence[int]) -> float:
    cost = 0.0
    for line in rest(done):
        if line.startswith("edge "):
            one, other, weight = map(int, line.split()[1:])
            if one != other:
                cost += weight * (1.0 if hosts[order[one]] == hosts[order[other]] else _APART)
    return cost


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.words} on {case.hosts}")
def test_edges_stay_and_cost_no_more(topologies: Library, tmp_path: Path, case: Case) -> None:
    ranks = len(case.hosts)
    words = case.words.split()
    maps = [_topology(tmp_path, case.hosts)]
    hosts = fake_hosts(topologies, tmp_path, case.hosts)
    done = mapped(topologies, maps, topologies.program, *words, ranks=ranks, environment=hosts)
    assert done.returncode == 0, done.stderr
    assert rest(done)[-1] == "0 wrong values", done.stderr
    assert complaints(done) == []
    order = order_of(done)
    assert len(set(order)) == len(order)
    given, found = (_cost(done, case.hosts, each) for each in (range(ranks), order))
    assert found < given if case.gains else order == list(range(len(order)))


def test_without_a_topology_ranks_keep_their_order(topologies: Library, tmp_path: Path) -> None:
    mapping = write_map(tmp_path / "mapping.json", [2, 0, 3, 1])
    done = mapped(topologies, [mapping], topologies.program, "cart", "2", "2", "0", "0", ranks=4)
    assert (done.returncode, order_of(done)) == (0, [2, 0, 3, 1]), done.stderr
    assert rest(done)[-1] == "0 wrong values", done.stderr


def test_a_mapped_program_reorders_its_topologies_too(topologies: Library, tmp_path: Path) -> None:
    hosts, at = "abababab", [7, 2, 5, 0, 3, 6, 1, 4]
    mapping = write_map(tmp_path / "mapping.json", at, [hosts[place] for place in at])
    done = mapped(
        topologies,
        [mapping, _topology(tmp_path, hosts)],
        topologies.program,
        *["cart", "2", "4", "0", "0"],
        ranks=8,
        environment=fake_hosts(topologies, tmp_path, hosts) | {"ISOCHRONE_EXPLAIN": "1"},
    )
    assert (done.returncode, rest(done)[-1]) == (0, "0 wrong values"), done.stderr
    # Two blocks of 2 x 2, each on one host.
    assert _cost(done, hosts, order_of(done)) == 8 * 1.0 + 2 * _APART
    assert "8 of 8 ranks run elsewhere than launched" in done.stderr
    assert "MPI_Cart_create of 8 ranks: reordered, " in done.stderr


def test_the_same_job_has_the_same_order(topologies: Library, tmp_path: Path) -> None:
    hosts = "abcabcabc"
    maps = [_topology(tmp_path, hosts)]
    settings = fake_hosts(topologies, tmp_path, hosts)
    words = ["adjacent", "7", "1"]
    orders = {
        tuple(order_of(mapped(topologies, maps, topologies.program, *words, ranks=9, environment=settings)))
        for _ in range(2)
    }
    assert len(orders) == 1


@pytest.mark.parametrize("hosts", ["aabz", "damaged"])
def test_a_topology_of_other_hosts_or_a_damaged_one_costs_one_line(
    topologies: Library, tmp_path: Path, hosts: str
) -> None:
    topology = _topology(tmp_path, "aabb")
    words: list[str | Path] = [topologies.program, *["cart", "2", "2", "0", "0"]]
    if hosts == "damaged":
        (tmp_path / "damaged.json").write_text('{"isochrone": "topology"}')
        words = ["env", f"ISOCHRONE_REORDER={tmp_path / 'damaged.json'}", *words]
    settings = fake_hosts(topologies, tmp_path, "aabz" if hosts == "aabz" else "aabb")
    done = mapped(topologies, [topology], *words, ranks=4, environment=settings)
    assert (done.returncode, order_of(done)) == (0, [0, 1, 2, 3]), done.stderr
    (line,) = complaints(done)
    assert line.endswith("grids and graphs are not reordered")


def test_a_file_that_is_no_mapping_costs_one_line(topologies: Library, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"isochrone": "mapp')
    done = mapped(topologies, [tmp_path / "m.json"], topologies.program, "cart", "1", "2", "0", "0", ranks=2)
    assert (done.returncode, order_of(done)) == (0, [0, 1]), done.stderr
    (line,) = complaints(done)
    assert "m.json: holds neither a mapping nor a topology, or is damaged; make one" in line
    assert line.endswith("ranks keep the order in which they are launched")


def test_two_mappings_are_one_too_many(topologies: Library, tmp_path: Path) -> None:
    maps = [write_map(tmp_path / f"{name}.json", [0, 1]) for name in "ab"]
    done = mapped(topologies, maps, topologies.program, "cart", "1", "2", "0", "0", ranks=2)
    assert done.returncode == 2
    assert "two mappings are given" in done.stderr
