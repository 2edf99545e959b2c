# SPDX-License-Identifier: BSD-3-Clause
"""Survey: all steps in a row, each from the files of the one before."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from isochrone.fabric.tree import read_tree
from isochrone.files import Survey, Topology, TopologyReference, provenance, write_survey
from isochrone.launch.target import Target
from isochrone.launch.told import check_untold
from isochrone.progress import kept_when_stopped, part
from isochrone.steps.detect import detect
from isochrone.steps.folder import BENCH, MEASUREMENTS, PLAN, SURVEY, TOPOLOGY, alone_in, open_folder
from isochrone.steps.probe import ProbeOptions, probe
from isochrone.steps.report import Report, report
from isochrone.steps.tune import TuneOptions, forget, tune
from isochrone.tune.collectives import WANTED, words

# Of the time that is left when a step begins, roughly: tuning takes nine tenths of the whole.
_PROBE, _DETECT, _TUNE = 0.07, 0.02, 0.97

_log = logging.getLogger(__name__)


def probe_and_detect(target: Target, folder: Path) -> Topology:
    """Its topology, with the defaults of both steps, whose files are in `folder` then.

    Raises:
        IsochroneError: a step fails.
    """
    probe(target, folder / MEASUREMENTS)
    return detect(folder / MEASUREMENTS, folder / TOPOLOGY, target.truth)


def survey(
    target: Target,
    folder: Path,
    command: Sequence[str],
    options: TuneOptions | None = None,
    fabric: Path | None = None,
) -> Report:
    """Probes, detects, tunes and reports into `folder`. `fabric` is a ``topology.conf`` of the hosts, or a
    folder of their fabric's dumps. By default those collectives are tuned that programs use most.

    Killed and run again, it goes on with the pairs that are missing and what is not tuned yet. A survey that
    came to its end is detected and tuned anew.

    Raises:
        IsochroneError: a step fails.
    """
    begin = time.monotonic()
    options = options or TuneOptions(collectives=WANTED)
    # What is wrong with it is better known before the probe.
    switches = None if fabric is None else read_tree(fabric)
    if options.at_its_best:
        check_untold(target)
    open_folder(folder)
    goes_on = (folder / MEASUREMENTS).exists()
    with alone_in(folder), kept_when_stopped(folder), part("surveying"):
        with part("", _PROBE):
            _log.info("probing %s", target.name)
            probe(target, folder / MEASUREMENTS, ProbeOptions(seed=options.seed))
        with part("", _DETECT):
            _log.info("detecting the topology")
            topology = detect(
                folder / MEASUREMENTS,
                folder / TOPOLOGY,
                target.truth,
                switches=switches,
                replace_any=True,
            )
        with part("tuning", _TUNE):
            _log.info("tuning %s", ", ".join(words(name) for name in options.collectives))
            files = folder / TOPOLOGY, folder / PLAN, folder / BENCH
            tune(target, *files, options)
        with part("writing the report"):
            _log.info("writing the report")
            made_by = provenance(command)
            write_survey(
                folder / SURVEY,
                Survey(
                    topology=TopologyReference(topology.fingerprint),
                    target=target.name,
                    command=tuple(command),
                    cores=target.cores,
                    # What an earlier run took is not known.
                    elapsed_s=None if goes_on else time.monotonic() - begin,
                    provenance=made_by,
                ),
            )
            found = report(folder)
        forget(folder, options)
    return found
