#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether `isochrone bench` agrees with OSU's and Intel's programs about the library's own collectives.

Usage: agreement.py RESULT.json [LAB] [--mpi NAME] [--launches N] [--calls N] [--collectives NAME,...]
       [--sizes BYTES,...]
       agreement.py RESULT.json --table

These run in turn in a lab, launch after launch: isochrone-bench, OSU's loops (osu_loops.c) after a barrier as
OSU has them, the same loops from moments agreed for all calls at once, or each after a rest of 30 ms, and,
with Intel MPI, IMB-MPI1. Compared is what is the same quantity, with a ratio of the medians over launches
and the interval of the launches' own ratios:

* isochrone-bench and the loops from a common moment: from there to the end of the slowest rank, mean of the
  calls;
* IMB-MPI1 and OSU's loops: each rank's own mean time after a barrier, of the slowest rank (t_max, Max
  Latency).

Beside these stands how far apart ranks leave the barrier, which is what the two quantities differ by, and
how much longer calls take after a rest.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import write_rows

from isochrone.files import Case, provenance
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.models.readers import read_foreign_times
from isochrone.models.readers.labels import Labels
from isochrone.statistics import Interval, ratio_ci
from isochrone.steps.bench import run_bench, work_for

COLLECTIVES = ("bcast", "reduce", "allreduce", "alltoall")
SIZES_BYTES = (8, 1024, 16384)
ALIKE = 0.05
OURS, CLOCK, OSU, IMB = "isochrone bench", "loops, common start", "OSU's loops", "IMB-MPI1"
RESTED = "loops, common start after a rest"
STARTS = {"clock": CLOCK, "rested": RESTED}
SLOWEST, APART = "OSU's loops, first start to last end", "OSU's loops, starts apart"
Key = tuple[str, int]
Times = dict[Key, dict[str, list[float]]]
"""By collective and size, of each program seconds of each launch."""
_log = logging.getLogger("agreement")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compares isochrone bench with OSU's loops and IMB in a lab."
    )
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", default="two-racks", metavar="LAB")
    parser.add_argument("--mpi", default="intel")
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--calls", type=int, default=20, help="of each collective and size in a launch")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES_BYTES)))
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        collectives = wanted.collectives.split(",")
        sizes = [int(size) for size in wanted.sizes.split(",")]
        with open_lab(wanted.lab) as lab, tempfile.TemporaryDirectory(prefix="isochrone-agreement.") as made:
            ranks = Ranks.on(lab.network, None, None, None, None)
            target = LabTarget(lab, find_library(wanted.mpi), ranks)
            times = measure(target, Path(made), collectives, sizes, wanted.calls, wanted.launches)
        head = {
            "command": "bench/agreement.py",
            "target": target.name,
            "launches": wanted.launches,
            "calls": wanted.calls,
            "provenance": provenance(),
        }
        write_rows(wanted.result, head, [row(key, by_program) for key, by_program in times.items()])
    document = json.loads(wanted.result.read_text(encoding="utf-8"))
    print("\n".join(table(document)))
    return 0


def measure(
    target: LabTarget,
    folder: Path,
    collectives: Sequence[str],
    sizes: Sequence[int],
    calls: int,
    launches: int,
) -> Times:
    """Runs all programs in turn, beginning with another one each time."""
    loops = folder / "osu_loops"
    source = Path(__file__).parent / "osu_loops.c"
    library = target.library
    environment = target.environment()
    subprocess.run([library.mpicc, "-O2", "-o", loops, source], check=True, env=environment)
    imb = Path(library.mpicc).parent / "IMB-MPI1"
    keys = [(name, size) for name in collectives for size in sizes]
    times: Times = {key: defaultdict(list) for key in keys}
    programs = [
        lambda: of_bench(target, folder, keys, calls, times),
        lambda: of_loops(target, loops, "clock", keys, calls, times),
        lambda: of_loops(target, loops, "rested", keys, calls, times),
        lambda: of_loops(target, loops, "barrier", keys, calls, times),
    ]
    if imb.is_file():
        programs.append(lambda: of_imb(target, imb, folder, keys, calls, times))
    else:
        _log.info("%s brings no IMB-MPI1", library.title)
    for launch in range(launches):
        _log.info("launch %d of %d", launch + 1, launches)
        for number in range(len(programs)):
            programs[(launch + number) % len(programs)]()
    return times


