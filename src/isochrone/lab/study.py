# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries side by side in a lab: each one surveyed in each placement, and its collectives on the plan
against its own and against the least time that the links allow.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.files import BCAST, NATIVE, PLAN_RECIPE, Bench, Case, read_bench
from isochrone.lab.labs import Lab
from isochrone.lab.target import LabTarget, Ranks
from isochrone.launch.library import MpiLibrary
from isochrone.launch.tellable import ways
from isochrone.report import compare
from isochrone.report.comparison import SizeComparison
from isochrone.statistics import Interval
from isochrone.steps.bench import RIVAL_REPETITIONS, run_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.folder import BENCH, MEASUREMENTS, PLAN, TOPOLOGY, open_folder
from isochrone.steps.probe import probe
from isochrone.steps.tune import TuneOptions, forget, tune
from isochrone.tune.sizes import SIZES_BYTES

UPLINK_CALLS = 10
_MOST_UPLINK_BYTES = 1 << 20
_MOST_UPLINK_S = 0.2
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Row:
    """One library, placement and message size; times in seconds of the slowest rank.

    Attributes:
        best_native: the fastest algorithm that the library can be told to use, and its time; the library's
            own choice where nothing it can be told is faster.
        bound_s: what the links allow at least (``Network.bound_s``).
    """

    mpi: str
    placement: str
    collective: str
    size_bytes: int
    root: int
    native: Interval
    isochrone: Interval
    speedup: Interval
    best_native: tuple[str, float]
    bound_s: float

    def over_bound(self, time_s: Interval) -> float | None:
        """How many times the bound that is; None where links allow any time, as within a host."""
        return time_s.estimate / self.bound_s if self.bound_s > 0 else None

    def to_json(self) -> dict[str, Any]:
        """The row of ``results``."""
        return {
            "mpi": self.mpi,
            "placement": self.placement,
            "collective": self.collective,
            "size_bytes": self.size_bytes,
            "root": self.root,
            "native_s": self.native.estimate,
            "native_ci_s": [self.native.low, self.native.high],
            "isochrone_s": self.isochrone.estimate,
            "isochrone_ci_s": [self.isochrone.low, self.isochrone.high],
            "best_native": self.best_native[0],
            "best_native_s": self.best_native[1],
            "speedup": self.speedup.estimate,
            "speedup_ci": [self.speedup.low, self.speedup.high],
            "bound_s": self.bound_s,
            "native_over_bound": self.over_bound(self.native),
            "isochrone_over_bound": self.over_bound(self.isochrone),
        }


@dataclass(frozen=True)
class Outcome:
    """What came of one library in one placement.

    Attributes:
        accuracy: of detection, by level.
        probe_s: what the probe took.
        uplinks: bytes over each link above the hosts, up and down, of one broadcast of ``uplink_bytes``:
            link, direction and what ran (``native`` or ``isochrone``) to bytes.
    """

    mpi: str
    placement: str
    rows: tuple[Row, ...]
    accuracy: Mapping[str, float]
    probe_s: float
    uplinks: Mapping[str, Mapping[str, Mapping[str, float]]]
    uplink_bytes: int
    idle_wait: bool

    def to_json(self) -> dict[str, Any]:
        """The survey's facts, without the rows."""
        return {
            "mpi": self.mpi,
            "placement": self.placement,
            "accuracy": dict(self.accuracy),
            "probe_seconds": self.probe_s,
            "idle_wait": self.idle_wait,
            "uplink_message_bytes": self.uplink_bytes,
            "uplink_bytes": {link: dict(by) for link, by in self.uplinks.items()},
        }


def study(
    lab: Lab,
    libraries: Sequence[MpiLibrary],
    placements: Sequence[Ranks],
    folder: Path,
    idle_wait: bool | None = None,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    done: Collection[tuple[str, str]] = (),
) -> Iterator[Outcome]:
    """Surveys each library in each placement into a folder of its own, and yields what came of it.

    Args:
        done: names of libraries and placements that are left out.

    Raises:
        IsochroneError: a step fails.
    """
    for library in libraries:
        for ranks in placements:
            if (library.name, ranks.placement) in done:
                _log.info("%s, %s placement: is there already", library.name, ranks.placement)
                continue
            target = LabTarget(lab, library, ranks, idle_wait)
            _log.info("%s", target.name)
            yield _survey(target, open_folder(folder / f"{library.name}-{ranks.placement}"), sizes_bytes)


def _survey(target: LabTarget, folder: Path, sizes_bytes: Sequence[int]) -> Outcome:
    measurements = probe(target, folder / MEASUREMENTS)
    topology = detect(folder / MEASUREMENTS, folder / TOPOLOGY, target.truth)
    bench = _tuned(folder, sizes_bytes)
    if bench is None:
        options = TuneOptions(sizes_bytes, rivals=True)
        _, bench = tune(target, folder / TOPOLOGY, folder / PLAN, folder / BENCH, options)
        forget(folder, options)
    roots = {case.root for case in bench.cases}
    rows = []
    for root in sorted(roots):
        samples = {key: times for key, times in bench.slowest_s.items() if key.root == root}
        comparison = compare(samples, BCAST)
        if comparison is not None:
            told = _told_at_start(target, folder, root, [size.size_bytes for size in comparison.sizes])
            rows += [_row(target, BCAST, root, size, told) for size in comparison.sizes]
    size_bytes = _uplink_bytes(target, min(roots, default=0), sizes_bytes)
    return Outcome(
        mpi=target.library.name,
        placement=target.ranks.placement,
        rows=tuple(rows),
        accuracy=topology.accuracy,
        probe_s=measurements.elapsed_s,
        uplinks=_uplinks(target, folder, min(roots, default=0), size_bytes),
        uplink_bytes=size_bytes,
        idle_wait=target.idle_wait,
    )


