# SPDX-License-Identifier: BSD-3-Clause
"""What MPI libraries can be told only when they are started, by variables: launches in which a library has
other algorithms than in one without them.

What it can be told while the program runs is known to the benchmark (``native/mpi/bench/library.hpp``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from isochrone.files.library import DEFAULT
from isochrone.launch.library import MpiLibrary

HAN, TUNED = "han", "tuned"
"""Open MPI's components for collectives of several nodes, and of any."""
SEGMENTS = "@"
"""In the name of an algorithm it is before the size in bytes of the segments that a message is cut into."""

# Intel MPI 2021, Developer Reference, "I_MPI_ADJUST family": how many algorithms there are, by number. 0 is
# no algorithm, but a choice by size that is not the one of a library that is told nothing.
_INTEL = {
    "bcast": 11,
    "reduce": 11,
    "allreduce": 12,
    "barrier": 6,
    "gather": 3,
    "scatter": 3,
    "allgather": 5,
    "allgatherv": 4,
    "alltoall": 4,
    "alltoallv": 2,
    "reduce_scatter": 5,
    "scan": 2,
    "exscan": 2,
}


# Algorithms of Open MPI that combine what ranks have in another order than theirs: the library itself uses
# them for operations that commute alone. Its files of rules are followed whatever the operation is, so these
# would be wrong for others, and without a word. MPICH's file asks whether an operation commutes, and Intel
# MPI looks after it.
_COMMUTATIVE_ALONE: Mapping[str, frozenset[str]] = {
    "allreduce": frozenset({"ring", "segmented_ring"}),
    "reduce": frozenset({"chain", "pipeline", "binary", "binomial"}),
    "reduce_scatter": frozenset({"recursive_halving", "ring"}),
}


@dataclass(frozen=True)
class Way:
    """A way to start a library.

    Attributes:
        own: what its own choice is then, by a name that exports know.
        variables: that it is started with.
    """

    own: str
    variables: Mapping[str, str] = field(default_factory=dict)


def ways(library: MpiLibrary | None, collective: str, nodes: int) -> list[Way]:
    """The ways to start a library, first the one without any variables. In that alone it hears what it is
    told while the program runs.

    Args:
        library: None: a simulated one.
        collective: that is to be timed.
        nodes: that the ranks are on.
    """
    others: list[Way] = []
    if library is not None and library.vendor == "Open MPI":
        # Where HAN is first, the benchmark can put tuned there. The other way round is for a launch of its
        # own: with Open MPI 4.1 some of HAN's collectives end in a segmentation fault.
        # Its longer reductions there write beyond their memory.
        if nodes > 1 and not han_is_first(library.version) and collective != "reduce":
            others = [Way(HAN, {"OMPI_MCA_coll_han_priority": "100"})]
    elif library is not None and library.vendor == "Intel MPI":
        name = f"I_MPI_ADJUST_{collective.upper()}"
        others = [Way(str(k), {name: str(k)}) for k in range(1, _INTEL.get(collective, 0) + 1)]
    return [Way(DEFAULT), *others]


def parted(name: str) -> tuple[str, int]:
    """An algorithm without the size of its segments, and that size in bytes; 0: it has none."""
    algorithm, _, segment = name.partition(SEGMENTS)
    return algorithm, int(segment or 0)


def is_for_any_operation(collective: str, name: str) -> bool:
    """Whether Open MPI may be told an algorithm for whatever operation: it keeps the order of ranks where an
    operation does not commute, or looks after that itself.
    """
    return parted(name)[0] not in _COMMUTATIVE_ALONE.get(collective, ())


def needs_all_sizes(library: MpiLibrary | None) -> bool:
    """Whether a library that is told something for one size must be told something for each: it leaves its
    own choice for good.
    """
    return library is not None and library.vendor == "Intel MPI"


def han_is_first(version: str) -> bool:
    """Whether a version of Open MPI has HAN before tuned where there are several nodes."""
    found = re.match(r"\d+", version)
    return found is not None and int(found.group()) >= 5
