# SPDX-License-Identifier: BSD-3-Clause
"""The map: which hosts and ranks are in which group."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from report_page import Reader

from isochrone.labels import natural
from isochrone.report import summary_lines
from isochrone.report.facts import Facts
from isochrone.report.hosts import MOST_LINES, map_lines
from isochrone.report.page import page


def in_block_order(made: Any) -> Any:
    """The survey with rank k at core k of the machine."""
    topology = made.topology
    cores = sorted(
        range(len(topology.places)),
        key=lambda place: (natural(topology.places[place].host), int(topology.places[place].cpus)),
    )
    return replace(made, topology=structs.replace(topology, ranks=tuple(cores)))


RACKS = [("machine", 1, 5e-6), ("rack", 2, 3e-6), ("node", 4, 1e-6), ("core", 2, 0)]


def test_the_terminal_shows_groups_as_a_tree_down_to_the_hosts_and_their_ranks(
    survey_of: Callable, machine_of: Callable
) -> None:
    facts = in_block_order(survey_of(machine_of(RACKS, host="h{}"))).facts()
    assert map_lines(facts) == [
        "Machine (2 racks, 16 ranks)",
        "  Rack 0: h[0-3]",
        "    Node h0: ranks 0-1",
        "    Node h1: ranks 2-3",
        "    Node h2: ranks 4-5",
        "    Node h3: ranks 6-7",
        "  Rack 1: h[4-7]",
        "    Node h4: ranks 8-9",
        "    Node h5: ranks 10-11",
        "    Node h6: ranks 12-13",
        "    Node h7: ranks 14-15",
    ]
    assert "\n".join(map_lines(facts)) in "\n".join(summary_lines(facts))


def test_hosts_whose_names_differ_by_a_zero_are_each_listed_once(
    survey_of: Callable, machine_of: Callable
) -> None:
    made = survey_of(machine_of([("machine", 1, 5e-6), ("node", 3, 1e-6), ("core", 2, 0)]))
    names = ("n1", "n01", "n2")
    hosts = dict(zip(sorted({place.host for place in made.topology.places}), names, strict=True))
    places = tuple(structs.replace(place, host=hosts[place.host]) for place in made.topology.places)
    cyclic = sorted(range(6), key=lambda place: (places[place].cpus, places[place].host))
    topology = structs.replace(made.topology, places=places, ranks=tuple(cyclic))
    lines = map_lines(replace(made, topology=topology).facts())
    assert lines[0] == "Machine (3 nodes, 6 ranks)"
    assert len(lines) == 4


def test_groups_of_one_form_are_one_line_where_there_are_many(
    survey_of: Callable, machine_of: Callable
) -> None:
    many = [
        ("machine", 1, 5e-6),
        ("rack", 3, 3e-6),
        ("node", 16, 1e-6),
        ("socket", 2, 5e-7),
        ("core", 2, 0),
    ]
    facts = survey_of(machine_of(many)).facts()
    assert sorted(map_lines(facts)) == [
        "  Rack 0 (16 nodes of 2 sockets of 2 ranks): n[0-15]",
        "  Rack 1 (16 nodes of 2 sockets of 2 ranks): n[16-31]",
        "  Rack 2 (16 nodes of 2 sockets of 2 ranks): n[32-47]",
        "Machine (3 racks, 192 ranks)",
    ]
    more = [(name, 40 if name == "rack" else min(count, 4), time) for name, count, time in many]
    assert map_lines(survey_of(machine_of(more)).facts()) == [
        "Machine (40 racks, 640 ranks)",
        "  40 × rack with 4 nodes of 2 sockets of 2 ranks: n[0-159]",
    ]


def test_hosts_that_differ_are_not_put_together(survey_of: Callable) -> None:
    facts = survey_of("uneven").facts()
    assert map_lines(facts)[0] == "Machine (3 nodes, 9 ranks)"
    assert [line.partition(":")[0] for line in map_lines(facts)[1:]] == [
        "  Node n0",
        "  Node n1",
        "  Node n2",
    ]


def test_a_single_host_is_shown_down_to_its_parts(survey_of: Callable, machine_of: Callable) -> None:
    levels = [("node", 1, 1e-6), ("socket", 2, 5e-7), ("core", 4, 0)]
    facts = in_block_order(survey_of(machine_of(levels))).facts()
    assert map_lines(facts) == [
        "Node (2 sockets, 8 ranks on n0)",
        "  Socket 0: ranks 0-3, CPUs 0-3",
        "  Socket 1: ranks 4-7, CPUs 4-7",
    ]


@pytest.mark.parametrize("hosts", [1, 3, 30, 300])
def test_the_tree_is_short_however_many_hosts_differ(
    survey_of: Callable, machine_of: Callable, hosts: int
) -> None:
    made = survey_of(machine_of([("machine", 1, 1e-6), ("node", hosts, 5e-7), ("core", 2, 0)]))
    # Ranks at fewer and fewer places of each host, so that no two hosts are alike.
    places = [place for place, _ in enumerate(made.topology.places)]
    ranks = tuple(place for place in places for _ in range(1 + int(made.topology.places[place].host[1:])))
    topology = structs.replace(made.topology, ranks=ranks)
    lines = map_lines(replace(made.facts(), topology=topology))
    assert len(lines) == min(MOST_LINES, 1 + hosts)
    if hosts > MOST_LINES:
        assert lines[-1] == f"  … {hosts - MOST_LINES + 2} more"


def test_a_domain_that_all_hosts_share_is_left_out(survey_of: Callable, machine_of: Callable) -> None:
    levels = [("machine", 1, 1e-6), ("node", 12, 5e-7), ("core", 32, 0)]
    facts = survey_of(machine_of(levels, host="n{:03}.cluster.example")).facts()
    assert "  Node n011" in [line.partition(" (")[0].partition(":")[0] for line in map_lines(facts)]
    assert "cluster.example" not in "\n".join(map_lines(facts))


def map_of(facts: Facts) -> str:
    text = Reader(page(facts)).text
    return text[text.index("Which ranks are where") : text.index("Latency of every pair")]


def test_the_page_lists_every_group_host_and_rank(survey_of: Callable, machine_of: Callable) -> None:
    facts = in_block_order(survey_of(machine_of(RACKS, host="h{}"))).facts()
    text = map_of(facts)
    for line in ("Rack 1: 4 nodes, h[4-7], 8 ranks", "Node h0: ranks 0-1", "Node h7: ranks 14-15"):
        assert line in text
    opened = [a.get("open") for tag, a in Reader(page(facts)).elements if tag == "details"]
    assert opened[:2] == ["open", "open"]


def test_many_hosts_are_folded_on_the_page_but_all_there(survey_of: Callable, machine_of: Callable) -> None:
    levels = [("machine", 1, 1e-6), ("rack", 4, 1e-6), ("node", 25, 5e-7), ("core", 2, 0)]
    facts = survey_of(machine_of(levels)).facts()
    elements = Reader(page(facts)).elements
    assert [a.get("open") for tag, a in elements if tag == "details"][:4] == [None] * 4
    text = map_of(facts)
    assert all(f"Node n{host}: " in text for host in range(100))


def test_the_map_has_the_ranks_numbers_in_the_job(survey_of: Callable) -> None:
    made = in_block_order(survey_of("laptop"))
    numbered = structs.replace(made.topology, numbers=(3, 5, 8, 13))
    assert map_lines(replace(made.facts(), topology=numbered)) == ["Node (4 ranks on n0)"]
    made = in_block_order(survey_of("uneven"))
    numbers = tuple(range(10, 19))
    lines = map_lines(replace(made.facts(), topology=structs.replace(made.topology, numbers=numbers)))
    assert lines[1:] == ["  Node n0: ranks 10-12", "  Node n1: ranks 13-17", "  Node n2: rank 18"]


def test_hosts_are_in_the_order_that_people_count() -> None:
    assert sorted(["n²", "n10", "n9", "a", "n09x"], key=natural) == ["a", "n9", "n09x", "n10", "n²"]
