# SPDX-License-Identifier: BSD-3-Clause
"""Which options of the launchers take values, so that the program can be told from the options before it.

Launchers stop reading options at the first word that is neither an option nor an option's value. The tables
hold the names without their dashes; a name that is in none takes no value. Sources: ``mpirun(1)`` of Open MPI
4.1, ``prterun(1)`` of PRRTE 3, ``mpiexec -help`` of Hydra 4 and of Intel MPI 2021, ``srun(1)`` of Slurm
22.05, ``smpirun -help`` of SimGrid 3.32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum


class Family(Enum):
    """Launchers that read the same options."""

    OPENMPI = "Open MPI"
    HYDRA = "Hydra"
    SLURM = "Slurm"
    SIMGRID = "SimGrid"


_RANKS = {
    Family.OPENMPI: frozenset({"n", "np", "c"}),
    Family.HYDRA: frozenset({"n", "np"}),
    Family.SLURM: frozenset({"n", "ntasks"}),
    Family.SIMGRID: frozenset({"np"}),
}

_OPENMPI_ONE = (
    "n np c x N H host hostfile machinefile default-hostfile map-by rank-by bind-to ppr npernode npersocket "
    "cpus-per-proc cpus-per-rank cpu-list cpu-set rf rankfile wd wdir path prefix preload-files app am tune "
    "timeout stdin output-filename output xterm xml-file personality launch-agent max-restarts max-vm-size "
    "ompi-server hnp report-events report-pid report-uri cf cartofile debugger display runtime-options dvm "
    "dvm-hostfile add-host add-hostfile stream-buffering with-ft initial-errhandler mem-alloc-kind "
    "num-connect-retries forward-signals pset gpu-support"
)
_HYDRA_ONE = (
    "n np ppn perhost grr f machine hosts host hostfile machinefile wdir path umask configfile genvlist "
    "envlist launcher launcher-exec bootstrap bootstrap-exec rmk topolib bind-to map-by membind binding "
    "demux iface prepend-pattern outfile-pattern errfile-pattern nameserver order-nodes localhost usize "
    "gpus-per-proc gpath gwdir gumask tmpdir hosts-group rankmap cpu-bind "
    "genvexcl gtool gtoolfile gdb-args s"
)
_SLURM_LONG = (
    "ntasks nodes account acctg-freq bb bbf bcast begin chdir clusters comment constraint container "
    "core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "
    "distribution epilog error exclude export extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
    "gpus-per-socket gpus-per-task gres gres-flags hint immediate input job-name jobid kill-on-bad-exit "
    "licenses mail-type mail-user mem mem-bind mem-per-cpu mem-per-gpu mpi msg-timeout network nice nodefile "
    "nodelist ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition "
    "power prefer priority profile prolog propagate qos relative reservation signal slurmd-debug "
    "sockets-per-node switches task-epilog task-prolog thread-spec threads threads-per-core time time-min "
    "tmp uid wait wckey accel-bind bcast-exclude het-group mcs-label"
)
# Slurm's long options with an optional value take it only after "=".
_SLURM_OPTIONAL = frozenset({"bcast", "immediate", "kill-on-bad-exit", "nice", "propagate"})
_SLURM_SHORT = "A B b c C D d e G i J L M m N n o p q r S T t w W x"
_SIMGRID_ONE = (
    "np hostfile machinefile platform wrapper tmpdir trace-comment trace-comment-file trace-file replay"
)


def _table(one: str, two: str = "") -> Mapping[str, int]:
    return {**dict.fromkeys(one.split(), 1), **dict.fromkeys(two.split(), 2)}


_VALUES: Mapping[Family, Mapping[str, int]] = {
    Family.OPENMPI: _table(_OPENMPI_ONE, "mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca"),
    Family.HYDRA: _table(_HYDRA_ONE, "genv env"),
    Family.SLURM: {
        **{name: 1 for name in _SLURM_LONG.split() if name not in _SLURM_OPTIONAL},
        **_table(_SLURM_SHORT),
    },
    Family.SIMGRID: _table(_SIMGRID_ONE),
}


def option_length(family: Family, words: Sequence[str]) -> int:
    """How many of `words`, the first of which starts with a dash, are one option with its values."""
    word = words[0]
    name = word.lstrip("-")
    if "=" in name:
        return 1
    if family is Family.SLURM and not word.startswith("--"):
        # A short option's value may be attached to it, as in -n4.
        return 1 + (len(name) == 1 and name in _VALUES[family])
    count = _VALUES[family].get(name, 0)
    if count == 2 and family is Family.HYDRA and len(words) > 1 and "=" in words[1]:
        count = 1  # Hydra takes "-genv NAME VALUE" and "-genv NAME=VALUE"
    return 1 + count


def rank_count(family: Family, option: Sequence[str]) -> int | None:
    """The number of ranks that an option with its values asks for; None for any other option."""
    name, equals, attached = option[0].lstrip("-").partition("=")
    if name in _RANKS[family]:
        value = attached if equals else (option[1] if len(option) > 1 else "")
        return int(value) if value.isdecimal() else None
    if family is Family.SLURM and option[0].startswith("-n") and option[0][2:].isdecimal():
        return int(option[0][2:])
    return None
