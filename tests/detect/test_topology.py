# SPDX-License-Identifier: BSD-3-Clause
"""What detection says about the levels: names, links, accuracy, agreement, confidence, and the merge tree."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, leaves_list
from squares import without

from isochrone.detect import dendrogram, detect
from isochrone.detect.links import level_links
from isochrone.errors import IsochroneError
from isochrone.fabric.switches import Switches
from isochrone.files import PairParameters, read_topology, write_topology

US = 1e-6


@pytest.fixture
def nodes(make_regular):
    """2 islands x 2 nodes x 2 sockets x 4 cores, shuffled."""
    return make_regular([2, 2, 2, 4], [3 * US, 2 * US, 1 * US, 0.5 * US]).shuffled(5)


def truth_of(cluster) -> dict[str, list[int]]:
    return dict(zip(("switch", "node", "socket"), (row.tolist() for row in cluster.paths[1:]), strict=True))


def test_levels_are_named_after_the_truth_that_they_match(nodes, make_measurements):
    hosts = [f"n{label}" for label in nodes.paths[2]]
    topology, report = detect(make_measurements(nodes, hosts=hosts), truth_of(nodes))
    assert [level.name for level in topology.levels] == ["machine", "switch", "node", "socket"]
    assert topology.accuracy == {"switch": 1.0, "node": 1.0, "socket": 1.0}
    assert report.disagreements == ()


def test_without_truth_host_names_name_the_nodes_and_the_rest_is_numbered(nodes, make_measurements):
    hosts = [f"n{label}" for label in nodes.paths[2]]
    topology, _ = detect(make_measurements(nodes, hosts=hosts))
    assert [level.name for level in topology.levels] == ["machine", "group-1", "node", "group-3"]
    assert topology.accuracy == {"node": 1.0}
    assert topology.agreement["node"] == {
        "source": "host names",
        "accuracy": 1.0,
        "level": "node",
        "agrees": True,
    }


def test_one_host_is_a_node(make_regular, make_measurements):
    topology, _ = detect(make_measurements(make_regular([2, 4], [1 * US, 0.5 * US])))
    assert [level.name for level in topology.levels] == ["node", "group-1"]


@pytest.mark.parametrize(
    ("host", "names"),
    [("c4{0}-{1}", ["machine", "rack", "node"]), ("{0}x-{1}", ["machine", "rack", "node"])],
)
def test_hosts_that_share_a_numbered_prefix_are_a_rack(host, names, make_regular, make_measurements):
    cluster = make_regular([2, 3, 4], [3 * US, 2 * US, 1 * US])
    hosts = [host.format(rack, node) for rack, node in cluster.paths[1:].T]
    topology, _ = detect(make_measurements(cluster, hosts=hosts))
    assert [level.name for level in topology.levels] == names


def test_hosts_that_share_a_bare_prefix_are_a_machine_of_a_site(make_regular, make_measurements):
    cluster = make_regular([2, 3, 4], [3 * US, 2 * US, 1 * US])
    hosts = [f"{'alpha' if machine else 'beta'}-{node}" for machine, node in cluster.paths[1:].T]
    topology, _ = detect(make_measurements(cluster, hosts=hosts))
    assert [level.name for level in topology.levels] == ["site", "machine", "node"]


def test_of_names_for_one_partition_the_conventional_one_is_taken(make_regular, make_measurements):
    cluster = make_regular([2, 4], [1 * US, 0.5 * US])
    labels = cluster.paths[1].tolist()
    topology, _ = detect(make_measurements(cluster), {"l3": labels, "numa": labels, "socket": labels})
    assert [level.name for level in topology.levels] == ["node", "socket"]
    assert topology.accuracy == {"l3": 1.0, "numa": 1.0, "socket": 1.0}


def test_host_names_that_contradict_the_times_are_reported_and_do_not_bend_the_tree(
    nodes, make_measurements, same, caplog
):
    wrong = nodes.paths[2].copy()
    wrong[[0, 1]] = (wrong[[0, 1]] + 1) % 4
    with caplog.at_level(logging.WARNING, "isochrone.detect"):
        topology, report = detect(make_measurements(nodes, hosts=[f"n{label}" for label in wrong]))
    assert report.disagreements == ("node",)
    assert topology.agreement["node"]["accuracy"] == pytest.approx(30 / 32)
    assert "message times and host names disagree" in caplog.text
    assert same(topology.labels(topology.levels[2]), nodes.paths[2].tolist())


def test_a_level_that_is_not_there_costs_accuracy(make_regular, make_measurements):
    flat = make_measurements(make_regular([8], [US]))
    topology, _ = detect(flat, {"node": [0] * 8, "socket": [0, 0, 0, 0, 1, 1, 1, 1]})
    assert topology.accuracy == {"node": 1.0, "socket": 0.5}


def test_true_groups_of_one_rank_each_are_right(make_regular, make_measurements):
    topology, _ = detect(
        make_measurements(make_regular([5], [US]), hosts=[f"n{k}" for k in range(5)]),
        {"node": [0, 1, 2, 3, 4]},
    )
    assert [level.name for level in topology.levels] == ["machine"]
    assert topology.accuracy == {"node": 1.0}


def test_truth_about_other_ranks_is_refused(make_regular, make_measurements):
    with pytest.raises(IsochroneError, match="is about 3 ranks, not 5"):
        detect(make_measurements(make_regular([5], [US])), {"node": [0, 1, 2]})


def test_measurements_that_lack_pairs_are_refused(make_regular, make_measurements):
    measurements = without(make_measurements(make_regular([5], [US])), 0, 1)
    with pytest.raises(IsochroneError, match="1 of 10 pairs are missing"):
        detect(replace(measurements, ended=False))


def test_ranks_that_are_not_bound_share_the_place_of_their_host(make_regular, make_measurements):
    cluster = make_regular([3, 4], [2 * US, 0.5 * US]).shuffled(1)
    hosts = [f"n{label}" for label in cluster.paths[1]]
    topology, _ = detect(make_measurements(cluster, noise=0.05, hosts=hosts, cpus=[None] * 12))
    assert len(topology.places) == 3
    assert [(level.name, len(level.groups)) for level in topology.levels] == [("machine", 1), ("node", 3)]
    assert topology.levels[1].links is not None
    assert topology.levels[1].links.latency_s == pytest.approx(0.5 * US, rel=0.1)


def test_ranks_of_one_host_that_are_not_bound_are_one_place_and_one_level(make_regular, make_measurements):
    topology, _ = detect(make_measurements(make_regular([2, 2], [2 * US, US]), cpus=[None] * 4))
    assert len(topology.places) == 1
    assert [(level.name, level.groups) for level in topology.levels] == [("node", ((0,),))]
    assert topology.levels[0].links is not None


def test_nodes_of_unbound_ranks_are_grouped_by_their_islands(make_regular, make_measurements):
    cluster = make_regular([2, 3, 2], [3 * US, 2 * US, 0.5 * US]).shuffled(3)
    hosts = [f"n{label}" for label in cluster.paths[2]]
    measurements = make_measurements(cluster, hosts=hosts, cpus=[None] * 12)
    topology, _ = detect(measurements, {"switch": cluster.paths[1].tolist()})
    assert [(level.name, len(level.groups)) for level in topology.levels] == [
        ("machine", 1),
        ("switch", 2),
        ("node", 6),
    ]


def test_links_hold_latency_overhead_and_gap_of_the_pairs_that_meet_at_the_level(nodes, make_measurements):
    topology, _ = detect(make_measurements(nodes))
    assert [level.links.latency_s for level in topology.levels if level.links] == pytest.approx(
        [3 * US, 2 * US, 1 * US, 0.5 * US]
    )
    for level in topology.levels:
        assert level.links is not None
        assert [size for size, _ in level.links.gap_s] == [0, 1024, 65536]
        assert [gap for _, gap in level.links.gap_s] == pytest.approx([0.0, 1024e-10, 65536e-10])
        assert level.links.send_overhead_s == ((0, 1e-7), (1024, 1e-7), (65536, 1e-7))


def test_links_say_how_alike_the_pairs_of_a_level_are(nodes, make_measurements):
    counts = [level.links.pairs for level in detect(make_measurements(nodes))[0].levels if level.links]
    assert sum(counts) == nodes.ranks * (nodes.ranks - 1) // 2
    clean, noisy = (
        [
            level.links.spread
            for level in detect(make_measurements(nodes, noise=noise))[0].levels
            if level.links
        ]
        for noise in (0.0, 0.2)
    )
    assert clean == pytest.approx([0.0] * 4, abs=1e-9)
    assert min(noisy) > 0.01


def test_links_take_the_sizes_of_the_pairs_whose_parameters_were_measured(nodes, make_measurements):
    """A few pairs stand for all of a level: their gaps at many sizes beyond the latency of all."""
    measurements = make_measurements(nodes)
    sizes = (0, 1, 4, 65536, 1 << 21)
    one_way_s = np.array([2, 2, 3, 7, 200]) * US
    quartiles = 2 * one_way_s[:, None] * np.array([1.0, 1.1, 1.2, 1.3])
    i, j = np.argwhere(nodes.paths[1][:, None] != nodes.paths[1])[0].tolist()
    each = PairParameters(i, j, sizes, quartiles, one_way_s / 10, one_way_s / 20, one_way_s / 2)
    topology, _ = detect(replace(measurements, parameters={(i, j): each}))
    links = topology.levels[0].links
    assert links is not None
    assert links.latency_s == pytest.approx(3 * US)
    assert [size for size, _ in links.gap_s] == list(sizes)
    assert [gap for _, gap in links.gap_s] == pytest.approx([0, 0, US, 5 * US, 198 * US])
    assert [overhead for _, overhead in links.send_overhead_s] == pytest.approx(one_way_s / 10)
    assert links.receive_overhead_s == ((0, pytest.approx(2 * US / 20)),)
    assert [size for size, _ in topology.levels[1].links.gap_s] == [0, 1024, 65536]


@pytest.mark.parametrize(("measured_s", "told_s"), [(9 * US, 3 * US), (-1e-9, 0.0)])
def test_a_receive_overhead_is_within_the_latency(nodes, make_measurements, measured_s, told_s):
    one_way_s, overheads_s = np.array([2, 2]) * US, np.array([measured_s, US])
    quartiles = 2 * one_way_s[:, None] * np.ones(4)
    i, j = np.argwhere(nodes.paths[1][:, None] != nodes.paths[1])[0].tolist()
    each = PairParameters(i, j, (0, 1), quartiles, one_way_s / 10, overheads_s, one_way_s / 2)
    topology, _ = detect(replace(make_measurements(nodes), parameters={(i, j): each}))
    assert topology.levels[0].links.receive_overhead_s == ((0, pytest.approx(told_s)),)


def test_a_level_of_which_no_pair_was_measured_has_no_links(nodes, make_measurements):
    measurements = make_measurements(nodes)
    switch, node = nodes.paths[1], nodes.paths[2]
    between = (switch[:, None] == switch) & (node[:, None] != node)
    others = [pair for pair in measurements.pairs if not between[pair]]
    found = level_links(measurements.only_pairs(others), [np.zeros_like(switch), switch, node])
    assert [links is None for links in found] == [False, True, False]


def test_a_single_rank_has_a_level_without_links(make_regular, make_measurements):
    topology, _ = detect(make_measurements(make_regular([1], [US])))
    assert [(level.name, level.groups, level.links) for level in topology.levels] == [("node", ((0,),), None)]


def test_confidence_is_whole_without_noise_and_falls_with_it(make_regular, make_measurements):
    cluster = make_regular([4, 2, 4], [2 * US, 0.65 * US, 0.5 * US])
    quiet = detect(make_measurements(cluster))[0]
    assert [level.confidence for level in quiet.levels] == [1.0, 1.0, 1.0]
    noisy = detect(make_measurements(cluster, noise=0.15))[0]
    assert len(noisy.levels) == 3
    assert noisy.levels[1].confidence == 1.0
    assert 0.3 < noisy.levels[2].confidence < 1.0


def test_the_same_measurements_give_the_same_topology(nodes, make_measurements):
    first, second = (detect(make_measurements(nodes, noise=0.1))[0] for _ in range(2))
    assert (first.levels, first.fingerprint) == (second.levels, second.fingerprint)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_small_topologies_can_be_written_and_read(ranks, make_regular, make_measurements, tmp_path):
    topology, _ = detect(make_measurements(make_regular([ranks], [US])))
    write_topology(tmp_path / "topology.json", topology)
    assert read_topology(tmp_path / "topology.json").levels == topology.levels


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_dendrogram_is_cut_into_the_levels(noise, nodes, make_measurements, same):
    measurements = make_measurements(nodes, noise=noise)
    topology, _ = detect(measurements)
    tree = dendrogram(measurements)
    assert is_valid_linkage(tree)
    for level in topology.levels[1:]:
        at = len(tree) - len(level.groups)
        labels = fcluster(tree, tree[at : at + 2, 2].mean(), "distance").tolist()
        assert same(labels, topology.labels(level))
        ordered = [labels[rank] for rank in leaves_list(tree)]
        assert sum(a != b for a, b in pairwise(ordered)) == len(level.groups) - 1


def test_the_dendrogram_of_unbound_ranks_keeps_those_of_a_host_together(make_regular, make_measurements):
    cluster = make_regular([3, 4], [2 * US, 0.5 * US]).shuffled(1)
    hosts = [f"n{label}" for label in cluster.paths[1]]
    tree = dendrogram(make_measurements(cluster, noise=0.1, hosts=hosts, cpus=[None] * 12))
    ordered = [hosts[rank] for rank in leaves_list(tree)]
    assert sum(a != b for a, b in pairwise(ordered)) == 2


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_dendrogram_of_one_or_two_ranks_is_a_tree(ranks, make_regular, make_measurements):
    tree = dendrogram(make_measurements(make_regular([ranks], [US])))
    assert tree.shape == (ranks - 1, 4)
    assert sorted(tree[:, :2].ravel()) == list(range(2 * (ranks - 1)))


def fabric_of(hosts: list[str], leaves: list[int], spines: list[int]) -> Switches:
    leaf = {host: f"leaf{k}" for host, k in zip(hosts, leaves, strict=True)}
    above = {f"leaf{k}": f"spine{s}" for k, s in zip(leaves, spines, strict=True)}
    return Switches("topology.conf", leaf, above)


def test_a_fabric_names_the_levels_that_it_has_and_agrees(make_regular, make_measurements):
    cluster = make_regular([2, 2, 3, 2], [4 * US, 3 * US, 2 * US, 1 * US]).shuffled(3)
    hosts = [f"n{node}" for node in cluster.paths[3]]
    fabric = fabric_of(hosts, cluster.paths[2].tolist(), cluster.paths[1].tolist())
    topology, report = detect(make_measurements(cluster, hosts=hosts), fabric=fabric)
    assert [level.name for level in topology.levels] == ["machine", "switch-2", "switch", "node"]
    for name in ("switch", "switch-2"):
        assert topology.agreement[name] == {
            "source": "fabric",
            "accuracy": 1.0,
            "level": name,
            "agrees": True,
        }
    assert report.disagreements == ()


def test_a_fabric_that_times_contradict_names_nothing_and_is_told(make_regular, make_measurements):
    cluster = make_regular([2, 4, 2], [3 * US, 2 * US, 1 * US])
    hosts = [f"n{node}" for node in cluster.paths[2]]
    crossed = (cluster.paths[2] % 2).tolist()
    topology, report = detect(
        make_measurements(cluster, hosts=hosts), fabric=fabric_of(hosts, crossed, crossed)
    )
    assert [level.name for level in topology.levels] == ["machine", "group-1", "node"]
    assert topology.agreement["switch"]["agrees"] is False
    assert topology.agreement["switch"]["accuracy"] == 0.5
    assert report.disagreements == ("switch",)
