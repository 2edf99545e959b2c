# SPDX-License-Identifier: BSD-3-Clause
"""``library.json``: which of its own algorithms an MPI library should use for which collective and size."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.plan import Evidence, rule_at
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object

DEFAULT = "default"
"""The library's own choice."""


@dataclass(frozen=True)
class LibraryRule:
    """An algorithm for one collective, and messages of ``min_bytes`` to ``max_bytes``.

    Attributes:
        algorithm: by the library's own name for it, or ``default``.
        equal: where the library's own choice is kept, an algorithm that was no slower; None where there is
            none.
        evidence: its ``native_s`` is the time of the library's own choice, ``recipe_s`` of the algorithm.
    """

    collective: str
    min_bytes: int
    max_bytes: int
    algorithm: str
    evidence: Evidence
    equal: str | None = None


@dataclass(frozen=True)
class LibraryTuning:
    """Rules for one MPI library on one topology; what no rule covers is its own choice.

    Attributes:
        fingerprint, topology_file: the topology that was measured on.
        library, abi: of MPI.
        ranks: of the communicators that the rules are for.
    """

    fingerprint: str
    topology_file: str
    library: str
    abi: str
    ranks: int
    rules: tuple[LibraryRule, ...]
    provenance: Json = field(default_factory=dict)

    def told(self, collective: str | None = None) -> list[LibraryRule]:
        """The rules that are for something else than the library's own choice, by collective and size."""
        found = [
            rule for rule in self.rules if rule.algorithm != DEFAULT and collective in (None, rule.collective)
        ]
        return sorted(found, key=lambda rule: (rule.collective, rule.min_bytes))

    def algorithm(self, collective: str, size_bytes: int) -> str:
        """What the library should use for a collective of this size."""
        rule = rule_at((rule for rule in self.rules if rule.collective == collective), size_bytes)
        return DEFAULT if rule is None else rule.algorithm


def read_library(path: Path | str) -> LibraryTuning:
    """Reads ``library.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    path = Path(path)
    return _from_document(read_object(path, make_again("library")), str(path))


def write_library(path: Path | str, tuning: LibraryTuning) -> None:
    """Writes ``library.json``. Raises IsochroneError for one that could not be read again."""
    document = library_document(tuning)
    _from_document(document, str(path))
    write_object(Path(path), document)


def library_document(tuning: LibraryTuning) -> Json:
    """The tuning as JSON."""
    return {
        "isochrone": "library",
        "schema_version": SCHEMA_VERSION,
        "topology": {"fingerprint": tuning.fingerprint, "file": tuning.topology_file},
        "mpi": {"library": tuning.library, "abi": tuning.abi},
        "ranks": tuning.ranks,
        "rules": [
            {
                "collective": rule.collective,
                "min_bytes": rule.min_bytes,
                "max_bytes": rule.max_bytes,
                "algorithm": rule.algorithm,
                **({"equal": rule.equal} if rule.equal is not None else {}),
                "evidence": {
                    "default_s": rule.evidence.native_s,
                    "algorithm_s": rule.evidence.recipe_s,
                    "speedup": rule.evidence.speedup,
                    "speedup_ci": list(rule.evidence.speedup_ci),
                    "repetitions": rule.evidence.repetitions,
                    **({"launches": list(rule.evidence.launches)} if rule.evidence.launches else {}),
                },
            }
            for rule in tuning.rules
        ],
        "provenance": tuning.provenance,
    }


def _from_document(document: Json, where: str) -> LibraryTuning:
    check(document, "library", where)
    rules = tuple(_read_rule(rule, f"{where}: rules[{i}]") for i, rule in enumerate(document["rules"]))
    _check_disjoint(rules, where)
    return LibraryTuning(
        fingerprint=document["topology"]["fingerprint"],
        topology_file=document["topology"]["file"],
        library=document["mpi"]["library"],
        abi=document["mpi"]["abi"],
        ranks=int(document["ranks"]),
        rules=rules,
        provenance=document["provenance"],
    )


def _check_disjoint(rules: tuple[LibraryRule, ...], where: str) -> None:
    by_collective: dict[str, list[LibraryRule]] = defaultdict(list)
    for rule in rules:
        by_collective[rule.collective].append(rule)
    for collective, group in by_collective.items():
        for low, high in pairwise(sorted(group, key=lambda rule: rule.min_bytes)):
            if high.min_bytes <= low.max_bytes:
                what = f"two rules for {collective} hold for {high.min_bytes} bytes"
                raise IsochroneError(what, where, make_again("library"))


def _read_rule(document: Json, where: str) -> LibraryRule:
    evidence = document["evidence"]
    low, high = evidence["speedup_ci"]
    rule = LibraryRule(
        collective=document["collective"],
        min_bytes=int(document["min_bytes"]),
        max_bytes=int(document["max_bytes"]),
        algorithm=document["algorithm"],
        equal=document.get("equal"),
        evidence=Evidence(
            native_s=evidence["default_s"],
            recipe_s=evidence["algorithm_s"],
            speedup=evidence["speedup"],
            speedup_ci=(low, high),
            repetitions=int(evidence["repetitions"]),
            launches=tuple(evidence.get("launches", ())),
        ),
    )
    if rule.min_bytes > rule.max_bytes:
        raise IsochroneError(f"min_bytes {rule.min_bytes} is above max_bytes", where, make_again("library"))
    if low > high:
        raise IsochroneError("speedup_ci ends before it begins", where, make_again("library"))
    return rule
