# SPDX-License-Identifier: BSD-3-Clause
"""What came out, as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from isochrone.evaluate.classes import ClassScore
from isochrone.evaluate.run import OURS, Outcome

COLUMNS = {
    "machine": ("switch", "machine"),
    "node": ("node",),
    "socket": ("socket",),
    "inner": ("numa", "l3"),
}
"""Levels by what the thesis calls them: islands of nodes are its machines."""


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """For each noise and number of repetitions a table with a row for each method: the mean and the least
    accuracy at each level over all clusters and placements that have it.
    """
    lines: list[str] = []
    for noise, repetitions in dict.fromkeys((str(each.case.noise), each.repetitions) for each in outcomes):
        here = [e for e in outcomes if (str(e.case.noise), e.repetitions) == (noise, repetitions)]
        clusters = len({e.case.name for e in here})
        lines.append(f"Noise: {noise}; {repetitions} round trips; {clusters} clusters and placements")
        heads = "".join(f"{name:>16}" for name in COLUMNS)
        lines.append(f"  {'mean, least accuracy':<24}{heads}{'levels right':>14}{'best setting':>14}")
        for method in dict.fromkeys(e.method for e in here):
            lines.append(_row(method, [e for e in here if e.method == method]))
        lines.append("")
    lines.append(
        "told: was given the true number of groups of each level. best setting: mean accuracy if the truth"
    )
    lines.append("had chosen among the settings of the search; the other columns had to choose without it.")
    return lines


def class_table(found: Sequence[ClassScore]) -> list[str]:
    """A row for each class of made machines with what Isochrone's detection makes of it, then one for each
    method with what it makes of all.
    """
    lines = [f"{'Made machines':<24}{'machines':>10}{'exact':>8}{'levels':>8}{'missed':>8}{'made up':>9}"]
    lines += [_class_row(each.kind, [each]) for each in found if each.method == OURS]
    lines.append("All classes, by method")
    for method in dict.fromkeys(each.method for each in found):
        lines.append(_class_row(method, [each for each in found if each.method == method]))
    return lines


def _class_row(name: str, of: Sequence[ClassScore]) -> str:
    machines, exact, levels, missed, made_up = (
        sum(getattr(each, field) for each in of)
        for field in ("machines", "exact", "levels", "missed", "made_up")
    )
    told = " (told)" if of[0].told else ""
    return f"  {name + told:<30}{machines:>2}{exact:>8}{levels:>8}{missed:>8}{made_up:>9}"


def _row(method: str, outcomes: Sequence[Outcome]) -> str:
    cells = []
    for levels in COLUMNS.values():
        found = accuracies(outcomes, levels)
        cells.append(f"{np.mean(found):>9.3f} {min(found):>6.3f}" if found else f"{'-':>16}")
    told = outcomes[0].told
    right = "told" if told else f"{sum(o.levels == o.levels_known for o in outcomes)}/{len(outcomes)}"
    best = np.mean([share for outcome in outcomes for share in outcome.searched.values()])
    return f"  {method:<24}{''.join(cells)}{right:>14}{best:>14.3f}"


def accuracies(outcomes: Iterable[Outcome], levels: Collection[str]) -> list[float]:
    """Of all outcomes, at those of the levels that separate something."""
    return [
        score.accuracy
        for outcome in outcomes
        for score in outcome.scores
        if score.level in levels and score.groups > 1
    ]
