# SPDX-License-Identifier: BSD-3-Clause
"""``learned/*.json``: what one job has found in its own calls, rules as a plan has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isochrone.files.plan import Rule, read_rules
from isochrone.files.schema import check, make_again
from isochrone.files.text import read_object


@dataclass(frozen=True)
class Learned:
    """What was found on one topology with one MPI library."""

    fingerprint: str
    library: str
    abi: str
    rules: tuple[Rule, ...]


def read_learned(path: Path) -> Learned:
    """Reads a file that a job has left. Raises IsochroneError for what is damaged, or of another kind."""
    document = read_object(path, make_again("learned"))
    check(document, "learned", str(path))
    return Learned(
        fingerprint=document["topology"]["fingerprint"],
        library=document["mpi"]["library"],
        abi=document["mpi"]["abi"],
        rules=read_rules(document, str(path)),
    )
