# SPDX-License-Identifier: BSD-3-Clause
"""Understanding a launcher's command line as the user types it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.errors import UsageError
from isochrone.launch.options import Family, option_length, rank_count

_TIMEOUT_S = 60
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Variables with which Open MPI's launchers start for root."""
_CPUS = Path("/sys/devices/system/cpu")
_FAMILIES = (
    (Family.OPENMPI, re.compile(r"\((?:Open MPI|OpenRTE|PRRTE)\) v?(\d[\w.]*)")),
    (Family.OPENMPI, re.compile(r"(?:Open MPI|OpenRTE|PRRTE) v?(\d[\w.]*)")),
    (Family.HYDRA, re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)")),
    (Family.HYDRA, re.compile(r"Intel\(R\) MPI Library.*?Version (\d[\w.]*)", re.DOTALL)),
    (Family.SLURM, re.compile(r"^slurm\S* (\d[\w.]*)", re.MULTILINE)),
    (Family.SIMGRID, re.compile(r"SimGrid version (\d[\w.]*)")),
)


@dataclass(frozen=True)
class Context:
    """One part of a launch line between colons (MPMD): its options and its program.

    Attributes:
        start: index of its first word in the line.
        program: index of its program; `end` when it has none.
        end: index after its last word.
        ranks: what ``-n`` asks for.
    """

    start: int
    program: int
    end: int
    ranks: int | None


@dataclass(frozen=True)
class LaunchLine:
    """A launcher's command line.

    Attributes:
        argv: the words as typed, the launcher first.
        executable: the launcher's file, by an absolute path whose links are not followed.
        family: which launchers it reads its options like.
        version: the launcher's own version.
        contexts: the parts between colons, one unless the line starts several programs.
    """

    argv: tuple[str, ...]
    executable: Path
    family: Family
    version: str
    contexts: tuple[Context, ...]

    @property
    def ranks(self) -> int | None:
        """The number of ranks that the line asks for; None where it leaves that to the launcher."""
        counts = [context.ranks for context in self.contexts]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that the line starts, in their order; empty when it names none."""
        return tuple(self.argv[c.program] for c in self.contexts if c.program < c.end)

    def options(self) -> list[tuple[str, ...]]:
        """Every option with its values, of all contexts."""
        return [option for context in self.contexts for option in _options(self.family, self.argv, context)]

    @property
    def exported(self) -> str:
        """What srun exports by the user's will: its option, else SLURM_EXPORT_ENV, else everything."""
        given = os.environ.get("SLURM_EXPORT_ENV", "ALL")
        for option in self.options():
            name, equals, value = option[0].partition("=")
            if name == "--export":
                given = value if equals else option[1]
        return given

    @property
    def words(self) -> list[str]:
        """What the user says to the launcher, and through it to the MPI library: options with their values,
        and what srun exports.
        """
        exported = self.exported.split(",") if self.family is Family.SLURM else []
        return [*(word for option in self.options() for word in option), *exported]


def read_launch_line(argv: Sequence[str]) -> LaunchLine:
    """Understands a launch line such as ``mpiexec -n 4`` or ``srun --ntasks=8 ./program``.

    Raises:
        UsageError: when it is empty, the launcher is not found, or it is none of those that are known.
    """
    if not argv:
        raise UsageError("no launcher is given", todo="end the command with, for example: -- mpiexec -n 4")
    if Path(argv[0]).name == "isochrone":
        raise UsageError(
            "isochrone is no launcher of MPI",
            argv[0],
            "for a program on a plan in a lab: isochrone lab mpi --plan FOLDER -- PROGRAM",
        )
    executable = _find(argv[0])
    family, version = _recognise(executable)
    return LaunchLine(tuple(argv), executable, family, version, _contexts(family, argv))


def _find(word: str) -> Path:
    found = shutil.which(word)
    if found is None:
        kind = "is not an executable file" if os.sep in word else "is not on the PATH"
        raise UsageError(
            f"the launcher {word!r} {kind}", todo="load or install its MPI library, or give its path"
        )
    return Path(found).absolute()


