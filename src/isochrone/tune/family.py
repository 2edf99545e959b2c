# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of other shapes that jobs on the surveyed machine may have: over fewer of its nodes, with
fewer ranks on each. One survey tunes them too, split from its own ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product, zip_longest

from isochrone.files import Place
from isochrone.tune.effort import Effort, part_of

SETUP = 15
"""What the first call of a kind on a new communicator takes, in small allreduces of all ranks: libraries make
communicators of the nodes' leaders and of each node's ranks then. With Open MPI 5 between sites it takes 9 to
14 of them, after 3 for the communicator itself."""
LEAST_FAMILY = 4
"""Communicators of other shapes that the time is for, at least: half of the nodes, near and spread, half of
the ranks on each, and a quarter of the nodes."""


def node_counts(nodes: int) -> list[int]:
    """2, 3, 4, 6, 8, 12, 16, … up to all: in steps that are never more than a half, so that what lies between
    two of them is near both.
    """
    counts = {nodes}
    for power in range(1, nodes.bit_length()):
        counts |= {count for count in (1 << power, 3 << (power - 1)) if 2 <= count <= nodes}
    return sorted(counts)


def _halving(counts: Sequence[int]) -> list[int]:
    """The greatest, what is half of it or less, what is half of that, and so on; then the others."""
    first: list[int] = []
    for count in reversed(counts):
        if not first or 2 * count <= first[-1]:
            first.append(count)
    return [*first, *(count for count in reversed(counts) if count not in first)]


def node_shares(ranks: int) -> list[int]:
    """All, half and one of the ranks of a node."""
    return list(dict.fromkeys((ranks, max(1, ranks // 2), 1)))


def family(places: Sequence[Place], groups_of_hosts: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The ranks of each communicator, ascending. What is nearest to all ranks comes first: half of the nodes,
    and half of the ranks of each; then a quarter of the nodes, and so on, as what lies between two numbers of
    nodes may follow from both; then numbers between these. Each is taken from neighbouring nodes, and from
    nodes that are spread over the groups as evenly as they can: jobs get either.

    Args:
        places: of all ranks.
        groups_of_hosts: for each level below the machine, outermost first, the group of each rank. What tells
            no two hosts together, as nodes and what is inside them, says nothing of where hosts are.
    """
    on_host: dict[str, list[int]] = {}
    for rank, place in enumerate(places):
        on_host.setdefault(place.host, []).append(rank)
    hosts = list(on_host.values())
    if len(hosts) < 2:
        return []
    most = min(map(len, hosts))
    of_hosts = [[group[ranks[0]] for ranks in hosts] for group in groups_of_hosts]
    groups = list(zip(*(level for level in of_hosts if len(set(level)) < len(hosts)), strict=True))
    groups = groups or [()] * len(hosts)
    near = [hosts[at] for at in sorted(range(len(hosts)), key=lambda at: (groups[at], at))]
    dealt: dict[tuple[int, ...], list[list[int]]] = {}
    for ranks, group in zip(hosts, groups, strict=True):
        dealt.setdefault(group, []).append(ranks)
    spread = [ranks for turn in zip_longest(*dealt.values()) for ranks in turn if ranks is not None]
    whole = tuple(range(len(places)))
    steps = sorted(
        product(enumerate(node_shares(most)), enumerate(_halving(node_counts(len(hosts))))),
        key=lambda step: step[0][0] + step[1][0],
    )
    found = [
        tuple(sorted(rank for host in order[:count] for rank in host[:share]))
        for (_, share), (_, count) in steps
        for order in (near, spread)
    ]
    return [ranks for ranks in dict.fromkeys(found) if ranks != whole]


def family_in_time(
    native_s: Mapping[tuple[str, int], float],
    effort: Effort,
    budget_s: float | None,
    recipes: int,
    agreement_s: float,
) -> tuple[dict[str, set[int]], int]:
    """At which sizes in bytes communicators of other shapes are tuned, and how many of them: `LEAST_FAMILY`
    at least, at as many sizes as there is time for, or none. Large messages go first: what is not tuned is
    tried in a program's own calls.

    Args:
        native_s: what a call of the library's own took on all ranks, of each collective and size.
        effort: how much is measured.
        budget_s: of the whole tuning; None: whatever it takes.
        recipes: that are raced at each size, the library's own too.
        agreement_s: what a small allreduce of all ranks takes.
    """
    kept = dict.fromkeys(native_s, 0.0)
    room = effort.family
    if budget_s is not None:
        calls = recipes * (len(effort.looks) + sum(effort.looks))
        calls += 2 * 2 * effort.launches * (1 + effort.least_verify)
        time_s = (part_of(budget_s, "family") or 0) + (part_of(budget_s, "verify") or 0) / 2
        # Each look at a race, and each launch, makes them anew.
        setup_s = (len(effort.looks) + effort.launches) * SETUP * agreement_s
        kept = {}
        for (name, size), once_s in sorted(native_s.items(), key=lambda item: item[1]):
            is_new = all(name != other for other, _ in kept)
            own_s = calls * once_s + (setup_s if is_new else 0.0)
            if sum(kept.values()) + own_s <= time_s / LEAST_FAMILY:
                kept[name, size] = own_s
        room = min(room, int(time_s / sum(kept.values()))) if kept else 0
    sizes: dict[str, set[int]] = {}
    for name, size in kept:
        sizes.setdefault(name, set()).add(size)
    return sizes, room
