# SPDX-License-Identifier: BSD-3-Clause
"""What the probe measured: round trips of pairs, parameters of some, and what several got together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from isochrone.files.parameters import PairParameters
from isochrone.files.place import MpiLibrary, Place
from isochrone.files.stream import Stream
from isochrone.files.text import Json

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

VALUES = ("rtt_min_s", "rtt_median_s", "send_overhead_s")
"""The arrays, in the order in which files have them."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Round trips between all pairs of ranks.

    Attributes:
        sizes_bytes: message sizes, in the order of the last axis of the arrays.
        repetitions: round trips per pair and size; the most, where `counts` has fewer.
        seed: of the order in which the pairs were measured.
        places: of each rank.
        resolution_s, overhead_s: of the probe's clock.
        rtt_min_s, rtt_median_s, send_overhead_s: [rank, rank, size] in seconds, symmetric; NaN for a pair
            that is not measured, on the diagonal, and for sizes that would have taken too long; never those
            for the first size.
        elapsed_s: time that the probe took, all its runs together.
        ended: whether the probe measured all that it was to measure.
        plogp: how the parameters were measured; None if they were not.
        parameters: all PLogP parameters, for pairs and directions that have them, by sender and receiver.
        streams: messages of several pairs at once.
        alone: of some pairs that were measured again while no other was, the least round trips, [size] in
            seconds.
        counts: [rank, rank, size], round trips of each pair, symmetric, 0 where there are none; None if all
            have as many as `repetitions`.
    """

    sizes_bytes: tuple[int, ...]
    repetitions: int
    seed: int
    places: tuple[Place, ...]
    mpi: MpiLibrary
    resolution_s: float
    overhead_s: float
    simulated: bool
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
        counts = self.counts[:, :, self.smallest]
        return int(np.median(counts[counts > 0])) if counts.any() else self.repetitions

    def repetitions_of(self, first: int, second: int) -> tuple[int, ...]:
        """Round trips of a pair, for each size."""
        if self.counts is None:
            return (self.repetitions,) * len(self.sizes_bytes)
        return tuple(self.counts[first, second].tolist())

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.places)

    @property
    def pairs_measured(self) -> int:
        """Number of pairs that have been measured."""
        return int(np.count_nonzero(~np.isnan(self.rtt_min_s[:, :, 0]))) // 2

    @property
    def pairs_total(self) -> int:
        """Number of pairs that there are."""
        return self.ranks * (self.ranks - 1) // 2

    def only(self, ranks: Sequence[int]) -> Measurements:
        """What was measured among some of the ranks, which are numbered anew in their order."""
        cells = np.ix_(list(ranks), list(ranks))
        number = {rank: k for k, rank in enumerate(ranks)}
        return replace(
            self,
            places=tuple(self.places[rank] for rank in ranks),
            **self._arrays(lambda array: array[cells]),
            parameters={
                (number[a], number[b]): replace(each, sender=number[a], receiver=number[b])
                for (a, b), each in self.parameters.items()
                if a in number and b in number
            },
            streams=(),
            alone={},
        )

    def only_pairs(self, chosen: npt.NDArray[np.bool_]) -> Measurements:
        """As if the probe had ended with some of the pairs, [rank, rank], symmetric."""
        return replace(
            self,
            **self._arrays(
                lambda array: np.where(
                    chosen[:, :, None], array, np.nan if array.dtype == np.float64 else array.dtype.type(0)
                )
            ),
            parameters={pair: each for pair, each in self.parameters.items() if chosen[pair]},
            streams=(),
            alone={},
            ended=True,
        )

    def only_sizes(self, chosen: slice) -> Measurements:
        """As if only some of the message sizes had been measured, and no parameters."""
        return replace(
            self,
            sizes_bytes=self.sizes_bytes[chosen],
            **self._arrays(lambda array: array[:, :, chosen]),
            parameters={},
            alone={pair: least_s[chosen] for pair, least_s in self.alone.items()},
        )

    @property
    def complete(self) -> bool:
        """Whether every pair has been measured."""
        return self.pairs_measured == self.pairs_total

    @property
    def oversubscribed(self) -> bool:
        """Whether ranks had to share CPUs, as far as the probe could tell."""
        return bool(self.provenance.get("oversubscribed"))

    def _arrays(self, of: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> dict[str, Any]:
        """What `of` makes of each of the arrays, by their names."""
        arrays = {name: of(getattr(self, name)) for name in VALUES}
        return arrays if self.counts is None else {**arrays, "counts": of(self.counts)}