def of_bench(target: LabTarget, folder: Path, keys: Sequence[Key], calls: int, times: Times) -> None:
    """Adds a launch of our own."""
    output = folder / "bench.jsonl"
    cases = [Case(size, 0, ("native",), name) for name, size in keys]
    work = work_for(target, cases, calls, patient=True)
    for key, samples in run_bench(target, work, output).slowest_s.items():
        times[key.collective, key.size_bytes][OURS].append(float(np.mean(samples)))
    output.unlink()


def of_loops(
    target: LabTarget, program: Path, start: str, keys: Sequence[Key], calls: int, times: Times
) -> None:
    """Adds a launch of OSU's loops."""
    words = [str(word) for key in keys for word in key]
    for line in printed(target, [str(program), start, str(calls), *words]).splitlines():
        name, size, _, most, slowest, apart = line.split()
        found = times[name, int(size)]
        if start in STARTS:
            found[STARTS[start]].append(float(slowest))
        else:
            found[OSU].append(float(most))
            found[SLOWEST].append(float(slowest))
            found[APART].append(float(apart))


def of_imb(
    target: LabTarget, program: Path, folder: Path, keys: Sequence[Key], calls: int, times: Times
) -> None:
    """Adds a launch of Intel's program, which does the smallest sizes that are named by a file."""
    lengths, output = folder / "lengths", folder / "IMB-MPI1.txt"
    lengths.write_text("".join(f"{size}\n" for size in sorted({size for _, size in keys})), encoding="utf-8")
    names = dict.fromkeys(name.capitalize() for name, _ in keys)
    limits = ["-npmin", str(target.rank_count), "-iter", str(calls), "-iter_policy", "off"]
    output.write_text(
        printed(target, [str(program), *names, *limits, "-msglen", str(lengths)]), encoding="utf-8"
    )
    for each in read_foreign_times(output, Labels()).observations:
        if (each.operation, each.size_bytes) in times:
            times[each.operation, each.size_bytes][IMB].append(each.time_s)


def printed(target: LabTarget, program: Sequence[str]) -> str:
    """What a program prints in the lab."""
    with target.launching() as launch:
        line = target.command(launch.line(program))
        done = subprocess.run(
            line, env=target.environment(), check=True, stdout=subprocess.PIPE, text=True, timeout=300
        )
    return done.stdout


def row(key: Key, by_program: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """A row of the result."""
    return {
        "collective": key[0],
        "size_bytes": key[1],
        "launches_s": {name: [float(f"{each:.4g}") for each in taken] for name, taken in by_program.items()},
    }


def table(document: Mapping[str, Any]) -> list[str]:
    """Markdown."""
    lines = [
        f"{document['target']}; medians of {document['launches']} launches, {document['calls']} calls each.",
        "",
        "| | bytes | bench, ms | loops, common start, ms | ratio | | OSU's loops, ms | IMB-MPI1, ms | ratio "
        "| | starts apart, ms | first start to last end, ms | after a rest: ratio |",
        "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for each in document["rows"]:
        taken = each["launches_s"]
        cells = [each["collective"], f"{each['size_bytes']:,}"]
        for one, other in ((OURS, CLOCK), (OSU, IMB)):
            if one in taken and other in taken:
                ratio = ratio_ci(taken[one], taken[other])
                cells += [ms(taken[one]), ms(taken[other]), interval(ratio), verdict(ratio)]
            else:
                cells += [ms(taken[one]), "-", "-", "-"]
        cells += [ms(taken[APART]), ms(taken[SLOWEST]), interval(ratio_ci(taken[RESTED], taken[CLOCK]))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdict(ratio: Interval) -> str:
    """Whether two programs say the same."""
    if ratio.low <= 1 <= ratio.high:
        return "agree"
    if ratio.low >= 1 / (1 + ALIKE) and ratio.high <= 1 + ALIKE:
        return f"within {100 * ALIKE:.0f} %"
    return "differ"


def ms(taken_s: Sequence[float]) -> str:
    return f"{1e3 * float(np.median(taken_s)):.3g}"


def interval(ratio: Interval) -> str:
    return f"{ratio.estimate:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
