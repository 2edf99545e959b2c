# SPDX-License-Identifier: BSD-3-Clause
"""Finds the groups in a group of ranks with few pairs: adaptive hierarchical clustering.

A few ranks, the pivots, are measured with all others of the group. The steps in a pivot's distances are the
borders of the groups around it, from the innermost outwards. What is between two borders is explored by
itself; what is beyond the last one goes on with other pivots. A group in which some pivots in a row see no
step has none.

Where message times scatter as far as they step, more is measured: pairs within and across a border that may
be one, and pairs of a rank that may be on either side.

Of n ranks in k groups this takes about n k / 2 pairs to tell the groups apart, and within a group that has
no groups it grows with n. No method can do with fewer than in proportion to n k (Davidson, Khanna, Milo and
Roy, "Top-k and Clustering with Noisy Comparisons", TODS 2014).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import numpy as np

from isochrone.adaptive.distance_steps import Step, distance_steps
from isochrone.adaptive.table import Pair, Table
from isochrone.adaptive.tasks import Asking, Tasks
from isochrone.detect.evidence import ENOUGH, EVIDENCE

Parts = Generator[Sequence[Pair], None, list[list[int]]]


def split_by_pivots(table: Table, tasks: Tasks, group: Sequence[int], random: np.random.Generator) -> Asking:
    """Asks for the pairs that tell the groups within a group.

    Args:
        table: of what was measured.
        tasks: where the groups that are found are explored in turn.
        group: ranks.
        random: chooses pivots.
    """
    rest = [group[k] for k in random.permutation(len(group))]
    # Ranks that were measured with all others already are pivots that cost nothing.
    known = [int(np.count_nonzero(table.with_rank(rank)[rest])) for rank in rest]
    rest = [rest[k] for k in np.argsort(-np.array(known), kind="stable")]
    flat = 0
    while len(rest) > 1:
        pivots = rest[: max(1, round(math.log2(len(rest)) / 2))]
        yield [(pivot, other) for pivot in pivots for other in rest]
        for pivot in pivots:
            if pivot not in rest or len(rest) < 2:
                continue
            others = [rank for rank in rest if rank != pivot]
            parts = yield from _parts(table, pivot, others, random)
            if len(parts) == 1:
                rest = others
                flat += 1
            else:
                for number, part in enumerate(parts[:-1]):
                    inner = [pivot, *part] if number == 0 else part
                    if len(inner) > 1 + (number == 0):
                        tasks.add(split_by_pivots(table, tasks, inner, random))
                rest = parts[-1]
                flat = 0
            # Of a level that sets half of the ranks apart each of these would have seen a step.
            if flat >= ENOUGH:
                return


def _parts(table: Table, pivot: int, others: Sequence[int], random: np.random.Generator) -> Parts:
    """The other ranks by their distance from the pivot, nearest first, parted at the steps."""
    values = table.log_s(pivot, others)
    order = np.argsort(values, kind="stable")
    ranks = [others[k] for k in order]
    kept = []
    for step in distance_steps(values[order], table.noise):
        # A few messages that were held up look like ranks that are far away.
        if (yield from _confirmed(table, step, ranks, random)):
            kept.append(step)
    parts = []
    start = 0
    for step in kept:
        near, far = yield from _decided(table, pivot, step, ranks[start:], step.at - start)
        parts.append(near)
        ranks[start:] = [*near, *far]
        start += len(near)
    # By number: the order of equal distances hangs on their last digits.
    return [sorted(part) for part in [*parts, ranks[start:]]]


def _confirmed(
    table: Table, step: Step, ranks: Sequence[int], random: np.random.Generator
) -> Generator[Sequence[Pair], None, bool]:
    """Whether other pairs show the step too.

    Args:
        ranks: by their distance from a pivot.
    """
    near, far = sorted(ranks[: step.at]), sorted(ranks[step.at :])
    if len(near) < 2:
        # There are no other pairs; a single near rank was asked for more than chance already.
        return True
    within = [
        (near[a], near[b])
        for a, b in random.permutation(np.stack(np.triu_indices(len(near), 1), axis=1))[:ENOUGH].tolist()
    ]
    across = list(zip(random.choice(near, ENOUGH).tolist(), random.choice(far, ENOUGH).tolist(), strict=True))
    yield [*within, *across]
    return _median(table, across) - _median(table, within) >= (step.far - step.near) / 2


def _median(table: Table, pairs: Sequence[Pair]) -> float:
    return float(np.median([table.log_s(one, [other]) for one, other in pairs]))


def _decided(
    table: Table, pivot: int, step: Step, ranks: Sequence[int], at: int
) -> Generator[Sequence[Pair], None, tuple[list[int], list[int]]]:
    """The ranks on both sides of a step, those that may be on either side after more measuring.

    Args:
        ranks: by their distance from the pivot; `at` of them are on the near side.
    """
    evidence = {
        rank: step.evidence(value)
        for rank, value in zip(ranks, table.log_s(pivot, ranks).tolist(), strict=True)
    }
    core = sorted(rank for rank in ranks[:at] if evidence[rank] <= -EVIDENCE)
    for partner in core[:ENOUGH]:
        doubtful = [rank for rank in ranks if abs(evidence[rank]) < EVIDENCE]
        if not doubtful:
            break
        yield [(rank, partner) for rank in doubtful]
        for rank, value in zip(doubtful, table.log_s(partner, doubtful).tolist(), strict=True):
            evidence[rank] += step.evidence(value)
    near = [rank for rank in ranks if evidence[rank] < 0]
    return near, [rank for rank in ranks if evidence[rank] >= 0]
