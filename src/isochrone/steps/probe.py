# SPDX-License-Identifier: BSD-3-Clause
"""Probe: from a machine to ``measurements.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isochrone.files import Measurements, read_measurements
from isochrone.launch.target import Target

SIZES_BYTES = (0, 1024, 65536, 1048576)
REPETITIONS = 20
EXACT_REPETITIONS = 1
PATIENCE_S = 0.1
"""For one size of one pair: over slow links large messages are sent less often, or not at all."""


def probe(
    target: Target,
    output: Path,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    repetitions: int | None = None,
    seed: int = 1,
) -> Measurements:
    """Times messages between all pairs of ranks; goes on from what `output` holds of the same run already.

    Args:
        repetitions: timed ping-pongs for each pair and size; by default one where times have no noise, else
        20.

    Raises:
        IsochroneError: the probe fails, or `output` is of another run.
    """
    if repetitions is None:
        repetitions = EXACT_REPETITIONS if target.exact else REPETITIONS
    target.run(
        "isochrone-probe",
        [
            *("--output", str(output.resolve())),
            *("--sizes", ",".join(map(str, sizes_bytes))),
            *("--repetitions", str(repetitions)),
            *("--warmup", "0" if target.exact else "2"),
            *("--seed", str(seed)),
            *(() if target.simulated else ("--patience", str(PATIENCE_S))),
        ],
    )
    return read_measurements(output)
