# SPDX-License-Identifier: BSD-3-Clause
"""What a line of another benchmark's output comes to."""

from __future__ import annotations

from isochrone.files import NATIVE
from isochrone.models.observation import MESSAGE, Observation
from isochrone.models.readers.labels import Labels

NOTHING = "sizes that took no time, or have no bytes"


def block_bytes(operation: str, size_bytes: int, ranks: int) -> int:
    """The size of an operation as an Observation has it, for what OSU's programs and IMB print.

    Their size of MPI_Reduce_scatter is that of the whole vector, which they split evenly among the ranks
    (IMB's user guide, Reduce_scatter; osu_reduce_scatter.c); of all others it is a message or a block.
    """
    return size_bytes // ranks if operation == "reduce_scatter" else size_bytes


def says_nothing(operation: str, size_bytes: int, value_s: float) -> bool:
    """Whether a line has nothing to fit a model to."""
    return value_s <= 0 or (size_bytes == 0 and operation not in (MESSAGE, "barrier"))


def printed(
    operation: str, size_bytes: int, ranks: int, value_s: float, labels: Labels, where: str
) -> Observation:
    """A line with what was said of its file; `ranks` of a collective, as messages are between two."""
    single = operation == MESSAGE
    return Observation(
        operation=operation,
        size_bytes=size_bytes,
        ranks=2 if single else ranks,
        time_s=value_s,
        algorithm=NATIVE if single else labels.algorithm or NATIVE,
        mapping=labels.mapping or "",
        region=labels.region or "",
        source=where,
    )
