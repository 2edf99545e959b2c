# SPDX-License-Identifier: BSD-3-Clause
"""Survey: all steps in a row, each from the files of the one before."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from isochrone.files import Survey, provenance, read_switches, write_survey
from isochrone.launch.target import Target
from isochrone.steps.detect import detect
from isochrone.steps.folder import BENCH, MEASUREMENTS, PLAN, SURVEY, TOPOLOGY, open_folder
from isochrone.steps.probe import ProbeOptions, probe
from isochrone.steps.report import Report, report
from isochrone.steps.tune import tune

_log = logging.getLogger(__name__)


def survey(
    target: Target, folder: Path, command: Sequence[str], seed: int = 1, fabric: Path | None = None
) -> Report:
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
    probe(target, folder / MEASUREMENTS, ProbeOptions(seed=seed))
    _log.info("detecting the topology")
    topology = detect(folder / MEASUREMENTS, folder / TOPOLOGY, target.truth, switches=switches)
    _log.info("tuning broadcast")
    tune(target, folder / TOPOLOGY, folder / PLAN, folder / BENCH, seed=seed)
    _log.info("writing the report")
    elapsed_s = time.monotonic() - begin
    write_survey(
        folder / SURVEY,
        Survey(target.name, topology.fingerprint, command, target.cores, elapsed_s, provenance(command)),
    )
    return report(folder)
