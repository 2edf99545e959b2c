# SPDX-License-Identifier: BSD-3-Clause
"""Survey: all steps in a row, each from the files of the one before."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.files import Measurements, Topology, read_switches
from isochrone.launch.target import Target
from isochrone.plogp.protocol import level_steps
from isochrone.report import Survey, read_facts, summary_lines, write_page
from isochrone.report.comparison import Comparison
from isochrone.steps.detect import detect
from isochrone.steps.folder import BENCH, MEASUREMENTS, PLAN, TOPOLOGY, open_folder
from isochrone.steps.probe import ProbeOptions, probe
from isochrone.steps.tune import tune

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SurveyResult:
    """What a survey came to: the summary for people, the figures for programs."""

    lines: list[str]
    document: dict[str, Any]


def survey(
    target: Target, folder: Path, command: Sequence[str], seed: int = 1, fabric: Path | None = None
) -> SurveyResult:
    """Probes, detects, tunes and reports into `folder`. `fabric` is a ``topology.conf`` of the hosts.

    Killed and run again, it goes on with the pairs that are missing; detection and tuning are done anew.

    Raises:
        IsochroneError: a step fails.
    """
    begin = time.monotonic()
    # What is wrong with it is better known before the probe.
    switches = None if fabric is None else read_switches(fabric)
    open_folder(folder)
    _log.info("probing %s", target.name)
    measurements = probe(target, folder / MEASUREMENTS, ProbeOptions(seed=seed))
    _log.info("detecting the topology")
    topology = detect(folder / MEASUREMENTS, folder / TOPOLOGY, target.truth, switches=switches)
    _log.info("tuning broadcast")
    tune(target, folder / TOPOLOGY, folder / PLAN, folder / BENCH, seed=seed)
    _log.info("writing the report")
    facts = read_facts(folder, Survey(target.name, tuple(command), target.cores, time.monotonic() - begin))
    report = write_page(facts)
    document = survey_document(measurements, topology, facts.comparison, report)
    return SurveyResult([*summary_lines(facts), f"Report: {report}"], document)


def survey_document(
    measurements: Measurements, topology: Topology, comparison: Comparison | None, report: Path
) -> dict[str, Any]:
    """The figures of a survey as one JSON object. Levels are outermost first."""
    return {
        "ranks": measurements.ranks,
        "levels": [
            {
                "name": level.name,
                "clusters": len(level.groups),
                "confidence": level.confidence,
                "protocol_step": step and step.document(),
            }
            for level, step in zip(topology.levels, level_steps(measurements, topology), strict=True)
        ],
        "accuracy": topology.accuracy,
        "pairs_measured": measurements.pairs_measured,
        "pairs_total": measurements.pairs_total,
        "probe_seconds": measurements.elapsed_s,
        "simulated": measurements.simulated,
        "mpi": measurements.mpi.document(),
        "broadcast": broadcast_document(comparison),
        "report": str(report),
    }


def broadcast_document(comparison: Comparison | None) -> dict[str, Any] | None:
    """The plan against the library's own, overall and by size; None where nothing was timed (a single
    rank).
    """
    if comparison is None:
        return None
    return {
        "geomean_speedup": comparison.geomean_speedup,
        "geomean_speedup_large": comparison.geomean_speedup_large,
        "min_speedup": comparison.min_speedup,
        "sizes": [
            {
                "size_bytes": row.size_bytes,
                "native_s": row.native_s.estimate,
                "native_ci_s": [row.native_s.low, row.native_s.high],
                "plan_s": row.plan_s.estimate if row.plan_s else None,
                "speedup": row.speedup.estimate if row.speedup else None,
                "speedup_ci": [row.speedup.low, row.speedup.high] if row.speedup else None,
                "best_native": row.rival.name if row.rival else None,
                "best_native_s": row.rival.time_s.estimate if row.rival else None,
            }
            for row in comparison.sizes
        ],
    }
