# SPDX-License-Identifier: BSD-3-Clause
"""What several surveys measured, as if one probe had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import Measurements, PairParameters, Place, provenance
from isochrone.files.measurements import VALUES, last_of_each
from isochrone.statistics import FloatArray


def merged_measurements(
    found: Sequence[Measurements], rank_of: Sequence[Sequence[int]], places: Sequence[Place]
) -> Measurements:
    """The measurements of all ranks; of a pair that was measured twice the later counts.

    Args:
        found: the earliest first.
        rank_of: for each of them the number that each of its ranks has in the result.
        places: of the ranks of the result.

    Raises:
        IsochroneError: no message size is in all.
    """
    sizes = [size for size in found[0].sizes_bytes if all(size in each.sizes_bytes for each in found)]
    if not sizes:
        raise IsochroneError(
            "no message size was measured in all surveys", None, "probe with the same --sizes"
        )
    ends = []
    arrays: dict[str, Any] = {name: [] for name in (*VALUES, "counts")}
    parameters: dict[tuple[int, int], PairParameters] = {}
    streams = []
    alone: dict[tuple[int, int], FloatArray] = {}
    for each, number in zip(found, rank_of, strict=True):
        columns = [each.sizes_bytes.index(size) for size in sizes]
        told = np.flatnonzero(~np.isnan(each.rtt_min_s[:, columns[0]]))
        ends.append(np.asarray(number)[np.stack([each.first[told], each.second[told]])])
        # What was measured again: what an earlier survey knew of it beside its round trips is of that time.
        if alone or parameters:
            again = set(zip(*np.sort(ends[-1], axis=0).tolist(), strict=True))
            alone = {pair: times_s for pair, times_s in alone.items() if pair not in again}
            if each.plogp is not None:
                parameters = {
                    pair: one for pair, one in parameters.items() if (min(pair), max(pair)) not in again
                }
        for name in VALUES:
            arrays[name].append(getattr(each, name)[told][:, columns])
        arrays["counts"].append(each.repetitions_of(told)[:, columns])
        for (a, b), one in each.parameters.items():
            parameters[number[a], number[b]] = replace(one, sender=number[a], receiver=number[b])
        for stream in each.streams:
            pairs = tuple((number[a], number[b]) for a, b in stream.pairs)
            streams.append(structs.replace(stream, pairs=pairs))
        for (a, b), times_s in each.alone.items():
            low, high = sorted((number[a], number[b]))
            alone[low, high] = times_s[:, columns]
    last = found[-1]
    times = [str(each.provenance["time"]) for each in found if "time" in each.provenance]
    first, second = np.concatenate(ends, axis=1)
    chosen = last_of_each(first, second, len(places))
    first, second = first[chosen], second[chosen]
    arrays = {name: np.concatenate(parts)[chosen] for name, parts in arrays.items()}
    return replace(
        last,
        sizes_bytes=tuple(sizes),
        repetitions=max(each.repetitions for each in found),
        places=tuple(places),
        resolution_s=max(each.resolution_s for each in found),
        overhead_s=max(each.overhead_s for each in found),
        first=np.minimum(first, second),
        second=np.maximum(first, second),
        **arrays,
        parameters=parameters,
        streams=tuple(streams),
        alone=alone,
        elapsed_s=sum(each.elapsed_s for each in found),
        ended=all(each.ended for each in found),
        plogp=next((each.plogp for each in reversed(found) if each.plogp is not None), None),
        provenance={
            **provenance(),
            # A later probe of a part is newer than what it was merged from.
            **({"time": max(times)} if times else {}),
            **({"oversubscribed": True} if any(each.oversubscribed for each in found) else {}),
        },
    )
