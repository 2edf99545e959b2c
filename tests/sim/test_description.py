# SPDX-License-Identifier: BSD-3-Clause
"""Reading descriptions: what they mean, what may be left out, and how wrong ones are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.sim.description import load_system, shipped_systems
from isochrone.sim.system import truth

GOOD = """\
name: small
nodes: 4
sockets: 2
cores: 4
links:
  socket: {latency: 0.3us, bandwidth: 10GB/s}
  node: {latency: 600ns, bandwidth: 80Gbit/s}
  network: {latency: 1.2e-6, bandwidth: 6000000000}
"""


def test_every_shipped_system_loads_under_its_own_name() -> None:
    assert {"fram", "betzy", "arm1", "idun", "hpclab", "demo"} <= set(shipped_systems())
    for name in shipped_systems():
        assert load_system(name).name == name


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("fram", {"switch": 2, "node": 4, "socket": 8}),
        ("betzy", {"node": 4, "socket": 8, "l3": 128}),
        ("arm1", {"node": 1, "socket": 2, "numa": 4}),
        ("idun", {"node": 16, "socket": 32}),
        ("hpclab", {"node": 1}),
        ("demo", {"node": 4, "socket": 8}),
    ],
)
def test_shipped_systems_have_the_levels_of_the_machines(name: str, groups: dict[str, int]) -> None:
    assert {level: len(set(labels)) for level, labels in truth(load_system(name)).items()} == groups


def test_quantities_are_read_with_their_units(write_system: Callable[[str], Path]) -> None:
    system = load_system(str(write_system(GOOD)))

    socket, node = (group.link for group in system.core_groups)
    assert (socket.latency_s, socket.bandwidth_bytes_per_s) == (0.3e-6, 10e9)
    assert (node.latency_s, node.bandwidth_bytes_per_s) == (0.6e-6, 10e9)
    assert system.network.network.latency_s == 1.2e-6


def test_capacities_have_defaults(write_system: Callable[[str], Path]) -> None:
    system = load_system(str(write_system(GOOD)))

    socket, node = (group.link for group in system.core_groups)
    assert socket.capacity_bytes_per_s == math.inf
    assert node.capacity_bytes_per_s == 40e9
    assert system.network.network.capacity_bytes_per_s == 6e9
    assert system.core_capacity_bytes_per_s == 10e9


def test_overheads_are_by_default_a_tenth_of_the_least_latency(write_system: Callable[[str], Path]) -> None:
    system = load_system(str(write_system(GOOD)))

    assert system.send_overhead_s == system.receive_overhead_s == pytest.approx(0.03e-6)


def test_arguments_override_the_file() -> None:
    system = load_system("demo", placement="cyclic", seed=7, noise=0.25)

    assert (system.placement, system.seed, system.noise) == ("cyclic", 7, 0.25)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [({"placement": "round"}, "--placement"), ({"seed": -1}, "--seed"), ({"noise": math.nan}, "--noise")],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], where: str) -> None:
    with pytest.raises(IsochroneError, match=where):
        load_system("demo", **arguments)  # type: ignore[arg-type]


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(IsochroneError, match="betzy, demo, fram"):
        load_system("stallo")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(IsochroneError, match=r"nowhere/x\.yaml: cannot be read: No such file"):
        load_system("nowhere/x.yaml")


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


ISLANDS = "network: {kind: islands, islands: [2, 3], uplink: {latency: 2us, bandwidth: 1GB/s}}"
REFUSED = {
    "an unknown key": (changed("cores", "corse: 1\ncores"), 1, "'corse'"),
    "a number that is too large": (changed("nodes: 4", "nodes: 1000000000"), 2, "nodes"),
    "too many cores in all": (
        changed("nodes: 4\nsockets: 2\ncores: 4", "nodes: 1000\nsockets: 2\ncores: 64"),
        2,
        "128000",
    ),
    "a boolean for a number": (changed("nodes: 4", "nodes: true"), 2, "nodes"),
    "no unit of time": (changed("0.3us", "0.3GB"), 6, "links.socket.latency"),
    "a negative latency": (changed("1.2e-6", "-1.0e-6"), 8, "links.network.latency"),
    "an infinite latency": (changed("1.2e-6", ".inf"), 8, "links.network.latency"),
    "noise that is no number": (GOOD + "noise: .nan", 9, "noise"),
    "no bandwidth": (changed("6000000000", "0"), 8, "links.network.bandwidth"),
    "a level without a link": (changed("  socket:", "  numa:"), 5, "socket is missing"),
    "no network": (
        changed("  network: {latency: 1.2e-6, bandwidth: 6000000000}\n", ""),
        5,
        "network is missing",
    ),
    "capacity below bandwidth": (
        changed("10GB/s}", "10GB/s, capacity: 1GB/s}"),
        6,
        "less than the bandwidth",
    ),
    "overheads above the latency": (GOOD + "send_overhead: 1us", 6, "links.socket.latency"),
    "cores that cannot be shared out": (GOOD + "numa: 3", 9, "numa"),
    "L3 groups that do not fit": (GOOD + "l3_cores: 3", 9, "l3_cores"),
    "an unknown network": (GOOD + "network: {kind: ring}", 9, "network.kind"),
    "islands that do not add up": (GOOD + ISLANDS, 9, "5 nodes"),
    "a network that lacks a part": (GOOD + "network: {kind: torus}", 9, "'dimensions'"),
    "a key that is there twice": (GOOD + "nodes: 3", 9, "twice"),
    "an alias": (changed("4\nsockets", "&n 4\nsockets").replace("cores: 4", "cores: *n"), 4, "aliases"),
    "no YAML": (GOOD + "x: [1", 9, "not YAML"),
    "a Python object": (changed("nodes: 4", "nodes: !!python/object/apply:os.getpid []"), 2, "not YAML"),
    "a list": ("- 1", 1, "object"),
    "a hostile name": (changed("small", "'a b; rm'"), 1, "name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_description_is_refused_in_one_line_with_its_place(
    case: str, write_system: Callable[[str], Path]
) -> None:
    text, line, told = REFUSED[case]
    path = write_system(text)

    with pytest.raises(IsochroneError) as caught:
        load_system(str(path))

    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert told in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"name: \x00", b"[" * 100_000, b"9" * 100_000, b"#" * 2_000_000],
    ids=["empty", "not UTF-8", "a zero byte", "deep", "a long number", "too large"],
)
def test_what_is_no_description_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_bytes(content)

    with pytest.raises(IsochroneError, match=str(path)) as caught:
        load_system(str(path))

    assert len(str(caught.value)) < 400
