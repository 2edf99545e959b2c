# SPDX-License-Identifier: BSD-3-Clause
"""Order: broadcast trees laid over the network, beside the same trees in the order of the ranks.

The experiments of H. Subramoni et al., "Design and Evaluation of Network Topology-/Speed-Aware Broadcast
Algorithms for InfiniBand Clusters" (CLUSTER 2011): by hops on hosts of one kind (figure 6), by speed where
some cables are slow (figures 7 and 8), and what it takes to set the order up (table III).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from isochrone.errors import UsageError
from isochrone.files import BCAST
from isochrone.sim.target import SimTarget
from isochrone.statistics import Interval, geometric_mean
from isochrone.studies.figures import Panel, Series, ratio_by, time_by
from isochrone.studies.laid import (
    ALL_ALIKE,
    BY_RANK,
    TREES,
    Gains,
    Key,
    Times,
    gains_of,
    medians,
    order_words,
    seconds,
    times_of,
)
from isochrone.studies.places import ALIKE, GIVEN, NODE, SCATTERED, Arrangement, Machine
from isochrone.studies.recipes import MOST_SEGMENTS, case, most_ranks
from isochrone.studies.setup import setup
from isochrone.studies.slow_cables import slow_cables
from isochrone.studies.speeds import differ
from isochrone.studies.study import (
    AS_FAST,
    EACH_ALONE,
    SPEEDS,
    Asked,
    Figure,
    Findings,
    Part,
    Study,
    Table,
    Timed,
    Wanted,
    size_words,
    with_interval,
)
from isochrone.tune.forms import MAPPED, nameable_levels
from isochrone.units import format_ratio
from isochrone.words import join_words

SIZES_BYTES = (64, 1024, 8192, 65536, 262144, 1048576)
"""The experiment's small, medium and large messages."""
_COUNTS = 3
_LEAST_RANKS = 4
_DRAWS = 3
"""Random orders of the nodes, in a simulation."""


def wanted(machine: Machine, asked: Asked) -> list[Wanted]:
    """All trees in all orders, among nodes in random order where ranks can be put anywhere."""
    by_speed = _by_speed(machine)
    if by_speed and asked.fabric is not None:
        what = "is not asked in a simulation whose cables differ, which serves their speeds itself"
        raise UsageError(what, "--fabric", "leave it away")
    fabric = SPEEDS if by_speed else asked.fabric
    draws = _DRAWS if machine.target.simulated else 1
    sizes = asked.sizes_bytes or SIZES_BYTES
    found = []
    for count in asked.ranks or counts_for(machine):
        seen = set()
        for draw in range(1, draws + 1):
            here = Arrangement(f"{SCATTERED}-{draw}" if machine.seats else GIVEN, count)
            if (ranks := machine.ranks_of(here)) in seen:
                continue
            seen.add(ranks)
            plain, laid = _recipes(machine, here, fabric is not None)
            cases = tuple(case(machine, here, BCAST, size, [*plain, *laid]) for size in sizes)
            found.append(Wanted(here, cases, fabric))
            if by_speed:
                alike = Arrangement(f"{ALIKE}-{draw}", count)
                found.append(Wanted(alike, tuple(case(machine, alike, BCAST, size, plain) for size in sizes)))
    return found


def counts_for(machine: Machine) -> tuple[int, ...]:
    """The last powers of two, and as many as there are."""
    most = most_ranks(machine)
    if not machine.seats:
        return (most,)
    powers = {1 << bits for bits in range(31) if _LEAST_RANKS <= 1 << bits <= most}
    return tuple(sorted(powers | {most})[-_COUNTS:])


def _by_speed(machine: Machine) -> bool:
    return isinstance(machine.target, SimTarget) and differ(machine.target.system)


def _recipes(machine: Machine, here: Arrangement, is_told: bool) -> tuple[list[str], list[str]]:
    """The trees by rank, and laid: among one leader of each node, as in the experiment, where something tells
    how close nodes are; else among all ranks.
    """
    levels = nameable_levels(BCAST, machine.layout_of(here))
    names = [name for name, _ in machine.levels]
    among_leaders = NODE in levels[1:] and (is_told or names.index(NODE) > 0)

    def recipe(tree: str) -> str:
        return f"hierarchical({levels[0]}={tree},{NODE}=binomial)" if among_leaders else tree

    plain = [recipe(tree) for tree in TREES]
    return plain, [recipe(f"{order}({tree})") for tree in TREES for order in MAPPED]


