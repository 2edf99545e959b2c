# SPDX-License-Identifier: BSD-3-Clause
"""Probe: from a machine to ``measurements.jsonl``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from isochrone.adaptive.choose_pairs import Choosing, choose_pairs
from isochrone.adaptive.follow import Chooser, follow
from isochrone.adaptive.interference import interference
from isochrone.adaptive.level_samples import share_of_groups
from isochrone.adaptive.table import Pair, Table
from isochrone.detect.evidence import SLOWER
from isochrone.errors import IsochroneError
from isochrone.files import Clusters, Measurements, read_measurements
from isochrone.files.text import refuse_stream
from isochrone.launch.target import Target
from isochrone.plogp.checks import warnings
from isochrone.progress import kept_when_stopped, part

Mode = Literal["all", "adaptive", "fast"]
MODES: tuple[Mode, ...] = get_args(Mode)
ADAPTIVE_ABOVE = 64
SHARE = 0.25
_MOST_RANKS = 1 << 20

Together = Literal["none", "nodes", "all"]
TOGETHER: tuple[Together, ...] = get_args(Together)
_log = logging.getLogger(__name__)

_LONGEST_WORD = 100_000
"""In a command line, of which Linux takes words of up to 128 KiB."""

SIZES_BYTES = (0, 1024, 65536, 1048576)
REPETITIONS = 20
EXACT_REPETITIONS = 1
BUDGET_REPETITIONS = 200
BUDGET_PRECISION = 0.02
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


@dataclass(frozen=True)
class ProbeOptions:
    """What to measure, and how.

    Attributes:
        sizes_bytes: of the messages.
        repetitions: timed ping-pongs for each pair and size, the most where precision or budget want fewer;
            by default one where times have no noise, else 20, or 200 with a budget.
        seed: of the order.
        together: which pairs are measured at once: none; those that share no node; all that share no
            rank; or those whose innermost common clusters have no rank in common, and one in each group.
        plogp: how to measure all PLogP parameters too; None: not at all.
        pairs: only these, the lesser rank first; by default as `mode` says.
        mode: ``all`` pairs; ``adaptive``: those that tell the tree, and all PLogP parameters of some at each
            level; ``fast``: all pairs among a share of the ranks of each host. By default adaptive with more
            than ``ADAPTIVE_ABOVE`` ranks, unless the parameters of all pairs are asked for.
        blind: whether the adaptive mode does without host names as a hint.
        share: of the fast mode.
        precision: of a median, as a share of it: there are no more repetitions once its 95 % confidence
            interval is narrower; 0: all of them. By default 0, or 0.02 with a budget.
        budget_s: for all pairs together: fewer repetitions where they would take longer, at least one.
    """

    sizes_bytes: Sequence[int] = SIZES_BYTES
    repetitions: int | None = None
    seed: int = 1
    together: Together | Clusters = "nodes"
    plogp: Plogp | None = None
    pairs: Sequence[Pair] = ()
    mode: Mode | None = None
    blind: bool = False
    share: float = SHARE
    precision: float | None = None
    budget_s: float | None = None

    @property
    def follow_above(self) -> int | None:
        """With how many ranks the probe begins to ask which pairs to measure; None for never."""
        if self.pairs or self.plogp is not None:
            return None
        return {None: ADAPTIVE_ABOVE, "all": _MOST_RANKS, "adaptive": 0, "fast": 0}[self.mode]

    def arguments(self, target: Target, output: Path) -> list[str]:
        """Of isochrone-probe."""
        limited = self.budget_s is not None
        repetitions, precision, above = self.repetitions, self.precision, self.follow_above
        if repetitions is None:
            most = BUDGET_REPETITIONS if limited else REPETITIONS
            repetitions = EXACT_REPETITIONS if target.exact else most
        if precision is None:
            precision = BUDGET_PRECISION if limited else 0.0
        # Where the probe is followed, it is asked for the parameters of some pairs.
        plogp = self.plogp if above is None else Plogp()
        return [
            *("--output", str(output.resolve())),
            *("--sizes", ",".join(map(str, self.sizes_bytes))),
            *("--repetitions", str(repetitions)),
            *("--warmup", "0" if target.exact else "2"),
            *("--seed", str(self.seed)),
            *(() if target.simulated else ("--patience", str(PATIENCE_S))),
            *(("--precision", str(precision)) if precision > 0 else ()),
            *(("--budget", str(self.budget_s)) if limited else ()),
            *_at_once(self.together),
            *(plogp.arguments() if plogp is not None else ()),
            *(("--pairs", ",".join(f"{low}-{high}" for low, high in self.pairs)) if self.pairs else ()),
            *(("--follow-above", str(above)) if above is not None else ()),
        ]


def probe(target: Target, output: Path, options: ProbeOptions | None = None) -> Measurements:
    """Times messages between pairs of ranks; goes on from what `output` holds of the same run already.

    Raises:
        IsochroneError: the probe fails, or `output` is of another run.
    """
    refuse_stream(output)
    options = options or ProbeOptions()
    above = options.follow_above
    talk = None if above is None else follow(output, above, _chooser(options), options.budget_s)
    with kept_when_stopped(output), part(f"probing {target.name}"):
        target.run("isochrone-probe", options.arguments(target, output), talk)
    target.check("isochrone-probe", output)
    found = read_measurements(output)
    for line in warnings(found.parameters.values()):
        _log.warning("%s: %s", output, line)
    disturbed = interference(found)
    if disturbed and disturbed[0] > SLOWER and found.at_once and not found.oversubscribed:
        _log.warning(
            "%s: messages of %d bytes took %.2g times as long while other pairs were measured as alone: "
            "probe again with --together none",
            output,
            disturbed[1],
            disturbed[0],
        )
    return found


def _at_once(together: Together | Clusters) -> tuple[str, str]:
    """Option of isochrone-probe for what is measured at once."""
    if not isinstance(together, Clusters):
        return "--together", together
    expression = together.expression()
    if len(expression) > _LONGEST_WORD:
        raise IsochroneError(
            "a command line cannot hold so many clusters",
            "--together",
            "use fewer, of ranks that are neighbours",
        )
    return "--clusters", expression


def _chooser(options: ProbeOptions) -> Chooser:
    def some(table: Table, measurements: Measurements) -> Choosing:
        hosts = [place.host for place in measurements.places]
        if options.mode == "fast":
            yield share_of_groups(hosts, options.share, measurements.seed)
            return None
        return (yield from choose_pairs(table, None if options.blind else hosts, measurements.seed))

    return some
