# SPDX-License-Identifier: BSD-3-Clause
"""Bench: recipes timed against each other, from ``work.json`` to ``bench.jsonl``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.files import Bench, Case, Work, read_bench, write_work
from isochrone.launch.answers import next_object
from isochrone.launch.process import Channel
from isochrone.launch.target import EVERYTHING_TOLD, Target
from isochrone.progress import part
from isochrone.tune.guidelines import TOTALS_BYTES, Checked, check_guidelines, guideline_cases, totals_for

PROGRAM = "isochrone-bench"
WORK = ".work.json"
"""Ends the name of what a benchmark is to time, a hidden file beside what it writes."""
RIVAL_REPETITIONS = 7
"""Of each algorithm that the library can be told to use, where all of them are timed: a median with a 95 %
interval.
"""
PATIENCE_S = 4.0
"""For one case: over slow links large messages are repeated less often, but not less than this:"""
LEAST_REPETITIONS = 15
"""A difference of the medians can be proven with so many, even if two hundred comparisons are made."""
PATIENT = 3
"""How often a case may take an even share of a budget."""


@dataclass(frozen=True)
class Limits:
    """How long a benchmark may take.

    Attributes:
        budget_s: all its calls, more or less; None: whatever they take.
        least_repetitions: of each recipe, however little time there is.
        drop: see ``Work``.
    """

    budget_s: float | None = None
    least_repetitions: int = LEAST_REPETITIONS
    drop: float | None = None

    def patience_s(self, cases: int) -> float | None:
        """What one of so many cases may take: small messages need less than an even share, and large ones get
        what they leave.
        """
        return None if self.budget_s is None else PATIENT * self.budget_s / max(1, cases)


NO_LIMITS = Limits()


def work_for(
    target: Target,
    cases: Sequence[Case],
    repetitions: int = 10,
    seed: int = 1,
    patient: bool = False,
    ranks: int | None = None,
    fabric: str | None = None,
    limits: Limits = NO_LIMITS,
) -> Work:
    """What to time on a target. Where times are slow there are fewer repetitions, unless ``patient``; or so
    many as the limits allow.
    """
    patience_s = limits.patience_s(len(cases)) or PATIENCE_S
    is_everything = any(set(EVERYTHING_TOLD) & set(case.recipes) for case in cases)
    return Work(
        repetitions=repetitions,
        seed=seed,
        cases=tuple(cases),
        rival_repetitions=min(repetitions, RIVAL_REPETITIONS) if is_everything else repetitions,
        patience_s=None if target.simulated or patient else patience_s,
        least_repetitions=min(repetitions, limits.least_repetitions),
        ranks=ranks,
        fabric=fabric,
        budget_s=limits.budget_s,
        drop=limits.drop,
    )


def run_bench(
    target: Target, work: Work, output: Path, topology: Path | None = None, plan: Path | None = None
) -> Bench:
    """Times the cases, each recipe in turn, and reads what came of it.

    Raises:
        IsochroneError: the benchmark fails; a recipe that leaves wrong bytes is such a failure.
    """
    with _files(work, output, topology, plan) as files:
        target.run(PROGRAM, [word for name, file in files.items() for word in (f"--{name}", file)])
    return _checked(target, output)


class StandingBench:
    """The benchmark, started once for one work after the other: starting ranks may take longer than to time
    what is to be known before one knows what to time next.
    """

    def __init__(self, target: Target, channel: Channel) -> None:
        """`channel`: to the benchmark, which was started with ``--follow``."""
        self._target = target
        self._channel = channel

    def time(self, work: Work, output: Path, topology: Path | None = None, plan: Path | None = None) -> Bench:
        """As ``run_bench`` does. Raises EndedError if the benchmark fails."""
        with (
            _files(work, output, topology, plan) as files,
            part("") as advance,
            self._channel.progress_to(advance),
        ):
            self._channel.send(json.dumps(files))
            next_object(self._channel)
        return _checked(self._target, output)


def with_standing_bench(target: Target, body: Callable[[StandingBench], None]) -> None:
    """Runs `body` while the benchmark stands.

    Raises:
        IsochroneError: the benchmark fails.
    """
    is_done = False

    def talk(channel: Channel) -> None:
        nonlocal is_done
        body(StandingBench(target, channel))
        is_done = True
        channel.send("end")

    target.run(PROGRAM, ["--follow"], talk)
    if not is_done:
        raise IsochroneError(f"{PROGRAM} ended before all was timed", target.name)


@contextlib.contextmanager
def _files(work: Work, output: Path, topology: Path | None, plan: Path | None) -> Iterator[dict[str, str]]:
    """What the benchmark is told, by the names of its options; the work is there while this lasts. It is
    beside the output: rank 0, which reads it, may be on another host than this process.
    """
    at = output.resolve()
    work_file = at.with_name(f".{at.name}{WORK}")
    try:
        write_work(work_file, work)
        files = {"work": work_file, "output": output, "topology": topology, "plan": plan}
        yield {name: str(file.resolve()) for name, file in files.items() if file is not None}
    finally:
        work_file.unlink(missing_ok=True)


def _checked(target: Target, output: Path) -> Bench:
    target.check(PROGRAM, output)
    return read_bench(output)


def guideline_bench(
    target: Target,
    totals_bytes: Sequence[int] | None,
    recipes: Sequence[str],
    repetitions: int,
    output: Path,
    topology: Path | None = None,
    plan: Path | None = None,
    fabric: str | None = None,
) -> list[Checked]:
    """Times what the guidelines of ``tune.guidelines`` name, and checks them for each recipe: ``native``, and
    ``plan`` where there is one. Totals are rounded up to whole elements on each rank; None: some usual ones.

    Raises:
        IsochroneError: the benchmark fails.
        UsageError: it is not known how many ranks start.
    """
    ranks = target.rank_count
    if ranks is None:
        raise UsageError("blocks are shares of a total", "--guidelines", "say how many ranks, such as -n 16")
    totals = totals_for(ranks, totals_bytes or TOTALS_BYTES)
    work = work_for(target, guideline_cases(ranks, totals, recipes), repetitions, ranks=ranks, fabric=fabric)
    return check_guidelines(run_bench(target, work, output, topology, plan), totals, recipes, target.exact)
