# SPDX-License-Identifier: BSD-3-Clause
"""Running the native programs, and any other MPI program, in a lab."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.lab.description import load_network
from isochrone.lab.guard import check_bench, check_probe
from isochrone.lab.labs import Lab, find_lab
from isochrone.lab.launch import Launch, place_ranks
from isochrone.lab.network import Network
from isochrone.lab.start import temporary_lab
from isochrone.launch.build import behind, build_for
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT, core_count
from isochrone.launch.library import MpiLibrary
from isochrone.launch.process import Talk, end_with_parent, exit_code_of, run_program
from isochrone.launch.target import EVERYTHING_TOLD

_RANKS_ON_A_HOST = 2


@dataclass(frozen=True)
class Ranks:
    """The ranks of a job and where they run.

    Attributes:
        hosts: number of the host of each rank.
        placement: ``block``, ``cyclic`` or ``random``.
    """

    hosts: tuple[int, ...]
    placement: str

    @staticmethod
    def on(
        network: Network, ranks: int | None, per_host: int | None, placement: str | None, seed: int | None
    ) -> Ranks:
        """By default two on each host, block after block.

        Raises:
            UsageError: they do not fit.
        """
        per_host = per_host or _RANKS_ON_A_HOST
        placement = placement or "block"
        count = len(network.hosts)
        return Ranks(
            tuple(
                place_ranks(
                    count, ranks or count * per_host, per_host, placement, 1 if seed is None else seed
                )
            ),
            placement,
        )

    @staticmethod
    def mapped(network: Network, hosts: Sequence[str]) -> Ranks:
        """Each on the host of that name.

        Raises:
            UsageError: the network has none of that name.
        """
        numbers = {name: number for number, name in enumerate(network.host_names)}
        for host in hosts:
            if host not in numbers:
                raise UsageError(
                    f"the mapping has ranks on {host[:40]!r}, which is no host of the lab",
                    todo="map them on a topology of this lab",
                )
        return Ranks(tuple(numbers[host] for host in hosts), "mapped")


@contextlib.contextmanager
def open_lab(name_or_file: str) -> Iterator[Lab]:
    """The lab of that name if it is up; else the described one, for as long as it is needed.

    Raises:
        IsochroneError: there is no such description, or the lab cannot be started.
    """
    lab = find_lab(name_or_file)
    if lab is not None:
        yield lab
        return
    with temporary_lab(load_network(name_or_file)) as lab:
        yield lab


class LabTarget:
    """An MPI library in a lab, as a place to run the native programs (see ``launch.target.Target``).

    Attributes:
        lab: that is up.
        library: the MPI library.
        ranks: where the ranks run.
        idle_wait: whether waiting ranks leave their core to others.
    """

    def __init__(
        self,
        lab: Lab,
        library: MpiLibrary,
        ranks: Ranks,
        idle_wait: bool | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """``settings`` are more variables for the ranks. By default ranks idle where they outnumber cores."""
        self.lab = lab
        self.library = library
        self.ranks = ranks
        self.idle_wait = len(ranks.hosts) > core_count() if idle_wait is None else idle_wait
        self.cores = os.cpu_count()
        self.simulated = False
        self.exact = False
        self.truth: dict[str, list[int]] | None = lab.network.truth(ranks.hosts)
        self.rank_count: int | None = len(ranks.hosts)
        self.identity = repr((lab.network, ranks.hosts))
        self.launch_words: Sequence[str] = ()
        self._settings = dict(settings or {})
        idle = "idle ranks wait" if self.idle_wait else "idle ranks poll"
        # A lab for one command has another name in each run, and what was stopped is to go on.
        self.name = (
            f"lab {lab.network.name}, {library.title}, {len(ranks.hosts)} ranks, "
            f"{ranks.placement} placement, {idle}"
        )

    def with_variables(self, variables: Mapping[str, str]) -> LabTarget:
        """The same ranks, whose library is started with more variables."""
        return LabTarget(self.lab, self.library, self.ranks, self.idle_wait, {**self._settings, **variables})

    def arranged(self, hosts: Sequence[int], placement: str) -> LabTarget:
        """The same library with a rank on each of these hosts, by their numbers; idle as here."""
        ranks = Ranks(tuple(hosts), placement)
        return LabTarget(self.lab, self.library, ranks, self.idle_wait, self._settings)

    def baselines(self, collective: str) -> Sequence[str]:
        """All that the library can be told to use for a collective."""
        return EVERYTHING_TOLD

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """Runs ``isochrone-probe`` or ``isochrone-bench``, building it first where needed.

        Raises:
            IsochroneError: when building or running fails.
        """
        executable = build_for(self.library).program(program)
        # Open MPI listens to being told an algorithm only if it is started so; its own choice stays the same.
        told = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"} if program == "isochrone-bench" else {}
        with self.launching(told) as launch:
            line = self.command(launch.line([str(executable), *arguments]))
            run_program(line, program, self._variables(), talk)

    def check(self, program: str, output: Path) -> None:
        """Raises GateError when messages were faster than the emulated network is."""
        check = check_probe if program == "isochrone-probe" else check_bench
        check(output, self.lab.network, self.ranks.hosts)

    @contextlib.contextmanager
    def launching(self, variables: Mapping[str, str] | None = None) -> Iterator[Launch]:
        """What launches a program in the lab; its files are gone at the end. `variables` are for the ranks.

        Raises:
            IsochroneError: building for the library fails.
        """
        variables = {**self._settings, **(variables or {})}
        if self.idle_wait:
            idle = build_for(self.library).idle
            variables["LD_PRELOAD"] = behind(variables.get("LD_PRELOAD", ""), idle)
        names = self.lab.network.host_names
        hosts = [names[host] for host in self.ranks.hosts]
        # Daemons may be at their end for a moment longer than what they started.
        with tempfile.TemporaryDirectory(prefix="isochrone-lab.", ignore_cleanup_errors=True) as folder:
            yield Launch(self.lab, self.library, hosts, Path(folder), variables)

    def command(self, line: Sequence[str]) -> list[str]:
        """The command line that starts a launcher in the lab, on its first host."""
        return self.lab.command(self.lab.network.host_names[0], line)

    def environment(self) -> dict[str, str]:
        """Ours, and what the launcher needs beside it."""
        return os.environ | self._variables()

    def _variables(self) -> dict[str, str]:
        environment = {**self.library.environment}
        if self.library.vendor == "Open MPI":
            # Who starts a lab is root in it, and its hosts have as many slots as they are given ranks.
            environment |= {**OPEN_MPI_AS_ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        return environment

    def execute(
        self, program: Sequence[str], variables: Mapping[str, str] | None = None, quiet: bool = False
    ) -> int:
        """Runs any MPI program with our own standard streams, and `variables` for its ranks; returns its exit
        code, 128 + N if signal N ended it. If `quiet`, its standard output goes to standard error.

        Raises:
            IsochroneError: it cannot be started.
        """
        with self.launching(variables) as launch:
            try:
                done = subprocess.run(
                    self.command(launch.line(program)),
                    env=self.environment(),
                    stdout=sys.stderr if quiet else None,
                    preexec_fn=end_with_parent,
                )
                return exit_code_of(done.returncode)
            except OSError as error:
                raise IsochroneError(f"cannot be started: {error.strerror}", "nsenter") from None
