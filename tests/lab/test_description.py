# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of labs: what they stand for, and what is said of wrong ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.lab.description import load_network, read_network, shipped_networks
from isochrone.lab.network import Network

BASE = "name: x\nhost: {rate: 1Gbit/s, delay: 50us}\nrack: {rate: 1Gbit/s, delay: 1ms}\n"


def test_the_shipped_labs_are_read() -> None:
    assert set(shipped_networks()) == {"two-racks", "wan", "mixed-speed", "uneven"}
    hosts = {name: len(load_network(name).hosts) for name in shipped_networks()}
    assert hosts == {"two-racks": 8, "wan": 8, "mixed-speed": 8, "uneven": 8}


def test_two_racks_are_a_tenth_of_a_millisecond_inside_and_two_milliseconds_apart() -> None:
    network = load_network("two-racks")
    assert network.delay_s(0, 3) == pytest.approx(0.1e-3)
    assert network.delay_s(0, 4) == pytest.approx(2e-3)
    assert network.delay_s(4, 4) == 0


def test_sites_of_the_wide_area_lab_are_ten_milliseconds_and_a_megabyte_per_second_apart() -> None:
    network = load_network("wan")
    assert network.delay_s(1, 2) == pytest.approx(10e-3)
    assert min(link.rate_bytes_per_s for link in network.links_between(0, 7)) == 1e6


def test_the_truth_has_the_levels_that_separate_ranks() -> None:
    truth = load_network("uneven").truth([0, 1, 2, 3, 4, 5, 6, 7])
    # Each rank is a host of its own: the racks of one, three and four.
    assert truth == {"rack": [0, 1, 1, 1, 2, 2, 2, 2], "node": list(range(8))}
    truth = load_network("wan").truth([7, 0, 7, 1])
    assert truth == {"site": [0, 1, 0, 1], "node": [0, 1, 0, 2]}


def test_racks_may_be_in_sites_and_have_uplinks_and_cables_of_their_own(
    write_network: Callable[[str], Path],
) -> None:
    network = read_network(
        write_network(
            BASE + "site: {rate: 1MB/s, delay: 5ms}\nsites:\n  - hosts: 1\n  - racks:\n"
            "    - {hosts: 2}\n"
            "    - {hosts: 1, uplink: {rate: 0, delay: 2ms}, host: {rate: 8kbit/s, delay: 0}}\n"
        )
    )
    assert network.host_names == ["h0", "h1", "h2", "h3"]
    assert network.delay_s(1, 3) == pytest.approx(50e-6 + 1e-3 + 2e-3)
    assert network.delay_s(0, 1) == pytest.approx(50e-6 + 5e-3 + 5e-3 + 1e-3 + 50e-6)
    rates = sorted(link.rate_bytes_per_s for link in network.links_between(1, 3))
    assert rates == [1000.0, 125e6, 125e6, math.inf]


def test_the_bound_is_the_way_to_the_farthest_host_and_the_slowest_link_on_it(small: Network) -> None:
    assert small.bound_s(0, [0, 1], 1000) == pytest.approx(0.4e-3 + 1000 / 125e6)
    assert small.bound_s(0, [0, 1, 3], 1000) == pytest.approx(2.4e-3 + 1000 / 25e6)
    assert small.bound_s(0, [0, 0], 1000) == 0


def test_a_network_survives_its_own_text(small: Network) -> None:
    assert Network.from_json(small.to_json()) == small


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("name: x\n", "lab.yaml:1: 'host' is a required property"),
        (BASE, "neither hosts, racks nor sites"),
        (BASE + "hosts: 2\nracks: [{hosts: 1}]\n", "hosts and racks together"),
        (BASE + "hosts: 300\n", "lab.yaml:4: hosts: 300 is greater than the maximum of 250"),
        (
            BASE + "racks:\n  - {hosts: 200}\n  - {hosts: 200}\n  - {hosts: 250}\n",
            "lab.yaml:6: racks[1].hosts: 400 hosts, with those before; use at most 250",
        ),
        (BASE + "sites: [{hosts: 1}]\n", "lab.yaml:4: sites[0]: its uplink is not described"),
        (BASE + "racks: [{hosts: 1, cables: 3}]\n", "Additional properties are not allowed"),
        (BASE.replace("50us", "50 parsecs") + "hosts: 2\n", "lab.yaml:2: host.delay: '50 parsecs' is not"),
        (BASE.replace("name: x", "name: 'a b'") + "hosts: 2\n", "lab.yaml:1: name: 'a b' does not match"),
        (BASE + "hosts: [\n", "is not YAML"),
        ("a: &a [1]\nb: *a\n", "anchors and aliases"),
        (BASE + "hosts: 2\n<<: {hosts: 3}\n", "lab.yaml:5: merge keys (<<) are not supported"),
        (BASE.replace("50us", "9" * 400) + "hosts: 2\n", "lab.yaml:2: host.delay: "),
    ],
)
def test_a_wrong_description_is_one_line_with_its_place(
    write_network: Callable[[str], Path], text: str, complaint: str
) -> None:
    with pytest.raises(IsochroneError) as caught:
        read_network(write_network(text))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_lab_is_told_which_there_are() -> None:
    with pytest.raises(
        IsochroneError, match=r"no lab 'three-racks'; use one of .*two-racks.*, or a YAML file"
    ):
        load_network("three-racks")
