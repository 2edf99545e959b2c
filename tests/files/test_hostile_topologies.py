# SPDX-License-Identifier: BSD-3-Clause
"""Hostile files of topologies."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest
from hostile import all_of
from mutations import Mutate, mutate_json

from isochrone.files import KnownGroups, Level, Links, Place, Topology, read_topology, write_topology

LINKS = Links(1e-6, ((0, 2e-7), (1024, 3e-7)), ((0, 0.0),), ((0, 0.0), (65536, 7e-6)), 1e9)
TOPOLOGY = Topology(
    places=tuple(Place(f"n{k // 2}", str(k % 2), "x") for k in range(4)),
    ranks=(3, 2, 1, 0),
    levels=(Level("machine", ((0, 1, 2, 3),), 1.0, LINKS), Level("node", ((0, 1), (2, 3)), 0.9, None)),
    accuracy={"node": 1.0},
    agreement={"node": {"agrees": True}},
    source={"method": "by hand"},
    known=(KnownGroups("rack", "truth", (0, 0, 1, 1)),),
)


def with_fingerprint(mutate: Mutate) -> Mutate:
    """Half of the changes of the tree get the fingerprint that goes with them, as one who means harm would do
    it; else hardly anything comes past it.
    """
    known = TOPOLOGY.fingerprint.encode()

    def mutated(chance: random.Random, data: bytes) -> bytes:
        data = mutate(chance, data)
        if chance.random() < 0.5:
            try:
                document = json.loads(data)
                tree = {
                    "levels": [level["groups"] for level in document["levels"]],
                    "places": document["places"],
                }
                text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
            except (ValueError, LookupError, TypeError, RecursionError):
                return data
            data = data.replace(known, hashlib.sha256(text.encode()).hexdigest().encode())
        return data

    return mutated


def read_hostile_topologies(folder: Path, numbers: range) -> int:
    path = folder / "topology.json"
    write_topology(path, TOPOLOGY)
    # One line, as mutate_documents wants it.
    whole = json.dumps(json.loads(path.read_bytes())).encode()
    read = 0
    for topology in all_of(path, whole, with_fingerprint(mutate_json), read_topology, numbers):
        assert isinstance(topology, Topology)
        write_topology(folder / "again.json", topology)
        assert read_topology(folder / "again.json").fingerprint == topology.fingerprint
        read += 1
    return read


@pytest.mark.usefixtures("bounded")
def test_mutated_topologies_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    assert 50 < read_hostile_topologies(tmp_path, range(1500)) < 1000


@pytest.mark.long
@pytest.mark.usefixtures("bounded")
def test_twenty_thousand_mutated_topologies_are_read_or_refused(tmp_path: Path) -> None:
    assert read_hostile_topologies(tmp_path, range(20_000)) > 500
