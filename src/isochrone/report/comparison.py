# SPDX-License-Identifier: BSD-3-Clause
"""The plan against the library's own and against the library at its best, by size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isochrone.files import NATIVE, PLAN_RECIPE, TOLD, Bench, BenchKey, LibraryRule
from isochrone.files.library import DEFAULT
from isochrone.statistics import FloatArray, Interval, geometric_mean, median_ci, ratio_ci
from isochrone.tune.collectives import has_blocks, in_order, words
from isochrone.tune.lookup import rule_of

LARGE_BYTES = 256 * 1024

Samples = Mapping[BenchKey, FloatArray]
"""(size in bytes, root, recipe, collective) -> the slowest rank's time of each repetition, in seconds."""
ToldRules = Mapping[str, Sequence[LibraryRule]]
"""Of each collective what the library was told while its own was timed."""


@dataclass(frozen=True)
class Rival:
    """The library at its best at one size, and how much faster the plan is than it.

    `algorithm` is the one that it was told to use, or ``native``: left to itself it chooses as well.
    """

    algorithm: str
    time_s: Interval
    speedup: Interval | None

    @property
    def name(self) -> str:
        """For people."""
        return "its own choice" if self.algorithm == NATIVE else self.algorithm


@dataclass(frozen=True)
class SizeComparison:
    """One message size: times in seconds, speedups above 1 where the plan is faster; None where not
    measured. `rival` is None where the library was not told to use anything. `own_gain` is how much faster
    than by its own choice the library was with what it was told when its own was timed, as library.json has
    it; None where it was told nothing.
    """

    size_bytes: int
    native_s: Interval
    plan_s: Interval | None
    speedup: Interval | None
    rival: Rival | None
    own_gain: float | None = None


def is_proven_faster(speedup: Interval) -> bool:
    """Whether the interval lies above 1, and the speedup is one by more than the last digit that is shown:
    without noise any difference is proven.
    """
    return speedup.low > 1.0 and round(speedup.estimate, 2) > 1.0


@dataclass(frozen=True)
class Comparison:
    """One collective at all sizes, smallest first. `repetitions` of the library's own are the fewest and the
    most of a size and root. `is_told`: its own was timed with the best that the library can be told.
    """

    collective: str
    sizes: tuple[SizeComparison, ...]
    roots: tuple[int, ...]
    repetitions: tuple[int, int]
    rivals: tuple[str, ...]
    is_told: bool = False

    @property
    def words(self) -> str:
        """What a sentence calls the collective."""
        return words(self.collective)

    @property
    def sized_by(self) -> str:
        """What its sizes are of."""
        return "block" if has_blocks(self.collective) else "message"

    @property
    def stem(self) -> str:
        """What its figures are called: letters, digits and hyphens."""
        return stem_of(self.words)

    @property
    def sized(self) -> tuple[SizeComparison, ...]:
        """What has a place on a logarithmic axis of sizes."""
        return tuple(row for row in self.sizes if row.size_bytes > 0)

    @property
    def compared(self) -> tuple[tuple[int, Interval], ...]:
        """(size, speedup) of the sizes at which both the library's own and the plan were measured."""
        return tuple((row.size_bytes, row.speedup) for row in self.sizes if row.speedup is not None)

    @property
    def geomean_speedup(self) -> float | None:
        """Geometric mean of the speedups over all sizes; None if none was compared."""
        return _geomean([speedup.estimate for _, speedup in self.compared])

    @property
    def geomean_speedup_large(self) -> float | None:
        """The same over the sizes from 256 KiB up."""
        return _geomean([speedup.estimate for size, speedup in self.compared if size >= LARGE_BYTES])

    @property
    def min_speedup(self) -> float | None:
        """The least speedup of all sizes."""
        return min((speedup.estimate for _, speedup in self.compared), default=None)

    @property
    def faster_from(self) -> tuple[int, float] | None:
        """The least size from which on every size is proven faster, and the geometric mean of the speedups
        there; None if there is none.
        """
        proven: list[tuple[int, Interval]] = []
        for size, speedup in reversed(self.compared):
            if not is_proven_faster(speedup):
                break
            proven.append((size, speedup))
        return (proven[-1][0], geometric_mean([s.estimate for _, s in proven])) if proven else None


