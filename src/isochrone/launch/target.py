# SPDX-License-Identifier: BSD-3-Clause
"""Places to run the native programs: the `Target` protocol, and the MPI of a launcher's command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from isochrone.launch.build import behind, build_for
from isochrone.launch.launcher import (
    forbid_program,
    forbid_streams,
    is_oversubscribed,
    launch_environment,
    read_launch_line,
    runs_here,
)
from isochrone.launch.library import MpiLibrary
from isochrone.launch.options import Family
from isochrone.launch.process import Talk, run_program
from isochrone.launch.registry import library_of

EVERYTHING_TOLD = ("native:*",)
"""The baselines of a library that the benchmark asks what it can be told."""
_HEARD = ("OMPI_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "I_MPI_", "UCX_", "FI_")
"""Variables of the environment that MPI libraries, and what sends their messages, listen to."""


class Target(Protocol):
    """A place to run the native programs.

    Attributes:
        name: for people, such as ``mpiexec -n 4``.
        simulated: whether its clock is simulated.
        exact: whether times have no noise, so that one repetition tells all.
        cores: of the one machine that all ranks share; None where there are several, or each rank has a core
            of its own.
        truth: level name to group label of each rank, where it is known.
        rank_count: how many ranks it starts; None where it leaves that to its launcher.
        identity: what times depend on here beside the name; a text that is alike in each run.
        launch_words: of the launch line, where the user may have set what the library listens to.
    """

    name: str
    simulated: bool
    exact: bool
    cores: int | None
    truth: dict[str, list[int]] | None
    rank_count: int | None
    identity: str
    launch_words: Sequence[str]

    @property
    def library(self) -> MpiLibrary | None:
        """The MPI library; None where it is a simulated one."""

    def with_variables(self, variables: Mapping[str, str]) -> Target:
        """The same place, whose MPI library is started with more variables; raises IsochroneError where it
        cannot be told anything.
        """

    def baselines(self, collective: str) -> Sequence[str]:
        """``native:…`` selectors of what the library can be told to use for a collective."""

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """Runs ``isochrone-probe`` or ``isochrone-bench`` with its arguments, and talks with it; raises
        IsochroneError if it fails.
        """

    def check(self, program: str, output: Path) -> None:
        """Raises GateError where what a program wrote cannot be true here."""


class LocalTarget:
    """The MPI library of a launcher's command line, such as ``mpiexec -n 4``.

    Raises:
        UsageError: when the line has no known launcher, or names a program.
        IsochroneError: when no MPI library for it is found.
    """

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        """``variables`` are more of them for the library."""
        self._line = read_launch_line(argv)
        forbid_program(self._line)
        forbid_streams(self._line)
        self.library: MpiLibrary = library_of(self._line)
        self._variables = dict(variables or {})
        self._argv = tuple(argv)
        self.launch_words: Sequence[str] = self._line.words
        self.name = " ".join(argv)
        self.simulated = False
        self.exact = False
        self.cores = len(os.sched_getaffinity(0)) if runs_here(self._line) else None
        self.truth: dict[str, list[int]] | None = None
        self.rank_count = self._line.ranks
        heard = {name: value for name, value in os.environ.items() if name.startswith(_HEARD)}
        self.identity = repr(sorted(heard.items()))

    def with_variables(self, variables: Mapping[str, str]) -> LocalTarget:
        """The same launch line, whose library is started with more variables."""
        return LocalTarget(self._argv, {**self._variables, **variables})

    def baselines(self, collective: str) -> Sequence[str]:
        """All that the library can be told to use for a collective."""
        return EVERYTHING_TOLD

    def run(self, program: str, arguments: Sequence[str], talk: Talk | None = None) -> None:
        """Runs a native program under the launcher, building it first where needed.

        Raises:
            IsochroneError: when building or running fails.
        """
        build = build_for(self.library)
        argv = [str(self._line.executable), *self._line.argv[1:], str(build.program(program)), *arguments]
        # Open MPI listens to being told an algorithm only if it is started so; its own choice stays the same.
        told = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"} if program == "isochrone-bench" else {}
        environment = {
            **self.library.environment,
            **launch_environment(self._line),
            **told,
            **self._variables,
        }
        if self._line.family is Family.HYDRA and is_oversubscribed(self._line):
            # Open MPI's ranks yield by themselves. Those of others take minutes for what takes seconds.
            environment["LD_PRELOAD"] = behind(os.environ.get("LD_PRELOAD", ""), build.idle)
        run_program(argv, program, environment, talk)

    def check(self, program: str, output: Path) -> None:
        """Nothing is known here that could not be true."""