def _recognise(executable: Path) -> tuple[Family, str]:
    try:
        done = subprocess.run(
            [str(executable), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
        said = done.stdout + done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"the launcher does not answer to --version: {error}", str(executable)) from None
    for family, pattern in _FAMILIES:
        found = pattern.search(said)
        if found:
            return family, found.group(1).rstrip(".")
    raise UsageError(
        "a launcher that Isochrone does not know",
        str(executable),
        "use mpiexec or mpirun of Open MPI, MPICH or Intel MPI, or srun",
    )


def _contexts(family: Family, argv: Sequence[str]) -> tuple[Context, ...]:
    contexts = []
    start = 1
    while True:
        end = next((i for i in range(start, len(argv)) if argv[i] == ":"), len(argv))
        contexts.append(_context(family, argv, start, end))
        if end == len(argv):
            return tuple(contexts)
        start = end + 1


def _context(family: Family, argv: Sequence[str], start: int, end: int) -> Context:
    ranks = None
    at = start
    while at < end and argv[at].startswith("-"):
        length = option_length(family, argv[at:end])
        if at + length > end:
            raise UsageError(f"the launcher's option {argv[at]} lacks its value", " ".join(argv[: at + 1]))
        count = rank_count(family, argv[at : at + length])
        ranks = ranks if count is None else count
        at += length
    return Context(start, at, end, ranks)


def _options(family: Family, argv: Sequence[str], context: Context) -> list[tuple[str, ...]]:
    found = []
    at = context.start
    while at < context.program:
        length = option_length(family, argv[at : context.program])
        found.append(tuple(argv[at : at + length]))
        at += length
    return found


def launch_environment(line: LaunchLine) -> dict[str, str]:
    """Environment variables for the launcher that let it start where it would refuse only out of caution.

    Open MPI refuses root, and more ranks than cores. Isochrone is often tried where both hold, in containers
    and on laptops. What the user has set stays, and so do the limits of a scheduler or of a list of hosts.
    """
    if line.family is not Family.OPENMPI:
        return {}
    wanted: dict[str, str] = {}
    if os.geteuid() == 0:
        wanted |= OPEN_MPI_AS_ROOT
    if is_oversubscribed(line):
        wanted |= {
            "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }
    return {name: value for name, value in wanted.items() if name not in os.environ}


def is_oversubscribed(line: LaunchLine) -> bool:
    """Whether a launch line starts more ranks on this machine than it has cores; False where other hosts may
    take some of them.
    """
    return line.ranks is not None and runs_here(line) and line.ranks > core_count()


def runs_here(line: LaunchLine) -> bool:
    """Whether all ranks are on this machine; False where other hosts may take some of them."""
    lists = (
        *("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "OAR_NODEFILE"),
        *("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"),
        *("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "PRTE_MCA_default_hostfile"),
    )
    if line.family is Family.SLURM or any(name in os.environ for name in lists):
        return False
    hosts = {
        "f",
        "H",
        "host",
        "hosts",
        "hosts-group",
        "hostfile",
        "machine",
        "machinefile",
        "default-hostfile",
        "add-host",
        "add-hostfile",
        "dvm",
        "rf",
        "rankfile",
        *_BY_FILE,
    }
    options = [(_name_of(option), option[-1]) for option in line.options()]
    return not any(name in hosts or (name == "map-by" and "rankfile" in value) for name, value in options)


_BY_FILE = frozenset({"configfile", "app"})
"""Options that name a file with the rest of the line."""


def _name_of(option: Sequence[str]) -> str:
    """Without dashes, and without a value that follows ``=``."""
    return option[0].lstrip("-").partition("=")[0]


def core_count() -> int:
    """The number of cores that this process may run on; hardware threads of one core count once, as in Open
    MPI.
    """
    cores = set()
    for cpu in os.sched_getaffinity(0):
        try:
            cores.add((_CPUS / f"cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii"))
        except OSError:
            cores.add(str(cpu))
    return len(cores)


_OF_STREAMS = {
    Family.OPENMPI: "tag-output timestamp-output xml output-filename output stdin xterm",
    Family.HYDRA: "l prepend-rank prepend-pattern outfile-pattern errfile-pattern s",
    Family.SLURM: "l label o output i input e error pty",
}
"""Options that label, redirect or close the standard streams of ranks."""


def forbid_streams(line: LaunchLine) -> None:
    """Checks that a launch line leaves the ranks' standard streams as they are, for steps that talk with
    their own programs.

    Raises:
        UsageError: when it does not.
    """
    names = _OF_STREAMS.get(line.family, "").split()
    for option in line.options():
        name = _name_of(option)
        # Slurm's short options may have their value attached.
        if line.family is Family.SLURM and not option[0].startswith("--"):
            name = name[:1]
        if name in names:
            raise UsageError(
                "it labels or redirects what ranks read or write, by which this step talks with its program",
                " ".join(option),
                "leave it away",
            )


def forbid_program(line: LaunchLine) -> None:
    """Checks that a launch line names no program, for steps that bring their own.

    Raises:
        UsageError: when it does.
    """
    if line.programs:
        raise UsageError(
            f"the launch line names a program, {line.programs[0]!r}, but this step runs its own",
            todo="leave the program away",
        )
    for option in line.options():
        if _name_of(option) in _BY_FILE:
            raise UsageError(
                "its file names a program, but this step runs its own",
                " ".join(option),
                "write its options into the line, without the program",
            )


def require_program(line: LaunchLine) -> None:
    """Checks that every part of a launch line names a program, or a file of Hydra's that does.

    Raises:
        UsageError: when one does not.
    """
    if line.family is Family.HYDRA and any(_name_of(option) == "configfile" for option in line.options()):
        return  # it has the programs
    if len(line.programs) < len(line.contexts):
        raise UsageError("the launch line names no program", todo="end it with the program and its arguments")
