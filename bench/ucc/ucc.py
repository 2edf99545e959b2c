#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What UCC gains in a lab by the scores that are exported of a survey with Open MPI or MPICH.

Usage: ucc.py RESULT.json LAB --system FOLDER --survey FOLDER [--launches N] [--calls N]
       ucc.py RESULT.json --table

The system is one of scripts/debian-with-ucc, whose Open MPI runs collectives by UCC. The program (calls.c)
runs there with UCC as it is and with the scores, in turn, and with Open MPI's own collectives beside. What
RESULT.json has of a lab and survey is replaced.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "travel"))
from result_rows import read_rows, write_rows
from travel import Times, in_turn, late_median_s, times_in, words_of

from isochrone.export.tuning import find_form, read_material
from isochrone.files import provenance
from isochrone.lab.labs import Lab
from isochrone.lab.launch import CARD
from isochrone.lab.target import Ranks, open_lab
from isochrone.launch.build import build_for
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT
from isochrone.launch.registry import find_library
from isochrone.statistics import ratio_ci
from isochrone.units import format_bytes

BENCH = Path(__file__).parents[1]
KINDS = [
    (name, size)
    for name in ("bcast", "reduce", "allreduce", "allgather")
    for size in (64, 8192, 65536, 262144)
    if name != "allgather" or size < 262144
]
BY_UCC = {"OMPI_MCA_coll_ucc_enable": "1", "OMPI_MCA_coll_ucc_priority": "100"}
NETWORK = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,sm,self",
    "OMPI_MCA_btl_tcp_if_include": CARD,
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": CARD,
}
# Of the host that it is called in: what the system needs to see of it.
INSIDE = """\
#!/bin/sh
# inside COMMAND...: runs a command in this system, on the host that it is called in.
for name in proc sys dev; do
    mountpoint -q {system}/$name || mount --rbind /$name {system}/$name
done
exec chroot {system} env --chdir={folder} "$@"
"""
# The launcher's daemons start outside of the system, by the lab's own agent, which leads back into it.
AGENT = """\
#!/bin/sh
# agent HOST COMMAND...: takes ssh's place for the system's launcher.
host=$1
shift
echo "$*" >{folder}/start.$host
exec nsenter --target 1 --mount -- {agent} $host {system}{folder}/inside sh {folder}/start.$host
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Times UCC in a lab with exported scores.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    parser.add_argument("lab", nargs="?", metavar="LAB")
    parser.add_argument("--system", type=Path, help="of scripts/debian-with-ucc")
    parser.add_argument("--survey", type=Path, help="with --rivals, of the same lab")
    parser.add_argument("--launches", type=int, default=6, help="fewer than six prove nothing")
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--table", action="store_true", help="print the table of a result")
    wanted = parser.parse_args()
    if not wanted.table:
        if wanted.lab is None or wanted.system is None or wanted.survey is None:
            parser.error("LAB, --system and --survey are needed")
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        row = measured(wanted)
        others = [each for each in read_rows(wanted.result) if each["where"] != row["where"]]
        write_rows(wanted.result, {"command": "bench/ucc/ucc.py"}, [*others, row])
    print("\n".join(table(read_rows(wanted.result))))
    return 0


def measured(wanted: argparse.Namespace) -> dict[str, Any]:
    """One lab, with the scores of one survey."""
    material = read_material(wanted.survey)
    scores = find_form("ucc-scores").write(material)
    ways = {"open-mpi": {}, "ucc": BY_UCC, "scores": BY_UCC | dict(scores.settings)}
    with open_lab(wanted.lab) as lab, prepared(wanted.system, lab) as folder:
        took = in_turn(
            lambda variables: launched(wanted.system, folder, lab, variables, wanted.calls),
            ways,
            wanted.launches,
        )
    kinds = []
    for name, size in KINDS:
        times = {way: [late_median_s(each[name, size]) for each in found] for way, found in took.items()}
        speedup = ratio_ci(times["ucc"], times["scores"])
        kinds.append(
            {
                "collective": name,
                "size_bytes": size,
                "launches_s": times,
                "speedup": [speedup.estimate, speedup.low, speedup.high],
            }
        )
    return {
        "where": f"{wanted.lab}, scores of {' '.join(material.version)}",
        "scores": dict(scores.settings),
        "launches": wanted.launches,
        "calls": wanted.calls,
        "provenance": provenance(),
        "kinds": kinds,
    }


@contextmanager
def prepared(system: Path, lab: Lab) -> Iterator[Path]:
    """The folder of the program and what launches it, by its name within the system."""
    folder = Path("/opt/isochrone-ucc")
    here = system / folder.relative_to("/")
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir(parents=True)
    (here / "travel").mkdir()
    shutil.copy(BENCH / "clock.h", here)
    shutil.copy(BENCH / "travel" / "calls.c", here / "travel")
    # It is the same for all libraries, and lets ranks that share cores take turns.
    shutil.copy(build_for(find_library("openmpi")).idle, here)
    for name, text in (("inside", INSIDE), ("agent", AGENT)):
        filled = text.replace("{system}", str(system.absolute())).replace("{folder}", str(folder))
        (here / name).write_text(filled.replace("{agent}", str(lab.agent)), encoding="utf-8")
        (here / name).chmod(0o755)
    names, hosts = lab.network.host_names, Ranks.on(lab.network, None, 2, "block", 1).hosts
    (here / "hosts").write_text("".join(f"{names[host]}\n" for host in hosts), encoding="ascii")
    compiler = ["mpicc", "-O2", "-o", f"{folder}/calls", f"{folder}/travel/calls.c"]
    subprocess.run(["chroot", str(system), *compiler], check=True)
    try:
        yield folder
    finally:
        shutil.rmtree(here)


def launched(system: Path, folder: Path, lab: Lab, variables: Mapping[str, str], calls: int) -> Times:
    """Runs the program in the system, on the hosts of the lab."""
    here = system / folder.relative_to("/")
    ranks = NETWORK | dict(variables) | {"LD_PRELOAD": f"{folder}/libisochrone_idle.so"}
    line = [
        *(str(here / "inside"), "env", *(f"{name}={value}" for name, value in OPEN_MPI_AS_ROOT.items())),
        *("mpirun", "--prtemca", "plm_ssh_agent", str(folder / "agent")),
        *("--prtemca", "prte_if_include", CARD),
        *("--hostfile", str(folder / "hosts"), "--map-by", "seq", "--bind-to", "none"),
        *(word for name, value in ranks.items() for word in ("-x", f"{name}={value}")),
        *("./calls", *words_of(KINDS, calls)),
    ]
    command = lab.command(lab.network.host_names[0], line)
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    return times_in(found.stdout)


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    lines = [
        "| where | collective | bytes | Open MPI, ms | UCC, ms | UCC with scores, ms | UCC / with scores |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        for kind in row["kinds"]:
            times = (float(np.median(kind["launches_s"][way])) * 1e3 for way in ("open-mpi", "ucc", "scores"))
            estimate, low, high = kind["speedup"]
            cells = " | ".join(f"{each:.2f}" for each in times)
            lines.append(
                f"| {row['where']} | {kind['collective']} | {format_bytes(kind['size_bytes'])} | {cells} | "
                f"{estimate:.2f} [{low:.2f}, {high:.2f}] |"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
