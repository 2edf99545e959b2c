# SPDX-License-Identifier: BSD-3-Clause
"""Finds the groups in a group of ranks with few pairs: adaptive hierarchical clustering.

A few ranks, the pivots, are measured with all others of the group. The steps in a pivot's distances are the
borders of the groups around it, from the innermost outwards. What is between two borders is explored by
itself; what is beyond the last one goes on with other pivots. A group in which some pivots in a row see no
step has none.

Where message times scatter as far as they step, more is measured: pairs within and across a border that may
be one, and pairs of a rank that may be on either side.

Of n ranks in k groups this takes about n k / 2 pairs to tell the groups apart, and within a group that has
no groups n log n. No method can do with fewer than in proportion to n k (Davidson, Khanna, Milo and Roy,
"Top-k and Clustering with Noisy Comparisons", TODS 2014).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import numpy as np

from isochrone.adaptive.shells import Border, borders
from isochrone.adaptive.table import Pair, Table
from isochrone.adaptive.tasks import Asking, Tasks

# Pairs on each side that confirm a border which noise could have made.
_WITNESSES = 8

# Less than this share of the ranks beyond a border may be there by mishap.
_FEW = 0.1

# Logarithm of how much likelier a rank must be on one side of a border than on the other, and how many more
# of its pairs are measured in a row to see that.
EVIDENCE = math.log(1000)
_MORE = 2
_MOST_ROUNDS = 4

# A group without groups is one that so many pivots in a row, times the logarithm of its size, see no step in.
_FLAT = 1.5

Steps = Generator[Sequence[Pair], None, list[list[int]]]


def explore(table: Table, tasks: Tasks, group: Sequence[int], random: np.random.Generator) -> Asking:
    """Asks for the pairs that tell the groups within a group.

    Args:
        table: of what was measured.
        tasks: where the groups that are found are explored in turn.
        group: ranks.
        random: chooses pivots.
    """
    rest = [group[k] for k in random.permutation(len(group))]
    # Ranks that were measured with all others already are pivots that cost nothing.
    missing = np.isnan(table.log_s[np.ix_(rest, rest)]).sum(axis=1)
    rest = [rest[k] for k in np.argsort(missing, kind="stable")]
    flat = 0
    while len(rest) > 1:
        pivots = rest[: max(1, round(math.log2(len(rest)) / 2))]
        yield [(pivot, other) for pivot in pivots for other in rest]
        for pivot in pivots:
            if pivot not in rest or len(rest) < 2:
                continue
            others = [rank for rank in rest if rank != pivot]
            shells = yield from _shells(table, pivot, others, random)
            if len(shells) == 1:
                rest = others
                flat += 1
            else:
                for number, shell in enumerate(shells[:-1]):
                    inner = [pivot, *shell] if number == 0 else shell
                    if len(inner) > 2:
                        tasks.add(explore(table, tasks, inner, random))
                rest = shells[-1]
                flat = 0
            if flat >= _FLAT * math.log2(max(len(rest), 2)):
                return


def _shells(table: Table, pivot: int, others: Sequence[int], random: np.random.Generator) -> Steps:
    """The other ranks by their distance from the pivot, nearest first, where there are steps in between."""
    values = table.log_s[pivot, list(others)]
    order = np.argsort(values, kind="stable")
    ranks = [others[k] for k in order]
    found = borders(values[order], table.noise)
    kept = []
    for border in found:
        # A few messages that were held up look like ranks that are far away.
        few = len(ranks) - border.at <= _FEW * len(ranks)
        if (border.sure and not few) or (yield from _confirmed(table, border, ranks, random)):
            kept.append(border)
    shells = []
    start = 0
    for border in kept:
        near, far = yield from _decided(table, pivot, border, ranks[start:], border.at - start)
        shells.append(near)
        ranks[start:] = [*near, *far]
        start += len(near)
    # By number: the order of equal distances hangs on their last digits.
    return [sorted(shell) for shell in [*shells, ranks[start:]]]


def _confirmed(
    table: Table, border: Border, ranks: Sequence[int], random: np.random.Generator
) -> Generator[Sequence[Pair], None, bool]:
    """Whether other pairs show the border too.

    Args:
        ranks: by their distance from a pivot.
    """
    near, far = sorted(ranks[: border.at]), sorted(ranks[border.at :])
    if len(near) < 2:
        # There are no other pairs; a single near rank was asked for more than chance already.
        return True
    within = [
        (near[a], near[b])
        for a, b in random.permutation(np.stack(np.triu_indices(len(near), 1), axis=1))[:_WITNESSES].tolist()
    ]
    across = list(
        zip(random.choice(near, _WITNESSES).tolist(), random.choice(far, _WITNESSES).tolist(), strict=True)
    )
    yield [*within, *across]
    step = _median(table, across) - _median(table, within)
    return step >= (border.far - border.near) / 2


def _median(table: Table, pairs: Sequence[Pair]) -> float:
    return float(np.median([table.log_s[pair] for pair in pairs]))


def _decided(
    table: Table, pivot: int, border: Border, ranks: Sequence[int], at: int
) -> Generator[Sequence[Pair], None, tuple[list[int], list[int]]]:
    """The ranks on both sides of a border, those that may be on either side after more measuring.

    Args:
        ranks: by their distance from the pivot; `at` of them are on the near side.
    """
    evidence = {rank: border.evidence(float(table.log_s[pivot, rank])) for rank in ranks}
    core = sorted(rank for rank in ranks[:at] if evidence[rank] <= -EVIDENCE)
    doubtful = [rank for rank in ranks if abs(evidence[rank]) < EVIDENCE]
    for turn in range(_MOST_ROUNDS):
        partners = core[turn * _MORE : (turn + 1) * _MORE]
        if not doubtful or not partners:
            break
        yield [(rank, partner) for rank in doubtful for partner in partners]
        for rank in doubtful:
            evidence[rank] += sum(border.evidence(float(table.log_s[rank, other])) for other in partners)
        doubtful = [rank for rank in doubtful if abs(evidence[rank]) < EVIDENCE]
    near = [rank for rank in ranks if evidence[rank] < 0]
    return near, [rank for rank in ranks if evidence[rank] >= 0]