def findings(machine: Machine, timed: Sequence[Timed]) -> Findings:
    """What laying gains by size and by ranks, and how far it makes up for slow cables."""
    times = times_of(timed)
    most = max(key.ranks for key in times)
    largest = max(key.size_bytes for key in times)
    by_speed = any(key.order == ALL_ALIKE for key in times)
    way = "speed" if by_speed else "hops"
    gains = gains_of(times)
    sure = [key for key, gain in gains.items() if gain.low > AS_FAST]
    mean = geometric_mean([gain.estimate for gain in gains.values()])
    headline = f"Laid by {way} no tree is surely faster than in {BY_RANK}"
    if sure:
        top = max(sure, key=lambda key: gains[key].estimate)
        headline = (
            f"Laid by {way} a tree is up to {format_ratio(gains[top].estimate)} as fast as in {BY_RANK}: "
            f"{top.tree}, {order_words(top.order)}, at {top.ranks:,} ranks and {size_words(top.size_bytes)}"
        )
    lead = [f"In the geometric mean of all trees, orders, ranks and sizes it is {format_ratio(mean)}."]
    lead += _best_sentence(times, most)
    parts = [_by_size(times, gains, most, way), _by_ranks(gains, largest, way)]
    if by_speed:
        parts.append(slow_cables(times))
    return Findings(headline, tuple(lead), tuple(parts), _own_limits(machine, timed, by_speed))


def _own_limits(machine: Machine, timed: Sequence[Timed], by_speed: bool) -> tuple[str, ...]:
    draws = {each.arrangement.placement for each in timed}
    found = ["Times and ratios are medians of the random orders of the nodes, bands the least and the most."]
    if len(draws) == 1:
        found = ["Times are medians of calls; bands are their 95 % intervals, and those of ratios."]
        found.append(EACH_ALONE)
    if not machine.seats:
        found.append("The launcher puts ranks where it does: nodes that are in a good order gain nothing.")
    leaders = any("hierarchical" in each.recipe for each in timed)
    among = "one leader of each node, and by a binomial tree inside" if leaders else "all ranks"
    found.append(f"Trees are laid among {among}. The root is the first rank.")
    if not by_speed:
        found.append(
            "Hops are those that the levels tell: nodes of one switch or rack are closer than others."
        )
    if machine.target.simulated:
        found.append(f"Simulated messages are cut into {MOST_SEGMENTS} segments at most.")
    return tuple(found)


def _best_sentence(times: Times, most: int) -> list[str]:
    """Of whoever may choose among the trees at each size."""
    ratios = []
    for size in sorted({key.size_bytes for key in times if key.ranks == most}):
        by_rank = np.min([medians(times[Key(tree, BY_RANK, most, size)]) for tree in TREES], axis=0)
        every = [medians(times[Key(tree, order, most, size)]) for tree in TREES for order in MAPPED]
        laid = np.min(every, axis=0)
        ratios.append((float(np.median(by_rank / laid)), size))
    gain, size = max(ratios)
    return [
        f"At {most:,} ranks the best of all laid trees is up to {format_ratio(gain)} as fast as the best in "
        f"{BY_RANK}, at {size_words(size)}."
    ]


