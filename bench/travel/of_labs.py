# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a benchmark with a row for each lab and library. What a result has of the same is
replaced.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from result_rows import read_rows, write_rows


def run(
    description: str,
    command: str,
    measured: Callable[[argparse.Namespace], Mapping[str, Any]],
    table: Callable[[Sequence[Mapping[str, Any]]], Sequence[str]],
    launches: int,
    calls: int,
    help_on_launches: str | None = None,
) -> int:
    """Measures one lab and library, or with --table nothing, and prints the table. Returns the exit code.
    `launches` and `calls` are those of a run that asks for no others.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("name", nargs="?")
    parser.add_argument("mpi", nargs="?")
    parser.add_argument("--launches", type=int, default=launches, help=help_on_launches)
    parser.add_argument("--calls", type=int, default=calls)
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        if wanted.mpi is None:
            parser.error("where to run is missing")
        row = measured(wanted)
        others = [other for other in read_rows(wanted.result) if other["where"] != row["where"]]
        write_rows(wanted.result, {"command": command}, [*others, row])
    print("\n".join(table(read_rows(wanted.result))))
    return 0
