# SPDX-License-Identifier: BSD-3-Clause
"""The pairs that the adaptive mode asks for tell the tree, and are few."""

from __future__ import annotations

import numpy as np
import pytest

US = 1e-6
NOISY = {"noise": 0.1, "bias": 0.03, "held_up": 0.02}


def same(found, machine):
    """Whether the levels found are the machine's."""
    return len(found) == len(machine.groups) + 1 and all(
        len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())) == len(set(b.tolist()))
        for a, b in zip(found[1:], machine.groups, strict=True)
    )


def share(table):
    return len(table.measured) / (table.ranks * (table.ranks - 1) / 2)


SHAPES = {
    "8 nodes of 2 x 16": ((8, 2, 16), (1.2 * US, 0.6 * US, 0.3 * US), 0),
    "2 islands of 5 nodes of 3 x 9": ((2, 5, 3, 9), (1.8 * US, 1.2 * US, 0.6 * US, 0.3 * US), 1),
    "64 nodes of 4": ((64, 4), (1.5 * US, 0.6 * US), 0),
    # More ranks in a node than a verdict looks at of one group.
    "12 nodes of 2 x 24 x 2": ((12, 2, 24, 2), (1.8 * US, 0.8 * US, 0.6 * US, 0.3 * US), 0),
    "2 nodes of 2 x 16 x 4": ((2, 2, 16, 4), (1.8 * US, 0.8 * US, 0.6 * US, 0.5 * US), 0),
}


@pytest.mark.parametrize("blind", [False, True], ids=["hints", "blind"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_is_found_without_noise(make_machine, shape, blind):
    counts, latencies_s, node = SHAPES[shape]
    machine = make_machine(counts, latencies_s)
    levels, table = machine.found(None if blind else machine.groups[node])
    assert same(levels, machine)
    # 64 groups of four that nothing hints at take a quarter of all pairs to be told apart, whatever the
    # method; two more for each rank check them.
    assert share(table) <= (0.3 if blind and shape == "64 nodes of 4" else 0.15)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
@pytest.mark.parametrize("blind", [False, True], ids=["hints", "blind"])
@pytest.mark.parametrize("shape", ["8 nodes of 2 x 16", "64 nodes of 4"])
def test_the_tree_is_found_with_noise(make_machine, shape, blind, seed):
    counts, latencies_s, node = SHAPES[shape]
    machine = make_machine(counts, latencies_s, seed=seed, **NOISY)
    levels, _ = machine.found(None if blind else machine.groups[node], seed)
    assert same(levels, machine)


def test_a_thousand_ranks_take_a_twentieth_of_the_pairs(make_machine):
    machine = make_machine((4, 8, 2, 16), (1.8 * US, 1.2 * US, 0.6 * US, 0.3 * US))
    levels, table = machine.found(machine.groups[1])
    assert same(levels, machine)
    assert share(table) <= 0.05


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 65, 200])
@pytest.mark.parametrize("noise", [{}, NOISY], ids=["exact", "noisy"])
def test_ranks_that_are_all_alike_are_one_group(make_machine, ranks, noise):
    machine = make_machine((ranks,), (1.5 * US,), **noise)
    levels, table = machine.found(None)
    if ranks == 1:
        assert len(table.measured) == 0
        return
    assert [len(np.unique(labels)) for labels in levels] == [1]
    assert ranks < 200 or share(table) < 0.2


@pytest.mark.parametrize("blind", [False, True], ids=["hints", "blind"])
def test_hosts_of_two_sizes_are_not_all_measured_with_each_other(make_machine, blind):
    def measured(hosts, ranks):
        machine = make_machine((len(hosts), 1), (1.5 * US, 0.6 * US))
        machine.groups = [np.random.default_rng(3).permutation(np.repeat(np.arange(len(ranks)), ranks))]
        levels, table = machine.found(None if blind else machine.groups[0])
        assert same(levels, machine)
        return len(table.measured)

    alike = measured(range(704), [16] * 44)
    two = measured(range(700), [16] * 40 + [12] * 5)
    assert two < 1.3 * alike


def test_wrong_host_names_mislead_nobody(make_machine):
    machine = make_machine((8, 2, 16), (1.2 * US, 0.6 * US, 0.3 * US))
    levels, _ = machine.found(np.random.default_rng(5).permutation(machine.groups[0]))
    assert same(levels, machine)


def test_a_rank_under_a_wrong_name_is_put_where_it_is(make_machine):
    machine = make_machine((8, 2, 16), (1.2 * US, 0.6 * US, 0.3 * US))
    hosts = machine.groups[0].copy()
    hosts[3] = (hosts[3] + 1) % 8
    levels, _ = machine.found(hosts)
    assert same(levels, machine)


def test_no_pair_is_asked_for_twice_and_the_lesser_rank_is_first(make_machine):
    machine = make_machine((4, 2, 8), (1.2 * US, 0.6 * US, 0.3 * US), **NOISY)
    machine.found(machine.groups[0])
    pairs = [pair for asked in machine.asked for pair in asked]
    assert len(pairs) == len(set(pairs))
    assert all(low < high for low, high in pairs)


def test_the_same_answers_make_the_same_choice(make_machine):
    machines = [make_machine((4, 2, 8), (1.2 * US, 0.6 * US, 0.3 * US), **NOISY) for _ in range(2)]
    for machine in machines:
        machine.found(machine.groups[0])
    assert machines[0].asked == machines[1].asked
