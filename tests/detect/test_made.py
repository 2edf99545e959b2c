# SPDX-License-Identifier: BSD-3-Clause
"""Made machines of every class: what is there is found, and nothing else, in whatever order the rows are."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.detect.distance import Ints, distances_of
from isochrone.detect.levels import find_levels, judged
from isochrone.evaluate.machines.machine import Made
from isochrone.evaluate.machines.table import KINDS, made
from isochrone.evaluate.scores import found_and_made_up

# Of 24 machines, how many come out wholly right at least, and how many levels are made up at most, where not
# all do: two or three standard errors of the noise are less than a step there, or one part has its steps at
# other distances. A change for the worse by chance is unlikelier than one in a thousand.
NOT_ALL = {
    "bursts": (20, 4),
    "close-8": (0, 4),
    "close-15": (15, 4),
    "close-30": (13, 4),
    "core-kinds": (14, 8),
    "geometric": (20, 4),
    "odd-pair-slow": (20, 4),
    "singles-50": (20, 4),
    "slow-part": (16, 10),
    "sub-numa": (20, 4),
}


def levels_of(machine: Made, order: Ints | None = None) -> list[Ints]:
    """The levels that are found, without the group of all, in the order that the machine has its ranks."""
    log_s = machine.log_s if order is None else machine.log_s[np.ix_(order, order)]
    found = find_levels(distances_of(log_s, machine.noise))[1:]
    back = slice(None) if order is None else np.argsort(order)
    return [labels[back] for labels in found]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NOT_ALL])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_there_is_found_and_nothing_else(kind: str, seed: int) -> None:
    machine = made(kind, seed)
    assert found_and_made_up(levels_of(machine), machine.levels) == (len(machine.levels), 0)


@pytest.mark.parametrize("kind", NOT_ALL)
def test_what_is_hidden_is_found_mostly_and_seldom_made_up(kind: str) -> None:
    least, most = NOT_ALL[kind]
    exact = made_up = 0
    for seed in range(24):
        machine = made(kind, seed)
        found, other = found_and_made_up(levels_of(machine), machine.levels)
        exact += (found, other) == (len(machine.levels), 0)
        made_up += other
    assert exact >= least
    assert made_up <= most


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_rows_has_no_say(kind: str) -> None:
    machine = made(kind, 7)
    expected = levels_of(machine)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(machine.log_s))
        found = levels_of(machine, order)
        assert len(found) == len(expected)
        assert found_and_made_up(found, expected) == (len(expected), 0)


def test_each_verdict_says_what_it_rests_on() -> None:
    machine = made("regular", 0)
    levels, others = judged(distances_of(machine.log_s, machine.noise))
    for level in levels[1:]:
        assert level.nearer == level.ranks == len(machine.log_s)
        assert level.margin > level.needed
        assert level.confidence > 0.99
        assert not level.why_not
    for other in others:
        assert other.why_not or other.margin < other.needed or other.nearer < 0.9 * other.ranks


@pytest.mark.parametrize(("slower", "levels"), [(1.1, [8]), (1.5, [2, 8])])
@pytest.mark.parametrize("seed", range(3))
def test_one_core_apart_is_slow_or_far_by_how_much_it_is(slower: float, levels: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    core = random.permutation(16) // 2
    times = np.where(core[:, None] == core[None, :], 10.0, 20.0)
    one = core == 0
    times[one[:, None] != one[None, :]] *= slower
    noise = np.triu(random.normal(0.0, 0.01, times.shape), 1)
    found = find_levels(distances_of(np.log(times) + noise + noise.T, 0.01, np.zeros(16, dtype=np.int64)))
    assert [len(np.unique(labels)) for labels in found[1:]] == levels


@pytest.mark.parametrize("seed", range(24))
def test_fast_cores_are_pairs_of_one_part_and_slow_ones_in_fours(seed: int) -> None:
    part, core = made("core-kinds", seed).levels
    fast = np.bincount(core)[core] == 2
    assert len(np.unique(part[fast])) == 1
    assert not np.isin(part[~fast], part[fast]).any()
    assert set(np.bincount(part[~fast])) <= {0, 4}


@pytest.mark.parametrize("seed", range(24))
def test_one_node_or_socket_is_slower_inside(seed: int) -> None:
    machine = made("slow-part", seed)
    nodes, sockets = machine.levels
    inside = []
    for socket in np.unique(sockets):
        here = np.flatnonzero(sockets == socket)
        pairs = machine.log_s[np.ix_(here, here)][np.triu_indices(len(here), 1)]
        inside.append((float(np.median(pairs)), int(nodes[here[0]])))
    usual = float(np.median([time for time, _ in inside]))
    slow = [node for time, node in inside if time > usual + np.log(1.05)]
    assert len(slow) in (1, 2)
    assert len(set(slow)) == 1