def stem_of(words_of_collective: str) -> str:
    """What the figures of a collective are called."""
    return "-".join(re.findall("[a-z0-9]+", words_of_collective))


def compare(
    samples: Samples, collective: str, told: Sequence[LibraryRule] | None = None
) -> Comparison | None:
    """Compares one collective of all ranks by size. Roots of one size are taken together, each repetition
    paired with the one of its own root.

    The rival of a size is what has the least median of the library's own choice and all that it was told,
    chosen with the samples that it is then judged by: this favours the rival. What it was told is one only
    where it was timed with all roots, as its own choice was. None when `samples` holds no run of the
    library's own.

    Args:
        told: what the library was told while its own was timed, so that its own is its best; None: it was
            left to itself.
    """
    samples = {
        key: times for key, times in samples.items() if key.collective == collective and not key.members
    }
    sizes = sorted({key.size_bytes for key in samples if key.recipe == NATIVE})
    if not sizes:
        return None
    rivals = sorted({key.recipe for key in samples if key.recipe.startswith(TOLD)})
    repetitions = [len(times) for key, times in samples.items() if key.recipe == NATIVE]
    return Comparison(
        collective=collective,
        sizes=tuple(
            _compare_size(samples, size, rivals)
            if told is None
            else _with_told(_compare_size(samples, size, []), rule_of(told, collective, size))
            for size in sizes
        ),
        roots=tuple(sorted({key.root for key in samples})),
        repetitions=(min(repetitions), max(repetitions)),
        rivals=tuple(rival.removeprefix(TOLD) for rival in rivals) if told is None else (),
        is_told=told is not None,
    )


def compare_all(bench: Bench, told: ToldRules | None = None) -> tuple[Comparison, ...]:
    """Each collective of a benchmark in which the library's own was measured, in the order of the table."""
    found = (compare(bench.slowest_s, name, (told or {}).get(name)) for name in in_order(bench.collectives))
    return tuple(comparison for comparison in found if comparison is not None)


def _compare_size(samples: Samples, size: int, rivals: list[str]) -> SizeComparison:
    native = _pooled(samples, size, NATIVE)
    plan = _pooled(samples, size, PLAN_RECIPE)
    roots = _roots(samples, size, NATIVE)
    told = {rival: _pooled(samples, size, rival) for rival in rivals if _roots(samples, size, rival) == roots}
    return SizeComparison(
        size_bytes=size,
        native_s=median_ci(native),
        plan_s=median_ci(plan) if len(plan) else None,
        speedup=_speedup(native, plan),
        rival=_best({NATIVE: native, **told}, plan) if told else None,
    )


def _with_told(row: SizeComparison, rule: LibraryRule | None) -> SizeComparison:
    """Its own was the library at its best, where that was looked for."""
    if rule is None:
        return row
    if rule.algorithm != DEFAULT:
        best, gain = rule.algorithm, rule.evidence.speedup
    else:
        # A library that cannot be left to itself is told what is as fast.
        best, gain = rule.equal or NATIVE, None
    return replace(row, rival=Rival(best, row.native_s, row.speedup), own_gain=gain)


def _best(choices: Mapping[str, FloatArray], plan: FloatArray) -> Rival:
    best = min(choices, key=lambda choice: float(np.median(choices[choice])))
    return Rival(best.removeprefix(TOLD), median_ci(choices[best]), _speedup(choices[best], plan))


def _roots(samples: Samples, size: int, recipe: str) -> set[int]:
    return {key.root for key in samples if (key.size_bytes, key.recipe) == (size, recipe)}


def _pooled(samples: Samples, size: int, recipe: str) -> FloatArray:
    parts = [samples[key] for key in sorted(samples) if (key.size_bytes, key.recipe) == (size, recipe)]
    return np.concatenate(parts) if parts else np.empty(0)


def _speedup(slower: FloatArray, faster: FloatArray) -> Interval | None:
    # A group of one rank takes no time at all: there is nothing to compare.
    if not len(slower) or not len(faster) or min(slower.min(), faster.min()) <= 0:
        return None
    return ratio_ci(slower, faster)


def _geomean(ratios: list[float]) -> float | None:
    return geometric_mean(ratios) if ratios else None
