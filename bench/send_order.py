#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether links divide themselves among messages: broadcasts whose sends go at once, or one after the other.

Usage: send_order.py [--mpi NAME,...]

Eight hosts at one switch, in a simulation and in a lab whose cables are so slow that nothing else counts.
Times are multiples of what the message takes on one cable. See docs/models.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget

HOSTS, BYTES, SEGMENTS, CALLS = 8, 1 << 20, 8, 10
LAB_BYTES_PER_S, SIM_BYTES_PER_S = 25e6, 1e9
SIMULATED = """
name: hosts
description: Eight hosts at one switch
nodes: 8
sockets: 1
cores: 1
links:
  socket: {latency: 0.3us, bandwidth: 10GB/s}
  node: {latency: 0.5us, bandwidth: 10GB/s}
  network: {latency: 1us, bandwidth: 1GB/s, capacity: 1GB/s}
network: {kind: star}
"""
LAB = """
name: slow-hosts
description: Eight hosts at one switch, 200 Mbit/s
host: {rate: 200Mbit/s, delay: 50us}
rack: {rate: 10Gbit/s, delay: 10us}
racks:
  - {hosts: 8}
"""
SOURCE = Path(__file__).parent / "send_order.c"
WORDS = [str(each) for each in (BYTES, SEGMENTS, CALLS)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Broadcasts with sends at once, or one after the other.")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    wanted = parser.parse_args()
    print("| | tree, sends at once | one by one | chain, segments at once | one by one |")
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="isochrone-order.") as made:
        folder = Path(made)
        (folder / "sim.yaml").write_text(SIMULATED, encoding="utf-8")
        (folder / "lab.yaml").write_text(LAB, encoding="utf-8")
        show("SimGrid", simulated(folder), SIM_BYTES_PER_S)
        with open_lab(str(folder / "lab.yaml")) as lab:
            for name in wanted.mpi.split(","):
                target = LabTarget(lab, find_library(name), Ranks.on(lab.network, HOSTS, 1, None, None))
                show(target.library.title, in_lab(target, folder), LAB_BYTES_PER_S)
    return 0


def simulated(folder: Path) -> list[float]:
    """Seconds of each way."""
    program, output = folder / "simulated", folder / "simulated.txt"
    subprocess.run(["smpicc", "-O2", "-o", program, SOURCE], check=True)
    target = SimTarget(load_system(str(folder / "sim.yaml")))
    target.run_executable(program, [*WORDS, str(output)])
    return [float(word) for word in output.read_text(encoding="utf-8").split()]


def in_lab(target: LabTarget, folder: Path) -> list[float]:
    """Seconds of each way."""
    program, output = folder / target.library.name, folder / f"{target.library.name}.txt"
    environment = target.environment()
    subprocess.run([target.library.mpicc, "-O2", "-o", program, SOURCE], check=True, env=environment)
    with target.launching() as launch:
        line = target.command(launch.line([str(program), *WORDS, str(output)]))
        subprocess.run(line, env=environment, check=True, timeout=120)
    return [float(word) for word in output.read_text(encoding="utf-8").split()]


def show(name: str, taken_s: Sequence[float], bytes_per_s: float) -> None:
    """A row of the table."""
    cells = [f"{each * bytes_per_s / BYTES:.2f}" for each in taken_s]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
