# SPDX-License-Identifier: BSD-3-Clause
"""Detect: from ``measurements.jsonl`` to ``topology.json``."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import structs

from isochrone.detect import Clustering
from isochrone.detect import detect as detect_topology
from isochrone.detect.not_bound import NOT_BOUND
from isochrone.errors import IsochroneError
from isochrone.fabric.switches import Switches
from isochrone.files import (
    Measurements,
    Topology,
    read_measurements,
    read_plan,
    read_topology,
    topology_document,
    write_topology,
)
from isochrone.files.matrix import STANDARD_INPUT, is_matrix, read_matrix
from isochrone.files.text import Json
from isochrone.plogp.predict import Distance, seen_by
from isochrone.progress import part
from isochrone.steps.folder import PLAN, TOPOLOGY

# Pairs of a level scatter less, unless the machine is no tree or a part of it is slow.
_UNLIKE = 0.2

_log = logging.getLogger(__name__)


def detect(
    measurements: Path,
    output: Path,
    truth: Mapping[str, Sequence[int]] | None = None,
    unit: str = "ns",
    predicted: tuple[Distance, int] | None = None,
    switches: Switches | None = None,
    clustering: Clustering | None = None,
    replace_any: bool = False,
) -> Topology:
    """Finds the topology and writes it. `truth` (level name to group label of each rank) and `switches`
    (of the hosts) name and judge it only; what an earlier topology beside the measurements knew of them is
    known still. `unit` is that of a plain matrix, if the measurements are one. `predicted` are distances from
    PLogP parameters for a message size, instead of round trips; `clustering` is another method than
    Isochrone's own. A topology that a plan was made for is only replaced with `replace_any`.

    Raises:
        IsochroneError: the measurements are damaged, pairs are missing, a host is on no switch, or another
            topology with a plan is in the way.
    """
    found = read(measurements, unit)
    seen = None if predicted is None else seen_by(found, *predicted)
    earlier = _earlier(measurements, found)
    with part("detecting the topology"):
        topology, report = detect_topology(found, truth, switches, seen, clustering, earlier)
    if predicted is not None:
        kind, size_bytes = predicted
        topology = structs.replace(topology, source={**topology.source, "distance": [kind, size_bytes]})
    _write(output, topology, replace_any)
    _say_what_is_not_bound(found, topology)
    for name in report.disagreements:
        _log.warning("message times do not show the groups that %s has: see 'agreement' in %s", name, output)
    # Where ranks share CPUs, it is these that scatter.
    levels = () if found.oversubscribed else topology.levels
    for level in levels:
        if level.links is not None and (level.links.spread or 0.0) > _UNLIKE:
            _log.warning(
                "latencies of the pairs that meet at level %s scatter by %.0f %%: they are not alike; "
                "isochrone doctor says whether some are slow",
                level.name,
                100 * (level.links.spread or 0.0),
            )
    return topology


def _say_what_is_not_bound(found: Measurements, topology: Topology) -> None:
    """Of three or more ranks that share a place, a whole host or some CPUs of it, some may be nearer than
    others, unless they wait for cores.
    """
    at = Counter(place.key for place in found.places)
    many = [key for key, ranks in at.items() if ranks > 2]
    if many and not found.oversubscribed:
        ran = [reason.what for reason in topology.reasons if reason.why_not == NOT_BOUND]
        hosts = sorted({host for host, _ in many})
        _log.warning(
            "ranks of %s are not bound to cores, so that nothing inside %s is told%s: bind them, as by "
            "mpiexec --bind-to core or srun --cpu-bind=cores",
            hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts",
            "a host" if all(cpus is None for _, cpus in many) else "the CPUs that they share",
            f" (this time they were {', and '.join(ran)})" if ran else "",
        )


def topology_beside(measurements: Path) -> Path:
    """Where the topology of measurements goes: of a plain matrix under a name of its own, as there may be
    others in the folder.
    """
    of_one = is_matrix(measurements) and measurements != STANDARD_INPUT
    return measurements.with_name(f"{measurements.stem}.{TOPOLOGY}" if of_one else TOPOLOGY)


def _earlier(measurements: Path, found: Measurements) -> Topology | None:
    """The topology beside the measurements, if it is of the same ranks."""
    try:
        earlier = read_topology(topology_beside(measurements))
    except IsochroneError:
        return None
    return earlier if is_of(earlier, found) else None


def is_of(topology: Topology, found: Measurements) -> bool:
    """Whether all ranks of a topology are at the same places in the measurements."""
    ranks = dict(zip(topology.job_ranks, topology.ranks, strict=True))
    return all(
        rank < found.ranks and found.places[rank] == topology.places[place] for rank, place in ranks.items()
    )


def _write(output: Path, topology: Topology, replace_any: bool) -> None:
    """Writes the topology, unless what is there is the same.

    Raises:
        IsochroneError: a plan was made for what is there, and it may not be replaced.
    """
    if not replace_any and output.exists():
        try:
            there, plan = read_topology(output), read_plan(output.with_name(PLAN))
        except IsochroneError:
            write_topology(output, topology)  # nothing is there that anything could depend on
            return
        if plan.topology.file == output.name and plan.fingerprint == there.fingerprint:
            if _told(there) == _told(topology):
                return
            what = "other names or figures" if there.fingerprint == topology.fingerprint else "another tree"
            raise IsochroneError(
                f"{PLAN} beside it was made for this topology, and now {what} would be found",
                str(output),
                "write into another file with -o, or over it with --force",
            )
    write_topology(output, topology)


def _told(topology: Topology) -> Json:
    """All that a topology tells but when and how it was found."""
    return {**topology_document(topology), "provenance": None}


def read(path: Path, unit: str) -> Measurements:
    """Measurements, or a plain matrix in that unit. Raises IsochroneError for what is neither."""
    return read_matrix(path, unit) if is_matrix(path) else read_measurements(path)
