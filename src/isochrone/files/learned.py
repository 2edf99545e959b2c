# SPDX-License-Identifier: BSD-3-Clause
"""``learned/*.json``: what one job has found in its own calls, rules as a plan has them."""

from __future__ import annotations

from pathlib import Path

from isochrone.files.form import Decoder, Head
from isochrone.files.plan import Rule, check_plan_rules
from isochrone.files.references import LibraryReference, TopologyReference


class Learned(Head, frozen=True, kw_only=True, tag="learned"):
    """What was found on one topology with one MPI library.

    Attributes:
        plan_time: when the plan was made that the job ran on, as its provenance has it; empty: not known.
    """

    topology: TopologyReference
    mpi: LibraryReference
    plan_time: str = ""
    rules: tuple[Rule, ...]


FILE = Decoder("learned", Learned, check=lambda learned, where: check_plan_rules(learned.rules, where))


def read_learned(path: Path) -> Learned:
    """Reads a file that a job has left. Raises IsochroneError for what is damaged, or of another kind."""
    return FILE.file(path)
