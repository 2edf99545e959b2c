# SPDX-License-Identifier: BSD-3-Clause
"""Probe: from a machine to ``measurements.jsonl``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from isochrone.files import Measurements, read_measurements
from isochrone.launch.target import Target
from isochrone.plogp.checks import warnings

Together = Literal["none", "nodes", "all"]
TOGETHER: tuple[Together, ...] = get_args(Together)
_log = logging.getLogger(__name__)

SIZES_BYTES = (0, 1024, 65536, 1048576)
REPETITIONS = 20
EXACT_REPETITIONS = 1
PATIENCE_S = 0.1
"""For one size of one pair: over slow links large messages are sent less often, or not at all."""


@dataclass(frozen=True)
class Plogp:
    """How to measure all PLogP parameters of a pair.

    Attributes:
        max_bytes: largest message size.
        thesis: whether the send overhead is that of a synchronous send (Reinfjell 2023, section 3.1.2).
        both: whether both directions are measured.
    """

    max_bytes: int = 1 << 21
    thesis: bool = False
    both: bool = False

    def arguments(self) -> list[str]:
        """Of isochrone-probe."""
        return [
            "--plogp",
            *("--max-size", str(self.max_bytes)),
            *("--method", "thesis" if self.thesis else "default"),
            *(("--both",) if self.both else ()),
        ]


def probe(
    target: Target,
    output: Path,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    repetitions: int | None = None,
    seed: int = 1,
    together: Together = "nodes",
    plogp: Plogp | None = None,
    pairs: Sequence[tuple[int, int]] = (),
) -> Measurements:
    """Times messages between all pairs of ranks; goes on from what `output` holds of the same run already.

    Args:
        repetitions: timed ping-pongs for each pair and size; by default one where times have no noise, else
        20.
        together: which pairs are measured at once: none; those that share no node; all that share no rank.
        plogp: how to measure all PLogP parameters too; None: not at all.
        pairs: only these, the lesser rank first; by default all.

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
            *("--together", together),
            *(plogp.arguments() if plogp is not None else ()),
            *(("--pairs", ",".join(f"{low}-{high}" for low, high in pairs)) if pairs else ()),
        ],
    )
    found = read_measurements(output)
    for line in warnings(found.parameters.values()):
        _log.warning("%s: %s", output, line)
    return found
