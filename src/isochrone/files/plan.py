# SPDX-License-Identifier: BSD-3-Clause
"""``plan.json``: which recipe runs for which collective, shape and size, and the evidence for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeVar

from isochrone.errors import IsochroneError
from isochrone.files.bench import BCAST
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class Evidence:
    """Why a rule is as it is.

    Attributes:
        native_s, recipe_s: median time of the slowest rank.
        speedup: native over recipe, with its 95 % interval ``speedup_ci``.
        launches: speedup in each launch of the program that measured it; empty where that is not known.
        predicted_s: the simulator's price of the recipe; None where it has none.
    """

    native_s: float
    recipe_s: float
    speedup: float
    speedup_ci: tuple[float, float]
    repetitions: int
    predicted_s: float | None = None
    launches: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A recipe for one collective, one shape of communicator, and messages of ``min_bytes`` to
    ``max_bytes``.

    Attributes:
        basis: ``measured`` by a survey, or ``live``, in a program's own calls.
        order: of the ranks over the groups, as `_core.Layout.order` names it; None: of any.
    """

    collective: str
    shape: str
    min_bytes: int
    max_bytes: int
    recipe: str
    evidence: Evidence
    basis: str = "measured"
    order: str | None = None


class Ranged(Protocol):
    """What is for messages of ``min_bytes`` to ``max_bytes``."""

    @property
    def min_bytes(self) -> int:
        """The least."""

    @property
    def max_bytes(self) -> int:
        """The most."""


RangedT = TypeVar("RangedT", bound=Ranged)


def rule_at(rules: Iterable[RangedT], size_bytes: int) -> RangedT | None:
    """The first rule for messages of this size; None where there is none."""
    return next((rule for rule in rules if rule.min_bytes <= size_bytes <= rule.max_bytes), None)


@dataclass(frozen=True)
class Plan:
    """Rules for one topology and one MPI library; what no rule covers is ``native``.

    Attributes:
        fingerprint, topology_file: the topology that the plan was made for.
        level_names: that the rules call its levels by, outermost first, whatever they are called by now.
        library, abi: of MPI.
    """

    fingerprint: str
    topology_file: str
    library: str
    abi: str
    rules: tuple[Rule, ...]
    provenance: Json = field(default_factory=dict)
    level_names: tuple[str, ...] = ()

    def recipe(self, shape: str, size_bytes: int, collective: str = BCAST) -> str | None:
        """What the plan says of a collective of this size on this shape; None where nothing was measured."""
        beside = (rule for rule in self.rules if (rule.collective, rule.shape) == (collective, shape))
        rule = rule_at(beside, size_bytes)
        return None if rule is None else rule.recipe


def read_plan(path: Path | str) -> Plan:
    """Reads ``plan.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    path = Path(path)
    return _plan_from_document(read_object(path, make_again("plan")), str(path))


def write_plan(path: Path | str, plan: Plan) -> None:
    """Writes ``plan.json``. Raises IsochroneError for a plan that could not be read again."""
    document = plan_document(plan)
    _plan_from_document(document, str(path))
    write_object(Path(path), document)


def plan_document(plan: Plan) -> Json:
    """The plan as JSON."""
    return {
        "isochrone": "plan",
        "schema_version": SCHEMA_VERSION,
        "topology": {
            "fingerprint": plan.fingerprint,
            "file": plan.topology_file,
            **({"levels": list(plan.level_names)} if plan.level_names else {}),
        },
        "mpi": {"library": plan.library, "abi": plan.abi},
        "rules": [_rule_document(rule) for rule in plan.rules],
        "provenance": plan.provenance,
    }


def _plan_from_document(document: Json, where: str) -> Plan:
    check(document, "plan", where)
    rules = read_rules(document, where)
    return Plan(
        fingerprint=document["topology"]["fingerprint"],
        topology_file=document["topology"]["file"],
        library=document["mpi"]["library"],
        abi=document["mpi"]["abi"],
        rules=rules,
        provenance=document["provenance"],
        level_names=tuple(document["topology"].get("levels", ())),
    )


def read_rules(document: Json, where: str) -> tuple[Rule, ...]:
    """The rules of a document that its schema was checked for. Raises IsochroneError for contradictions."""
    rules = tuple(_read_rule(rule, f"{where}: rules[{i}]") for i, rule in enumerate(document["rules"]))
    _check_disjoint(rules, where)
    return rules


def _check_disjoint(rules: tuple[Rule, ...], where: str) -> None:
    by_shape: dict[tuple[str, str, str | None], list[Rule]] = defaultdict(list)
    for rule in rules:
        by_shape[rule.collective, rule.shape, rule.order].append(rule)
    for (collective, shape, _), group in by_shape.items():
        for low, high in pairwise(sorted(group, key=lambda rule: rule.min_bytes)):
            if high.min_bytes <= low.max_bytes:
                raise IsochroneError(
                    f"two rules for {collective} on '{shape}' hold for {high.min_bytes} bytes",
                    where,
                    make_again("plan"),
                )


def _rule_document(rule: Rule) -> Json:
    evidence = rule.evidence
    return {
        "collective": rule.collective,
        "shape": rule.shape,
        "min_bytes": rule.min_bytes,
        "max_bytes": rule.max_bytes,
        "recipe": rule.recipe,
        **({} if rule.basis == "measured" else {"basis": rule.basis}),
        **({} if rule.order is None else {"order": rule.order}),
        "evidence": {
            "native_s": evidence.native_s,
            "recipe_s": evidence.recipe_s,
            "speedup": evidence.speedup,
            "speedup_ci": list(evidence.speedup_ci),
            "repetitions": evidence.repetitions,
            "predicted_s": evidence.predicted_s,
            **({"launches": list(evidence.launches)} if evidence.launches else {}),
        },
    }


def _read_rule(document: Json, where: str) -> Rule:
    evidence = document["evidence"]
    low, high = evidence["speedup_ci"]
    rule = Rule(
        collective=document["collective"],
        shape=document["shape"],
        min_bytes=int(document["min_bytes"]),
        max_bytes=int(document["max_bytes"]),
        recipe=document["recipe"],
        evidence=Evidence(
            native_s=evidence["native_s"],
            recipe_s=evidence["recipe_s"],
            speedup=evidence["speedup"],
            speedup_ci=(low, high),
            repetitions=int(evidence["repetitions"]),
            predicted_s=evidence["predicted_s"],
            launches=tuple(evidence.get("launches", ())),
        ),
        basis=document.get("basis", "measured"),
        order=document.get("order"),
    )
    if rule.min_bytes > rule.max_bytes:
        raise IsochroneError(f"min_bytes {rule.min_bytes} is above max_bytes", where, make_again("plan"))
    if low > high:
        raise IsochroneError("speedup_ci ends before it begins", where, make_again("plan"))
    return rule
