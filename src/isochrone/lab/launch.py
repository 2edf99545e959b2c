# SPDX-License-Identifier: BSD-3-Clause
"""Launch lines of the MPI libraries in a lab: every rank on the host that the placement gives it, its
messages over the lab's network.
"""

from __future__ import annotations

import itertools
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.lab.labs import Lab
from isochrone.launch.launcher import OPEN_MPI_AS_ROOT
from isochrone.launch.library import MpiLibrary

PLACEMENTS = ("block", "cyclic", "random")
CARD = "eth0"
"""The network card of each host."""
_RANKMAP_SINCE = (4, 2)
_log = logging.getLogger(__name__)


def place_ranks(hosts: int, ranks: int, per_host: int, placement: str, seed: int) -> list[int]:
    """The host of each rank.

    ``block`` fills host after host, ``cyclic`` deals the ranks out to the hosts in turn, ``random`` shuffles
    them.

    Raises:
        UsageError: they do not fit, or there is no such placement.
    """
    if placement not in PLACEMENTS:
        raise UsageError(
            f"{placement!r} is no placement", "--placement", f"use one of {', '.join(PLACEMENTS)}"
        )
    used = -(-ranks // per_host)
    if not 0 < used <= hosts:
        raise UsageError(
            f"{ranks} ranks, {per_host} on a host, need {used} hosts, and the lab has {hosts}",
            todo=f"use at most {hosts * per_host} ranks, or a larger --ppn",
        )
    block = [rank // per_host for rank in range(ranks)]
    if placement == "cyclic":
        return [host for turn in range(per_host) for host in range(used) if turn < block.count(host)]
    if placement == "random":
        random.Random(seed).shuffle(block)  # noqa: S311 - for repetition, not for secrets
    return block


@dataclass(frozen=True)
class Launch:
    """What is launched, by which library, and where.

    Attributes:
        library: its launcher must be known.
        hosts: name of the host of each rank.
        folder: for the files that launchers read.
        environment: variables of the ranks.
    """

    lab: Lab
    library: MpiLibrary
    hosts: Sequence[str]
    folder: Path
    environment: Mapping[str, str]

    def line(self, program: Sequence[str]) -> list[str]:
        """The command line, for a host of the lab.

        Raises:
            IsochroneError: the library has no launcher, or is none that labs know.
        """
        if self.library.launcher is None:
            raise IsochroneError(
                f"no launcher of {self.library.title} is known",
                todo="add the library with: isochrone mpi add MPICC --launcher MPIEXEC",
            )
        if self.library.vendor == "Open MPI":
            return self._open_mpi(self.library.launcher, program)
        return self._hydra(self.library.launcher, program)

    def _open_mpi(self, launcher: str, program: Sequence[str]) -> list[str]:
        hostfile = self.folder / "hosts"
        if _number(self.library) >= (5,):
            # Daemons leave folders named by their process when they are killed, and don't start where one is:
            # a lab's processes have the same small numbers each time.
            settings = {
                "plm_ssh_agent": str(self.lab.agent),
                "prte_if_include": CARD,
                "prte_tmpdir_base": str(self.folder),
            }
            agent = [word for item in settings.items() for word in ("--prtemca", *item)]
        else:
            agent = ["--mca", "plm_rsh_agent", str(self.lab.agent), "--mca", "oob_tcp_if_include", CARD]
        # One line for each rank: the sequential mapper goes through them in order.
        hostfile.write_text("".join(f"{host}\n" for host in self.hosts), encoding="ascii")
        variables = [word for item in self._variables().items() for word in ("-x", "=".join(item))]
        return [
            *(launcher, *agent, "--hostfile", str(hostfile), "--map-by", "seq", "--bind-to", "none"),
            *("-n", str(len(self.hosts)), *variables, *program),
        ]

    def _hydra(self, launcher: str, program: Sequence[str]) -> list[str]:
        variables = [word for name, value in self._variables().items() for word in ("-genv", name, value)]
        start = [launcher, "-launcher", "ssh", "-launcher-exec", str(self.lab.agent), "-iface", CARD]
        count = str(len(self.hosts))
        if self.library.vendor == "Intel MPI":
            # It takes a host for each part between colons, and finds out by itself who shares memory.
            parts = [word for host in self.hosts for word in (":", "-n", "1", "-host", host, *program)]
            return [*start, *variables, *parts[1:]]
        if _number(self.library) >= _RANKMAP_SINCE:
            names = sorted(set(self.hosts), key=self.hosts.index)
            ranks = ",".join(str(names.index(host)) for host in self.hosts)
            return [*start, "-hosts", ",".join(names), "-rankmap", ranks, "-n", count, *variables, *program]
        scattered = len(list(itertools.groupby(self.hosts))) > len(set(self.hosts))
        if scattered:
            _log.warning(
                "%s takes ranks of one host that are not next to each other for ranks on several hosts: "
                "they don't share memory",
                self.library.title,
            )
        hostfile = self.folder / "hosts"
        hostfile.write_text("".join(f"{host}:1\n" for host in self.hosts), encoding="ascii")
        return [*start, "-f", str(hostfile), "-n", count, *variables, *program]

    def _variables(self) -> dict[str, str]:
        return {**network_variables(self.library), **self.environment}


def network_variables(library: MpiLibrary) -> dict[str, str]:
    """Variables for the ranks, that send their messages over the lab's network."""
    if library.vendor == "Open MPI":
        shared_memory = "sm" if _number(library) >= (5,) else "vader"
        return {
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": f"tcp,{shared_memory},self",
            "OMPI_MCA_btl_tcp_if_include": CARD,
        }
    # Left to itself UCX finds that all hosts are one machine, and goes around the network.
    settings = {
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": CARD,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": CARD,
    }
    if library.vendor == "Intel MPI":
        settings |= {"I_MPI_FABRICS": "shm:ofi", "I_MPI_PIN": "0"}
    return settings


def launcher_variables(lab: Lab, library: MpiLibrary) -> dict[str, str]:
    """Variables that bring a library's launcher and its messages onto the lab, with any launch line."""
    variables = {**library.environment, **network_variables(library)}
    agent = str(lab.agent)
    if library.vendor == "Open MPI":
        variables |= OPEN_MPI_AS_ROOT
        variables |= {"PRTE_MCA_plm_ssh_agent": agent, "PRTE_MCA_prte_if_include": CARD}
        variables |= {"OMPI_MCA_plm_rsh_agent": agent, "OMPI_MCA_oob_tcp_if_include": CARD}
        return variables
    for prefix, launcher in (("HYDRA", "LAUNCHER"), ("I_MPI_HYDRA", "BOOTSTRAP")):
        variables |= {
            f"{prefix}_{launcher}": "ssh",
            f"{prefix}_{launcher}_EXEC": agent,
            f"{prefix}_IFACE": CARD,
        }
    return variables


def _number(library: MpiLibrary) -> tuple[int, ...]:
    return tuple(int(part) for part in library.version.split(".")[:2] if part.isdecimal())
