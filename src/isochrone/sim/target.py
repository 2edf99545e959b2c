# SPDX-License-Identifier: BSD-3-Clause
"""Running the native programs on a simulated cluster."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from isochrone.errors import IsochroneError, UsageError
from isochrone.files import BCAST
from isochrone.launch.process import Talk, run_program
from isochrone.sim.build import build_platform, build_programs, find_tools
from isochrone.sim.platform import hostfile, platform_text, settings
from isochrone.sim.system import System, truth

Baseline = Literal["ompi", "mpich", "default"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)

# SimGrid's broadcasts that gave every rank the right bytes at 1 to 33 and at 128 ranks, for sizes from 1 byte
# to 4 MiB with odd ones among them. Left out, as they abort or deliver wrong bytes at some of these:
# SMP_linear, arrival_pattern_aware, arrival_scatter, flattree_pipeline, impi, and ompi_split_bintree (which
# ompi uses where it works). ompi_pipeline fails on 0 bytes only, and so does ompi at 2 and 3 ranks. Also left
# out: NTSL, NTSB and SMP_binary, whose pieces of 8 KiB take minutes to simulate (ompi_pipeline is the same
# chain as NTSL), and mvapich2, which only chooses among these.
BROADCASTS = (
    "binomial_tree",
    "scatter_rdb_allgather",
    "scatter_LR_allgather",
    "ompi_pipeline",
    "SMP_binomial",
    "flattree",
    "mpich",
    "ompi",
)

# These send as many messages as the square of the ranks: beyond so many ranks minutes to simulate.
RINGS = ("scatter_LR_allgather", "mpich")
MOST_IN_RING = 128


class SimTarget:
    """A simulated cluster, as a place to run the native programs (see ``launch.target.Target``).

    Attributes:
        system: the cluster.
        name: ``fram, noise 0.1 (simulated)``.
        simulated: True.
        exact: whether the cluster has no noise.
        cores: None: each rank has one of its own.
        truth: level name to group label of each rank.
        rank_count: of every run: one on each core, or as many as were asked for.
        identity: the cluster, and where the ranks are on it.
    """

    def __init__(self, system: System, baseline: str = "ompi", at: Sequence[int] | None = None) -> None:
        """``baseline`` is whose choice of collectives is "the library's own": ``ompi``, ``mpich`` or
        ``default``. With `at` there are as many ranks as it has entries, each where rank at[r] would be.

        Raises:
            UsageError: there is no such baseline.
        """
        if baseline not in BASELINES:
            raise UsageError(
                f"{baseline!r} is no baseline", "--sim-baseline", f"use one of {', '.join(BASELINES)}"
            )
        self.system = system
        noise = f", noise {system.noise:g}" if system.noise else ""
        other = f", {baseline} as the library's own" if baseline != "ompi" else ""
        self.name = f"{system.name}{noise}{other} (simulated)"
        self.simulated = True
        self.exact = system.noise == 0
        self.cores: int | None = None
        self._at = range(system.ranks) if at is None else tuple(at)
        levels = truth(system)
        self.truth: dict[str, list[int]] | None = {
            name: [labels[rank] for rank in self._at] for name, labels in levels.items()
        }
        self.rank_count: int | None = len(self._at)
        self.identity = repr((system, self._at))
        self.library = None
        self.launch_words: Sequence[str] = ()
        self._selector = baseline

    def with_variables(self, variables: Mapping[str, str]) -> SimTarget:
        """Raises IsochroneError: simulated libraries read no variables."""
        raise IsochroneError("a simulated library cannot be told by variables", self.name)

    def arranged(self, cores: Sequence[int]) -> SimTarget:
        """The same cluster with one rank on each of these cores, which count through all nodes."""
        return SimTarget(dataclasses.replace(self.system, placement="block"), self._selector, cores)

    def without_faults(self) -> SimTarget:
        """The same ranks where nothing is slower than all else says."""
        target = SimTarget(dataclasses.replace(self.system, faults=()), self._selector, self._at)
        target.name = self.name.replace(" (simulated)", ", no faults (simulated)")
        return target

    def baselines(self, collective: str) -> Sequence[str]:
        """The broadcasts that SimGrid can be told to use, as ``native:NAME``. Of its other collectives none
        was checked, so there are none of them.
        """
        if collective != BCAST:
            return ()
        return [
            f"native:{name}"
            for name in BROADCASTS
            if name != self._selector and not (name in RINGS and len(self._at) > MOST_IN_RING)
        ]

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """Runs ``isochrone-probe`` or ``isochrone-bench``, building it first where needed.

        Raises:
            IsochroneError: SimGrid is missing, building fails, or the program does.
        """
        # What the probe measures needs no collective; SimGrid's own cost least real time for those around it.
        selector = "default" if program == "isochrone-probe" else self._selector
        self.run_executable(build_programs(find_tools()) / program, arguments, selector, talk, self._at)

    def check(self, program: str, output: Path) -> None:
        """What is simulated is true."""

    def run_executable(
        self,
        executable: Path,
        arguments: Sequence[str],
        selector: str | None = None,
        talk: Talk | None = None,
        at: Sequence[int] | None = None,
    ) -> None:
        """Runs any program that smpicxx made, by default with the baseline's collectives. With `at` there are
        as many ranks as it has entries, each where rank at[r] would be.

        Raises:
            IsochroneError: SimGrid is missing, or the program cannot be started or fails.
        """
        tools = find_tools()
        platform = build_platform(tools)
        with tempfile.TemporaryDirectory(prefix="isochrone-sim.") as name:
            for word, todo in (
                *((word, "use another path") for word in (str(executable), *arguments)),
                (name, "set TMPDIR to another folder"),
            ):
                # smpirun is a shell script that does not quote what it passes on.
                if not word or any(c.isspace() or c in "*?[" for c in word):
                    what = "smpirun cannot pass blanks, '*', '?' or '[' to a program"
                    raise IsochroneError(what, repr(word), todo)
            folder = Path(name)
            described, hosts = folder / "platform.json", folder / "hosts"
            described.write_text(platform_text(self.system), encoding="utf-8")
            hosts.write_text(hostfile(self.system, at), encoding="utf-8")
            argv = [
                *(tools.smpirun, "-platform", str(platform), "-hostfile", str(hosts)),
                *("-np", str(self.system.ranks if at is None else len(at))),
                *settings(self.system, selector or self._selector),
                *(str(executable), *arguments),
            ]
            # TMPDIR: each rank loads a copy of the program, which is gone with the folder whatever happens.
            environment = {"ISOCHRONE_SIM_PLATFORM": str(described), "TMPDIR": name}
            run_program(argv, executable.name, environment, talk)
