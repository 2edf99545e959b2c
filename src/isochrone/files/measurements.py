# SPDX-License-Identifier: BSD-3-Clause
"""What the probe measured: round trips of pairs, parameters of some, and what several got together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isochrone.errors import IsochroneError
from isochrone.files.parameters import PairParameters
from isochrone.files.place import MpiLibrary, Place
from isochrone.files.stream import Stream
from isochrone.files.text import Json

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Pair = tuple[int, int]

VALUES = ("rtt_min_s", "rtt_median_s", "send_overhead_s")
"""The arrays of times, in the order in which files have them."""

MOST_SQUARE = 4096
"""Ranks that there may be where all pairs are wanted as a matrix: 128 MB."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Round trips between pairs of ranks: of all pairs, or of some. Memory grows with the pairs.

    Attributes:
        sizes_bytes: message sizes, in the order of the last axis of the arrays.
        repetitions: round trips per pair and size; the most, where `counts` has fewer.
        seed: of the order in which the pairs were measured.
        places: of each rank.
        resolution_s, overhead_s: of the probe's clock.
        first, second: [pair], the two ranks of each pair that was measured, ``first < second``, ascending by
            the first, then by the second; no pair is there twice.
        rtt_min_s, rtt_median_s, send_overhead_s: [pair, size] in seconds; NaN for sizes that would have taken
            too long, the same in all three; never those for the smallest size.
        elapsed_s: time that the probe took, all its runs together.
        ended: whether the probe measured all that it was to measure.
        plogp: how the parameters were measured; None if they were not.
        parameters: all PLogP parameters, for pairs and directions that have them, by sender and receiver.
        streams: messages of several pairs at once.
        alone: of some pairs that were measured again while no other was, the least round trips and the
            medians, [2, size] in seconds; NaN for sizes that would have taken too long.
        counts: [pair, size], round trips of each, 0 where there are none; None if all have as many as
            `repetitions`.
    """

    sizes_bytes: tuple[int, ...]
    repetitions: int
    seed: int
    places: tuple[Place, ...]
    mpi: MpiLibrary
    resolution_s: float
    overhead_s: float
    simulated: bool
    first: Ints
    second: Ints
    rtt_min_s: Array
    rtt_median_s: Array
    send_overhead_s: Array
    elapsed_s: float = 0.0
    ended: bool = True
    provenance: Json = field(default_factory=dict)
    plogp: Json | None = None
    parameters: Mapping[tuple[int, int], PairParameters] = field(default_factory=dict)
    streams: Sequence[Stream] = ()
    alone: Mapping[tuple[int, int], Array] = field(default_factory=dict)
    counts: Counts | None = None

    @property
    def smallest(self) -> int:
        """Where the arrays have the smallest size, on their last axis."""
        return self.sizes_bytes.index(min(self.sizes_bytes))

    @property
    def least_s(self) -> float:
        """The least time that is told from none: a clock may be too coarse to see a message at all."""
        return max(self.resolution_s / 2, 1e-12)

    @property
    def usual_repetitions(self) -> int:
        """Round trips of the smallest size that half of the pairs have at least."""
        if self.counts is None:
            return self.repetitions
        counts = self.counts[:, self.smallest]
        return int(np.median(counts[counts > 0])) if counts.any() else self.repetitions

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.places)

    @property
    def pairs_measured(self) -> int:
        """Number of pairs that have been measured."""
        return len(self.first)

    @property
    def pairs_total(self) -> int:
        """Number of pairs that there are."""
        return self.ranks * (self.ranks - 1) // 2

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that have been measured, in their order."""
        return list(zip(self.first.tolist(), self.second.tolist(), strict=True))

    @property
    def in_pairs(self) -> npt.NDArray[np.bool_]:
        """[rank], which ranks are in a pair that has been measured."""
        found = np.zeros(self.ranks, dtype=bool)
        found[self.first] = found[self.second] = True
        return found

    def find(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Ints:
        """[pair], where the arrays have some pairs, whichever rank is named first; -1 where they have not."""
        cell = _cells(first, second, self.ranks)
        at = np.searchsorted(self._cells, cell)
        found: Ints = np.where(np.append(self._cells, -1)[at] == cell, at, -1)
        return found

    def rows(self, values: Array, first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
        """[pair, size] of some pairs, from one of the arrays; NaN for those that were not measured."""
        return np.append(values, np.full((1, values.shape[1]), np.nan), axis=0)[self.find(first, second)]

    def square(self, values: Array) -> Array:
        """[rank, rank], symmetric, from one value for each pair; NaN for pairs that were not measured, and on
        the diagonal.

        Raises IsochroneError where there are too many ranks for that.
        """
        if self.ranks > MOST_SQUARE:
            raise IsochroneError(
                f"{self.ranks:,} ranks are too many for a matrix of all pairs, {MOST_SQUARE:,} at most"
            )
        found = np.full((self.ranks, self.ranks), np.nan)
        found[self.first, self.second] = found[self.second, self.first] = values
        return found

    def repetitions_of(self, pairs: Ints) -> Counts:
        """[pair, size], round trips of some pairs, which are given by where the arrays have them."""
        if self.counts is None:
            return np.full((len(pairs), len(self.sizes_bytes)), self.repetitions, dtype=np.int32)
        return self.counts[pairs]

    def only(self, ranks: Sequence[int]) -> Measurements:
        """What was measured among some of the ranks, which are numbered anew in their order."""
        of_rank = np.full(self.ranks, -1)
        of_rank[list(ranks)] = np.arange(len(ranks))
        first, second = of_rank[self.first], of_rank[self.second]
        number = of_rank.tolist()
        within = np.flatnonzero((first >= 0) & (second >= 0))
        chosen = within[last_of_each(first[within], second[within], len(ranks))]
        first, second = first[chosen], second[chosen]
        return replace(
            self._chosen(chosen),
            places=tuple(self.places[rank] for rank in ranks),
            first=np.minimum(first, second),
            second=np.maximum(first, second),
            parameters={
                (number[a], number[b]): replace(each, sender=number[a], receiver=number[b])
                for (a, b), each in self.parameters.items()
                if number[a] >= 0 and number[b] >= 0
            },
            streams=(),
            alone={
                (min(number[a], number[b]), max(number[a], number[b])): times_s
                for (a, b), times_s in self.alone.items()
                if number[a] >= 0 and number[b] >= 0
            },
        )

    def only_pairs(self, pairs: Sequence[Pair]) -> Measurements:
        """As if the probe had ended with some of the pairs; those that were not measured are passed over."""
        at = np.unique(self.find(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T))
        kept = self._chosen(at[at >= 0])
        known = set(kept.pairs)
        return replace(
            kept,
            parameters={
                (a, b): each for (a, b), each in self.parameters.items() if (min(a, b), max(a, b)) in known
            },
            streams=(),
            alone={},
            ended=True,
        )

    def only_sizes(self, chosen: slice) -> Measurements:
        """As if only some of the message sizes had been measured, and no parameters."""
        kept = self._chosen(np.flatnonzero(~np.isnan(self.rtt_min_s[:, chosen][:, 0])))
        return replace(
            kept,
            sizes_bytes=self.sizes_bytes[chosen],
            **kept._arrays(lambda array: array[:, chosen]),
            parameters={},
            alone={pair: times_s[:, chosen] for pair, times_s in self.alone.items()},
        )

    @property
    def complete(self) -> bool:
        """Whether every pair has been measured."""
        return self.pairs_measured == self.pairs_total

    def check_ended(self) -> None:
        """Raises IsochroneError where the probe did not come to its end."""
        if not (self.complete or self.ended):
            raise IsochroneError(
                f"{self.pairs_total - self.pairs_measured} of {self.pairs_total} pairs are missing from the "
                "measurements",
                todo="run the same probe again: it measures what is missing",
            )

    @property
    def oversubscribed(self) -> bool:
        """Whether ranks had to share CPUs, as far as the probe could tell."""
        return bool(self.provenance.get("oversubscribed"))

    @property
    def at_once(self) -> bool:
        """Whether pairs may have been measured at once: whether there are two that have no group of ranks in
        common which the probe lets take turns. Where its command line is not known, any two pairs may.
        """
        told = self.provenance.get("command")
        command = [str(word) for word in told] if isinstance(told, list) else []
        together = "all"
        if command and Path(command[0]).name == "isochrone-probe":
            together = _option(command, "--together") or (
                "all" if _option(command, "--clusters") else "nodes"
            )
        groups: list[Any] = list(range(self.ranks))
        if together == "none":
            groups = [0] * self.ranks
        elif together == "nodes":
            groups = [place.host for place in self.places]
        sizes = Counter(groups).values()
        several = sum(size > 1 for size in sizes)
        return several + (len(sizes) - several) // 2 > 1

    @cached_property
    def _cells(self) -> Ints:
        return _cells(self.first, self.second, self.ranks)

    def _chosen(self, pairs: Ints) -> Measurements:
        """With some pairs only, which are given by where the arrays have them."""
        arrays = self._arrays(lambda array: array[pairs])
        return replace(self, first=self.first[pairs], second=self.second[pairs], **arrays)

    def _arrays(self, of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> dict[str, Any]:
        """What `of` makes of each of the arrays that have sizes, by their names."""
        arrays = {name: of(getattr(self, name)) for name in VALUES}
        return arrays if self.counts is None else {**arrays, "counts": of(self.counts)}


def last_of_each(first: Ints, second: Ints, ranks: int) -> Ints:
    """Where some pairs have the last of each, whichever rank is named first, in the order in which
    `Measurements` have them.
    """
    _, at = np.unique(_cells(first, second, ranks)[::-1], return_index=True)
    last: Ints = len(first) - 1 - at
    return last


def _option(command: Sequence[str], option: str) -> str | None:
    """What a command line gives an option, the last time that it is there; None where it is not."""
    given = None
    for word, following in zip(command, [*command[1:], ""], strict=True):
        if word == option:
            given = following
        elif word.startswith(f"{option}="):
            given = word.partition("=")[2]
    return given


def _cells(first: npt.ArrayLike, second: npt.ArrayLike, ranks: int) -> Ints:
    """[pair], a number for each two ranks, which rises in the order of the pairs."""
    low: Ints = np.minimum(first, second).astype(np.int64)
    high: Ints = np.maximum(first, second)
    return low * ranks + high
