# SPDX-License-Identifier: BSD-3-Clause
"""isochrone-probe, compiled for each MPI library at hand and ready to be launched."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native" / "mpi"
CORE = NATIVE.parent / "core"
TIMEOUT_S = 120

# Hosts are named as the simulated clusters name theirs: node, and core on it. Bandwidth is boundless, since
# SimGrid gives even an empty message some bytes.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="a" prefix="n0.c" suffix="" radical="0-2" speed="1Gf" bw="100TBps" lat="0.25us"
      router_id="ra"/>
    <cluster id="b" prefix="n1.c" suffix="" radical="0-2" speed="1Gf" bw="100TBps" lat="0.25us"
      router_id="rb"/>
    <link id="between" bandwidth="100TBps" latency="1us"/>
    <zoneRoute src="a" dst="b" gw_src="ra" gw_dst="rb"><link_ctn id="between"/></zoneRoute>
  </zone>
</platform>
"""
SIMULATED_HOSTS = ["n0.c0", "n1.c0", "n0.c1", "n1.c1", "n0.c2", "n1.c2"]


@dataclass(frozen=True)
class Probe:
    """The probe under one MPI library."""

    mpi: str
    program: Path
    folder: Path

    @property
    def simulated(self) -> bool:
        return self.mpi == "smpi"

    def command(self, ranks: int, arguments: Sequence[str]) -> list[str]:
        if not self.simulated:
            return [f"mpiexec.{self.mpi}", "-n", str(ranks), str(self.program), *arguments]
        hosts = self.folder / f"hosts-{ranks}"
        hosts.write_text("\n".join(SIMULATED_HOSTS[:ranks]) + "\n", encoding="utf-8")
        platform = self.folder / "platform.xml"
        platform.write_text(PLATFORM, encoding="utf-8")
        exact = ["lat-factor:0:1", "bw-factor:0:1", "simulate-computation:no", "host-speed:1Gf"]
        return [
            *("smpirun", "-np", str(ranks), "-hostfile", str(hosts), "-platform", str(platform)),
            *(f"--cfg=smpi/{setting}" for setting in exact),
            "--log=root.thresh:critical",
            *(str(self.program), *arguments),
        ]

    def environment(self) -> dict[str, str]:
        settings = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }
        return {**os.environ, **settings}

    def start(self, ranks: int, *arguments: str, stdin: bool = False) -> subprocess.Popen[str]:
        """Starts the probe in a process group of its own."""
        return subprocess.Popen(
            self.command(ranks, arguments),
            stdin=subprocess.PIPE if stdin else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )

    def run(self, ranks: int, *arguments: str) -> Ended:
        """Runs the probe to its end. A hang fails the test."""
        process = self.start(ranks, *arguments)
        try:
            output, errors = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            raise
        ours = [line for line in errors.splitlines() if line.startswith("isochrone-probe: ")]
        progress = [line for line in errors.splitlines() if line.startswith("progress ")]
        return Ended(process.returncode, output, ours, progress)


@dataclass(frozen=True)
class Ended:
    """How a run ended: what the probe itself said, without the launcher's remarks."""

    code: int
    output: str
    messages: list[str]
    progress: list[str]


COMPILERS = {
    "openmpi": ["mpicxx.openmpi", "-DOMPI_SKIP_MPICXX"],
    "mpich": ["mpicxx.mpich", "-DMPICH_SKIP_MPICXX"],
    "smpi": ["smpicxx", "-DISOCHRONE_SMPI=1"],
}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """compiled(mpi): the probe's executable, compiled when it is asked for first."""
    folder = tmp_path_factory.mktemp("compiled")
    # One translation unit, because the headers of JSON and of the command line take most of the time.
    rooms = [*(NATIVE / room for room in ("comm", "clock", "probe")), CORE / "json"]
    sources = [path for room in rooms for path in sorted(room.glob("*.cpp"))]
    unit = folder / "probe.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in sources), encoding="utf-8")

    def compile_for(mpi: str) -> Path:
        program = folder / mpi
        if not program.exists():
            command = [
                *COMPILERS[mpi],
                "-std=c++20",
                "-O0",
                f"-I{NATIVE}",
                f"-I{CORE}",
                str(unit),
                "-o",
                str(program),
            ]
            subprocess.run(command, check=True)
        return program

    return compile_for


@pytest.fixture(params=sorted(COMPILERS))
def probe(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[[str], Path]) -> Probe:
    """The probe under each MPI library; one that is missing is skipped, but not by CI."""
    mpi: str = request.param
    if shutil.which(COMPILERS[mpi][0]) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{COMPILERS[mpi][0]} is missing")
        pytest.skip(f"{COMPILERS[mpi][0]} is not installed")
    return Probe(mpi, compiled(mpi), tmp_path)


@pytest.fixture
def output(probe: Probe) -> Path:
    """Where a test has its measurements."""
    return probe.folder / "measurements.jsonl"
