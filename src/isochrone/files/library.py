# SPDX-License-Identifier: BSD-3-Clause
"""``library.json``: which of its own algorithms an MPI library should use for which collective and size."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from isochrone.files.bench import NATIVE
from isochrone.files.fields import Collective, Count, Provenance, Seconds
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.plan import Plan
from isochrone.files.references import LibraryReference, TopologyFileReference
from isochrone.files.rules import Comparison, check_rules

DEFAULT = "default"
"""The library's own choice."""

_COMPARED_WITH = "library_tuning"
"""In a plan's provenance."""

_Algorithm = Annotated[
    str, Meta(min_length=1, max_length=128, pattern="^[A-Za-z0-9_.-]+(@[1-9][0-9]{0,8})?$")
]


class LibraryEvidence(Comparison, frozen=True, kw_only=True):
    """Why a rule is as it is: ``native_s`` is the time of the library's own choice, ``recipe_s`` of the
    algorithm.
    """

    native_s: Seconds = msgspec.field(name="default_s")
    recipe_s: Seconds = msgspec.field(name="algorithm_s")

    @classmethod
    def of(cls, comparison: Comparison) -> LibraryEvidence:
        """The same times."""
        return cls(**{name: getattr(comparison, name) for name in Comparison.__struct_fields__})


class LibraryRule(Form, frozen=True):
    """An algorithm for one collective, and messages of ``min_bytes`` to ``max_bytes``.

    Attributes:
        algorithm: by the library's own name for it, with ``@`` and a size in bytes where it cuts messages
            into segments; or ``default``.
        equal: where the library's own choice is kept, an algorithm that was as fast; None where there is
            none.
    """

    collective: Collective
    min_bytes: Count
    max_bytes: Count
    algorithm: Annotated[
        _Algorithm,
        Meta(
            description="By the library's own name for it, with @ and the bytes of a segment where it cuts "
            "messages into such; default: its own choice."
        ),
    ]
    evidence: LibraryEvidence
    equal: Annotated[
        _Algorithm | None,
        Meta(description="Where its own choice is kept: an algorithm that was as fast."),
    ] = None


class LibraryTuning(Head, frozen=True, kw_only=True, tag="library"):
    """Rules for one MPI library on one topology; what no rule covers is its own choice.

    Attributes:
        topology: that was measured on.
        ranks: of the communicators that the rules are for.
    """

    topology: TopologyFileReference
    mpi: LibraryReference
    ranks: Annotated[int, Meta(ge=1, le=1 << 24, description="Of the communicators that the rules are for.")]
    rules: tuple[LibraryRule, ...]
    provenance: Provenance = written(dict)

    def told(self, collective: str | None = None) -> list[LibraryRule]:
        """The rules that are for something else than the library's own choice, by collective and size."""
        found = [
            rule for rule in self.rules if rule.algorithm != DEFAULT and collective in (None, rule.collective)
        ]
        return sorted(found, key=lambda rule: (rule.collective, rule.min_bytes))


def _check(tuning: LibraryTuning, where: str) -> None:
    check_rules(tuning.rules, "library", where, lambda rule: (rule.collective, None))


FILE = Decoder("library", LibraryTuning, check=_check)


def compared(plan: Plan, tuning: LibraryTuning) -> Plan:
    """The plan, which says that its recipes were held against the library with this tuning."""
    return msgspec.structs.replace(plan, provenance=plan.provenance | {_COMPARED_WITH: _digest(tuning)})


def is_compared(plan: Plan, tuning: LibraryTuning) -> bool:
    """Whether a plan's recipes were proven faster than the library with this tuning, and not than the library
    as it comes, or with another.
    """
    return not tuning.told() or plan.provenance.get(_COMPARED_WITH) == _digest(tuning)


def is_to_be_compared(plan: Plan, tuning: LibraryTuning) -> bool:
    """Whether a plan has measured recipes that were not compared with this tuning. What was found live was
    held against whatever ran.
    """
    has_recipes = any(rule.recipe != NATIVE and rule.basis == "measured" for rule in plan.rules)
    return has_recipes and not is_compared(plan, tuning)


def _digest(tuning: LibraryTuning) -> str:
    """Of what the library is told; the same when it is measured again and nothing else comes of it."""
    # Intel MPI leaves its own choice for good, and is told what is as fast.
    needs_equals = tuning.mpi.library.startswith("Intel")
    told = [
        (
            rule.collective,
            rule.min_bytes,
            rule.max_bytes,
            rule.algorithm,
            rule.equal if needs_equals else None,
        )
        for rule in (tuning.rules if needs_equals else tuning.told())
    ]
    return hashlib.sha256(msgspec.json.encode((tuning.ranks, sorted(told, key=str)))).hexdigest()[:16]


def read_library(path: Path | str) -> LibraryTuning:
    """Reads ``library.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    return FILE.file(Path(path))


def write_library(path: Path | str, tuning: LibraryTuning) -> None:
    """Writes ``library.json``. Raises IsochroneError for one that could not be read again."""
    FILE.write(Path(path), tuning)
