# SPDX-License-Identifier: BSD-3-Clause
"""From measurements to the topology: distances, the tree, the choice of levels, labels, accuracy.

The tree is found from message times. Host names have a say where a rank is apart from all others, and where
ranks are not bound; else they, hardware, the map of a fabric and a simulator's truth only name and judge it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isochrone.detect.by_size import with_levels_by_size
from isochrone.detect.dendrogram import dendrogram
from isochrone.detect.distance import Ints, distances
from isochrone.detect.judge import Verdict
from isochrone.detect.known import FABRIC, TRUTH, known_partitions, remembered_by
from isochrone.detect.labels import accuracies, agreement, level_names
from isochrone.detect.levels import judged
from isochrone.detect.links import level_links
from isochrone.detect.methods.nest import Clustering
from isochrone.detect.not_bound import levels_inside_places
from isochrone.detect.partitions import members, same
from isochrone.errors import IsochroneError
from isochrone.fabric.switches import Switches
from isochrone.files import KnownGroups, Level, Measurements, Reason, Topology, distinct_places, provenance
from isochrone.files.place import UNKNOWN_HOST

__all__ = ["Clustering", "DetectReport", "dendrogram", "detect"]

LOG = logging.getLogger("isochrone.detect")


@dataclass(frozen=True)
class DetectReport:
    """What there is to say about a detection besides the topology.

    Attributes:
        disagreements: names of the known partitions (``node``, ``socket``, ...) that message times
            contradict.
        noise: scatter of distances from message to message, as a ratio; 0 where the measurements do not tell.
    """

    disagreements: tuple[str, ...]
    noise: float


def detect(
    measurements: Measurements,
    truth: Mapping[str, Sequence[int]] | None = None,
    fabric: Switches | None = None,
    distances_from: Measurements | None = None,
    clustering: Clustering | None = None,
    earlier: Topology | None = None,
) -> tuple[Topology, DetectReport]:
    """The topology that the measurements show.

    Args:
        measurements: of all pairs.
        truth: level name to group label of each rank, where it is known; it names and judges the levels
            that are found, and has no say in finding them.
        fabric: the switches of the hosts, where they are known; likewise.
        distances_from: what has the distances as half of its least round trips, if that is not what was
            measured.
        clustering: another method than Isochrone's own; there is no confidence in its levels then.
        earlier: what was found before from the same measurements: what was known then is known now.

    Returns:
        The topology, and what else there is to say.

    Raises:
        IsochroneError: pairs are missing, or the truth or the fabric is about others.
    """
    chosen = np.flatnonzero(measurements.in_pairs).tolist()
    left_in: tuple[int, ...] = ()
    if measurements.ended and 0 < len(chosen) < measurements.ranks:
        LOG.warning(
            "%d of %d ranks are in no pair: they are left out",
            measurements.ranks - len(chosen),
            measurements.ranks,
        )
        if truth is not None:
            truth = {name: [labels[rank] for rank in chosen] for name, labels in truth.items()}
        measurements = measurements.only(chosen)
        distances_from = distances_from and distances_from.only(chosen)
        left_in = tuple(chosen)
    pairs = distances(distances_from or measurements)
    if unconnected := pairs.unconnected():
        one, other = ((left_in or range(measurements.ranks))[rank] for rank in unconnected)
        raise IsochroneError(
            f"the pairs that were measured do not connect ranks {one} and {other}",
            todo="probe again, with more pairs",
        )
    sure: Sequence[float | None]
    others: Sequence[Verdict] = ()
    found: Sequence[Verdict] = ()
    inside: Sequence[Verdict] = ()
    if clustering is None:
        found, others = judged(pairs)
        found = with_levels_by_size(found, distances_from or measurements)
        others = [other for other in others if not any(same(other.labels, one.labels) for one in found)]
        # Ranks that wait for a core run where one is free.
        inside = [] if measurements.oversubscribed else levels_inside_places(pairs)
        levels: Sequence[Ints] = [verdict.labels for verdict in found]
        sure = [verdict.confidence for verdict in found]
        how = "average linkage of half round trips, levels chosen from the data"
    else:
        levels = clustering.levels(distances_from or measurements, pairs.place_of)
        sure = [None] * len(levels)
        how = str(clustering)
    places, ranks = distinct_places(measurements.places)
    partitions = [labels[pairs.place_of] for labels in levels]
    with_places = [*partitions, pairs.place_of]
    remembered = () if earlier is None else remembered_by(earlier, left_in or range(measurements.ranks))
    known = known_partitions(measurements, truth, fabric, remembered)
    names = level_names(partitions, known, len({place.host for place in places} - {UNKNOWN_HOST}))
    said = agreement(with_places, names, known)
    of_places = [*zip(names[1:], found[1:], strict=False), *((None, other) for other in others)]
    of_ranks = [(name, replace(one, labels=one.labels[pairs.place_of])) for name, one in of_places]
    topology = Topology(
        places=places,
        ranks=ranks,
        levels=tuple(
            Level(name, tuple(map(tuple, members(labels.tolist()))), confidence, links)
            for name, labels, confidence, links in zip(
                names, levels, sure, level_links(measurements, partitions), strict=True
            )
        ),
        accuracy=accuracies(with_places, known),
        agreement=said,
        source={
            "method": how,
            "ranks": measurements.ranks,
            "pairs_measured": measurements.pairs_measured,
            "probe_s": measurements.elapsed_s,
            "sizes_bytes": list(measurements.sizes_bytes),
            "repetitions": measurements.repetitions,
            "simulated": measurements.simulated,
            "mpi": measurements.mpi.document(),
            "measurements": measurements.provenance,
        },
        provenance=provenance(),
        numbers=left_in,
        known=tuple(
            KnownGroups(each.name, each.source, tuple(each.labels.tolist()))
            for each in known
            if each.source in (TRUTH, FABRIC)
        ),
        reasons=_reasons([*of_ranks, *((None, one) for one in inside)]),
    )
    disagreements = tuple(name for name, entry in said.items() if not entry["agrees"])
    return topology, DetectReport(disagreements, pairs.noise)


def _reasons(verdicts: Iterable[tuple[str | None, Verdict]]) -> tuple[Reason, ...]:
    """Verdicts on partitions of ranks, with the names of those that are levels, outermost first."""
    found = []
    for name, verdict in verdicts:
        sizes = np.bincount(verdict.labels)
        sizes = sizes[sizes > 0]
        found.append(
            Reason(
                level=name,
                groups=len(sizes),
                least=int(sizes.min()),
                most=int(sizes.max()),
                ranks=verdict.ranks,
                nearer=verdict.nearer,
                margin=verdict.margin,
                needed=verdict.needed,
                confidence=verdict.confidence,
                why_not=verdict.why_not,
                size_bytes=verdict.size_bytes,
            )
        )
    return tuple(sorted(found, key=lambda reason: reason.groups))
