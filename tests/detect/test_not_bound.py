# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are not bound: how they ran is said where it shows, and is no level; and who starts them is told
how to bind them.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isochrone.detect import detect as detect_measurements
from isochrone.files import write_measurements
from isochrone.steps.detect import detect

US = 1e-6


@pytest.mark.parametrize(
    ("nodes", "each", "cpus", "waits", "said"),
    [
        (2, 3, None, False, "ranks of 2 hosts are not bound to cores"),
        (1, 4, None, False, "ranks of n0 are not bound to cores"),
        (2, 3, "0-7", False, "ranks of 2 hosts are not bound to cores, so that nothing inside the CPUs that"),
        (1, 4, "0,2-9", False, "ranks of n0 are not bound to cores"),
        (2, 3, "own", False, ""),
        (3, 2, "0-7", False, ""),
        (3, 2, None, False, ""),  # of two ranks there is nothing to tell
        (2, 3, None, True, ""),  # ranks that wait for a core are in no place
    ],
)
def test_of_ranks_that_are_not_bound_a_line_says_so(
    nodes, each, cpus, waits, said, make_regular, make_measurements, tmp_path: Path, caplog
):
    cluster = make_regular([nodes, each], [2 * US, US]).shuffled(1)
    own = [str(rank) if cpus == "own" else cpus for rank in range(nodes * each)]
    found = make_measurements(cluster, hosts=[f"n{label}" for label in cluster.paths[1]], cpus=own)
    write_measurements(tmp_path / "m.jsonl", replace(found, provenance={"oversubscribed": waits}))
    with caplog.at_level(logging.WARNING, "isochrone"):
        detect(tmp_path / "m.jsonl", tmp_path / "t.json")
    assert ("not bound" in caplog.text) == bool(said)
    assert said in caplog.text
    assert ("mpiexec --bind-to core" in caplog.text) == bool(said)


def unbound(cluster, make_measurements, hosts, **drawn):
    names = [f"n{host}" for host in hosts]
    return make_measurements(cluster, hosts=names, cpus=[None] * cluster.ranks, **drawn)


def said_inside(measurements) -> list[tuple[int, int, int]]:
    """Groups that are said to be inside hosts; that none is a level is tested too."""
    topology, _ = detect_measurements(measurements)
    assert len(topology.places) == len({place.host for place in measurements.places})
    inside = [reason for reason in topology.reasons if "not bound" in reason.why]
    assert all(reason.level is None for reason in inside)
    return [(reason.groups, reason.least, reason.most) for reason in inside]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("nodes", "sockets", "cores"), [(1, 2, 4), (2, 2, 4), (3, 4, 2), (1, 3, 5), (4, 2, 3)]
)
def test_how_ranks_ran_that_stayed_where_they_were_is_said(
    nodes, sockets, cores, seed, make_regular, make_measurements
):
    cluster = make_regular([nodes, sockets, cores], np.array([3, 1, 0.4]) * US).shuffled(seed)
    found = unbound(cluster, make_measurements, cluster.paths[1], noise=0.05, seed=seed)
    assert said_inside(found) == [(nodes * sockets, cores, cores)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nodes", [1, 2])
def test_of_hosts_without_groups_inside_nothing_is_said(nodes, seed, make_regular, make_measurements):
    cluster = make_regular([nodes, 12], np.array([3, 0.5]) * US).shuffled(seed)
    assert said_inside(unbound(cluster, make_measurements, cluster.paths[1], noise=0.05, seed=seed)) == []


@pytest.mark.parametrize("moves", [10, 100])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("nodes", [1, 2])
def test_of_ranks_that_went_about_nothing_is_made_up(nodes, seed, moves, make_regular, make_measurements):
    """Each rank runs on a socket by chance, and again after each of some moments of its own; pairs are timed
    one after the other.
    """
    cluster = make_regular([nodes, 16], np.array([3, 1]) * US)
    host = cluster.paths[1]
    found = unbound(cluster, make_measurements, host, noise=0.05, seed=seed)
    random = np.random.default_rng(seed)
    when = random.permutation(len(found.first))
    moments = np.sort(random.uniform(0, len(when), (cluster.ranks, moves)), axis=1)
    sockets = random.integers(0, 2, (cluster.ranks, moves + 1))
    first, second = (
        sockets[ranks, (moments[ranks] < when[:, None]).sum(axis=1)] for ranks in (found.first, found.second)
    )
    near = (host[found.first] == host[found.second]) & (first == second)
    for times in (found.rtt_min_s, found.rtt_median_s):
        times[near] /= 2.5
    assert said_inside(found) == []


def test_ranks_that_wait_for_a_core_are_not_looked_at(make_regular, make_measurements):
    cluster = make_regular([2, 2, 4], np.array([3, 1, 0.4]) * US)
    found = unbound(cluster, make_measurements, cluster.paths[1])
    assert said_inside(replace(found, provenance={"oversubscribed": True})) == []


def test_the_line_about_ranks_that_are_not_bound_has_the_groups(
    make_regular, make_measurements, tmp_path: Path, caplog
):
    cluster = make_regular([2, 2, 4], np.array([3, 1, 0.4]) * US)
    write_measurements(tmp_path / "m.jsonl", unbound(cluster, make_measurements, cluster.paths[1]))
    with caplog.at_level(logging.WARNING, "isochrone"):
        detect(tmp_path / "m.jsonl", tmp_path / "t.json")
    assert "this time they were 4 groups of 4" in caplog.text