def _told_at_start(
    target: LabTarget, folder: Path, root: int, sizes_bytes: Sequence[int]
) -> dict[str, dict[int, float]]:
    """Times of what a library can be told only when it is started, by name and size; each in a run of its
    own. What the library refuses is left out.
    """
    found: dict[str, dict[int, float]] = {}
    output = folder / "told.jsonl"
    for way in ways(target.library, BCAST, len(set(target.ranks.hosts)))[1:]:
        name = "=".join(*way.variables.items()) if way.own.isdecimal() else way.own
        started = target.with_variables(way.variables)
        cases = [Case(size, root, (NATIVE,)) for size in sizes_bytes]
        try:
            bench = run_bench(started, work_for(started, cases, RIVAL_REPETITIONS), output)
        except IsochroneError as error:
            _log.info("%s is left out: %s", name, error)
            continue
        finally:
            output.unlink(missing_ok=True)
        found[name] = {key.size_bytes: float(np.median(times)) for key, times in bench.slowest_s.items()}
    return found


def _row(
    target: LabTarget,
    collective: str,
    root: int,
    size: SizeComparison,
    told: Mapping[str, Mapping[int, float]],
) -> Row:
    if size.plan_s is None or size.speedup is None:
        raise IsochroneError("a broadcast was not measured", f"{size.size_bytes} bytes")
    best = (NATIVE, size.native_s.estimate)
    if size.rival is not None and size.rival.time_s.estimate < best[1]:
        best = (size.rival.name, size.rival.time_s.estimate)
    for name, times in told.items():
        best = min(best, (name, times[size.size_bytes]), key=lambda rival: rival[1])
    hosts = target.ranks.hosts
    return Row(
        mpi=target.library.name,
        placement=target.ranks.placement,
        collective=collective,
        size_bytes=size.size_bytes,
        root=root,
        native=size.native_s,
        isochrone=size.plan_s,
        speedup=size.speedup,
        best_native=best,
        bound_s=target.lab.network.bound_s(hosts[root], hosts, size.size_bytes),
    )


def _tuned(folder: Path, sizes_bytes: Sequence[int]) -> Bench | None:
    """The benchmark of a plan for these sizes that an earlier run has left in the folder, or None."""
    plan, bench = folder / PLAN, folder / BENCH
    # Of a tuning the plan is written last.
    if not (plan.exists() and bench.exists()) or plan.stat().st_mtime < bench.stat().st_mtime:
        return None
    found = read_bench(bench)
    found = found.only([case for case in found.cases if case.collective == BCAST])
    complete = found.elapsed_s is not None and {case.size_bytes for case in found.cases} == set(sizes_bytes)
    return found if complete else None


def _uplink_bytes(target: LabTarget, root: int, sizes_bytes: Sequence[int]) -> int:
    """The largest message of those tuned for that the links carry in little time."""
    hosts = target.ranks.hosts

    def is_small(size_bytes: int) -> bool:
        bound_s = target.lab.network.bound_s(hosts[root], hosts, size_bytes)
        return size_bytes <= _MOST_UPLINK_BYTES and bound_s <= _MOST_UPLINK_S

    return max(filter(is_small, sizes_bytes), default=min(sizes_bytes))


def _uplinks(
    target: LabTarget, folder: Path, root: int, size_bytes: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Runs broadcasts of one kind by themselves, few and then many: the difference of the traffic is that of
    the broadcasts, without starting and ending.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for what, recipe in (("native", NATIVE), ("isochrone", PLAN_RECIPE)):
        before = _traffic(target.lab)
        few = _broadcasts(target, folder, root, size_bytes, recipe, 2)
        middle = _traffic(target.lab)
        many = _broadcasts(target, folder, root, size_bytes, recipe, 2 + UPLINK_CALLS)
        after = _traffic(target.lab)
        for key, count in after.items():
            link, direction = key
            more = (count - middle[key]) - (middle[key] - before[key])
            found.setdefault(link, {}).setdefault(direction, {})[what] = more / max(1, many - few)
    return found


def _broadcasts(
    target: LabTarget, folder: Path, root: int, size_bytes: int, recipe: str, repetitions: int
) -> int:
    """How many were run."""
    cases = [Case(size_bytes, root, (recipe,))]
    output = folder / "uplinks.jsonl"
    try:
        work = work_for(target, cases, repetitions, patient=True)
        bench = run_bench(target, work, output, folder / TOPOLOGY, folder / PLAN)
    finally:
        output.unlink(missing_ok=True)
    return bench.calls or 0


def _traffic(lab: Lab) -> dict[tuple[str, str], int]:
    """Bytes so far over each link of a switch, by link and direction."""
    switches = {node.name for node in lab.network.nodes if node.kind != "host"}
    return {
        (link["name"], direction): int(link[direction]["bytes"])
        for link in lab.status()["links"]
        if link["name"] in switches
        for direction in ("up", "down")
    }