def _by_size(times: Times, gains: Gains, most: int, way: str) -> Part:
    sizes = sorted({key.size_bytes for key in times if key.ranks == most})
    orders = [
        order for order in (BY_RANK, *MAPPED, ALL_ALIKE) if Key(TREES[0], order, most, sizes[0]) in times
    ]
    panels = [
        Panel(
            tree,
            tuple(
                Series(
                    order_words(order),
                    tuple((size, seconds(times[Key(tree, order, most, size)])) for size in sizes),
                    order == BY_RANK,
                )
                for order in orders
            ),
        )
        for tree in TREES
    ]
    figures = (
        Figure(
            "times",
            f"Broadcast among {most:,} ranks by message size, a panel for each tree: in {BY_RANK}, and laid "
            f"by {way}. What the bands are is told under limits.",
            f"Time of a broadcast by size for {len(TREES)} trees in {len(orders)} orders.",
            time_by(panels, "message size", True),
        ),
        Figure(
            "gain-sizes",
            f"How many times as fast as in {BY_RANK} the laid trees are, by message size at {most:,} ranks.",
            f"Speedup of laid trees by size for {len(TREES)} trees.",
            ratio_by(_gain_panels(gains, ranks=most), "message size", True, "speedup"),
        ),
    )
    rows = [
        (tree, order_words(order), *(with_interval(gains[Key(tree, order, most, size)]) for size in sizes))
        for tree in TREES
        for order in MAPPED
    ]
    table = Table(
        "gain-sizes",
        f"Time in {BY_RANK} over time laid at {most:,} ranks, by message size, and its band",
        ("Tree", "Order", *(size_words(size) for size in sizes)),
        tuple(rows),
        frozenset({0, 1}),
    )
    faster = sum(gain.estimate > 1.01 for key, gain in gains.items() if key.ranks == most)
    slower = sum(gain.estimate < 0.99 for key, gain in gains.items() if key.ranks == most)
    total = sum(key.ranks == most for key in gains)
    sentence = (
        f"At {most:,} ranks laying makes {faster} of {total} cases faster by more than 1 %, and {slower} "
        "slower."
    )
    return Part("sizes", f"Laid by {way}, by message size", (sentence,), figures, (table,))


def _gain_panels(gains: Gains, ranks: int | None = None, size: int | None = None) -> list[Panel]:
    """By size at one number of ranks, or by ranks at one size."""
    panels = []
    for tree in TREES:
        lines: dict[str, list[tuple[int, Interval]]] = defaultdict(list)
        for (its, order, its_ranks, its_size), gain in sorted(gains.items(), key=lambda item: item[0][2:]):
            if its == tree and (its_ranks == ranks or its_size == size):
                lines[order].append((its_size if size is None else its_ranks, gain))
        series = tuple(Series(order_words(order), tuple(lines[order])) for order in MAPPED)
        panels.append(Panel(tree, series))
    return panels


def _by_ranks(gains: Gains, largest: int, way: str) -> Part:
    counts = sorted({key.ranks for key in gains})
    figure = Figure(
        "gain-ranks",
        f"How many times as fast as in {BY_RANK} the laid trees are, by number of ranks at "
        f"{size_words(largest)}.",
        f"Speedup of laid trees at {len(counts)} numbers of ranks.",
        ratio_by(_gain_panels(gains, size=largest), "ranks", False, "speedup"),
    )
    rows = [
        (
            tree,
            order_words(order),
            *(with_interval(gains[Key(tree, order, ranks, largest)]) for ranks in counts),
        )
        for tree in TREES
        for order in MAPPED
    ]
    table = Table(
        "gain-ranks",
        f"Time in {BY_RANK} over time laid at {size_words(largest)}, by number of ranks",
        ("Tree", "Order", *(f"{ranks:,} ranks" for ranks in counts)),
        tuple(rows),
        frozenset({0, 1}),
    )
    means = {
        ranks: geometric_mean([gain.estimate for key, gain in gains.items() if key.ranks == ranks])
        for ranks in counts
    }
    said = join_words([f"{format_ratio(mean)} at {ranks:,} ranks" for ranks, mean in means.items()])
    sentence = f"The geometric mean over trees, orders and sizes is {said}."
    return Part("ranks", f"Laid by {way}, by ranks", (sentence,), (figure,), (table,))


STUDY = Study(
    "order",
    "Broadcast trees laid over the network",
    "What does a broadcast gain where its tree is laid over the nodes by how close they are, in hops or by "
    "the speed of their cables, instead of in the order of the ranks; and what does it take to set that up?",
    "H. Subramoni et al., Design and Evaluation of Network Topology-/Speed-Aware Broadcast Algorithms for "
    "InfiniBand Clusters (CLUSTER 2011), figures 6 to 8 and table III",
    20,
    wanted,
    findings,
    beside=setup,
    by_fabric=True,
)
