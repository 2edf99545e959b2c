# SPDX-License-Identifier: BSD-3-Clause
"""``plan.json``: which recipe runs for which collective, shape and size, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from isochrone.errors import IsochroneError
from isochrone.files.bench import BCAST
from isochrone.files.fields import Collective, Count, LevelName, Positive, Provenance, Recipe, Seconds
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.references import LibraryReference, TopologyFileReference
from isochrone.files.rules import Comparison, check_rules, rule_at
from isochrone.files.schema import make_again
from isochrone.files.topology import Topology, read_topology


class Evidence(Comparison, frozen=True, kw_only=True):
    """Why a rule is as it is.

    Attributes:
        predicted_s: the simulator's price of the recipe; None where it has none.
        measured_bytes: the size that the times are of; None where they are of several, or it is not known.
    """

    predicted_s: Annotated[float, Meta(ge=0)] | None = written(None)
    measured_bytes: Annotated[
        Count | None, Meta(description="The size that the times are of. Missing: it is not known.")
    ] = None


class Surveyed(Form, frozen=True):
    """A recipe as a survey has measured it."""

    recipe: Recipe
    evidence: Evidence


class Rule(Form, frozen=True):
    """A recipe for one collective, one shape of communicator, and messages of ``min_bytes`` to ``max_bytes``.

    Attributes:
        basis: ``measured`` by a survey, or ``live``, in a program's own calls.
        order: of the ranks over the groups, as `_core.Layout.order` names it; None: of any.
        surveyed: of a reduction that was found live, what holds where the result may differ in the last bit;
            None: the library's own.
    """

    collective: Collective
    shape: Annotated[str, Meta(min_length=1, max_length=1 << 16, pattern="^[ -~]+$")]
    min_bytes: Count
    max_bytes: Count
    recipe: Recipe
    evidence: Evidence
    basis: Annotated[
        Literal["measured", "live"],
        Meta(description="How it is known: by a survey, or in a program's own calls. Missing: measured."),
    ] = "measured"
    order: Annotated[
        Annotated[
            str,
            Meta(
                pattern="^((block|cyclic[0-9]*)(:(block|cyclic[0-9]*))*|order-[0-9a-f]{16})$", max_length=255
            ),
        ]
        | None,
        Meta(description="Of the ranks: block, cyclic, block:cyclic and so on, or a digest. Missing: any."),
    ] = None
    surveyed: Annotated[
        Surveyed | None,
        Meta(description="Where it was found live: what was measured, for sums of floating-point numbers."),
    ] = None

    @property
    def interval(self) -> str:
        """What the interval of its speedup is: the sign test's of live rounds, else of medians."""
        return "97 % interval" if self.basis == "live" else "95 % interval"


class PlannedTopology(TopologyFileReference, frozen=True):
    """The topology that the plan was made for."""

    levels: Annotated[
        tuple[LevelName, ...],
        Meta(
            description="What the rules call the levels of the topology, outermost first.",
            extra_json_schema={"uniqueItems": True},
        ),
    ] = ()


class MessageCost(Form, frozen=True):
    """What each message of a collective took beside the model's price, in the races of a tuning.

    Attributes:
        each_s: seconds.
        most: messages of all ranks that it was seen with; of more it tells nothing.
    """

    each_s: Seconds
    most: Positive


class Plan(Head, frozen=True, kw_only=True, tag="plan"):
    """Rules for one topology and one MPI library; what no rule covers was not measured.

    Attributes:
        messages: what trials begin with where a program's own calls have shown nothing yet; None: not known.
    """

    topology: PlannedTopology
    mpi: LibraryReference
    rules: tuple[Rule, ...]
    messages: MessageCost | None = None
    provenance: Provenance = written(dict)

    @property
    def fingerprint(self) -> str:
        """Of the topology."""
        return self.topology.fingerprint

    @property
    def level_names(self) -> tuple[str, ...]:
        """That the rules call the levels by, outermost first, whatever they are called by now."""
        return self.topology.levels

    def recipe(self, shape: str, size_bytes: int, collective: str = BCAST) -> str | None:
        """What the plan says of a collective of this size on this shape; None where nothing was measured."""
        beside = (rule for rule in self.rules if (rule.collective, rule.shape) == (collective, shape))
        rule = rule_at(beside, size_bytes)
        return None if rule is None else rule.recipe


def without(rule: Rule, others: Iterable[Rule]) -> list[Rule]:
    """What a rule says of sizes that the others do not, by ascending sizes."""
    found = []
    begin = rule.min_bytes
    for other in sorted(others, key=lambda other: other.min_bytes):
        end = min(rule.max_bytes, other.min_bytes - 1)
        if begin <= end:
            found.append(replace(rule, min_bytes=begin, max_bytes=end))
        begin = max(begin, other.max_bytes + 1)
    if begin <= rule.max_bytes:
        found.append(replace(rule, min_bytes=begin))
    return found


def overlap(rule: Rule, other: Rule) -> bool:
    """Whether both hold for some size; it is up to the caller whether they do for one collective."""
    return rule.min_bytes <= other.max_bytes and other.min_bytes <= rule.max_bytes


def as_surveyed(rule: Rule) -> Rule | None:
    """What a survey says there, whatever programs have found; None: nothing."""
    if rule.basis != "live":
        return rule
    if rule.surveyed is None:
        return None
    before = rule.surveyed
    return replace(rule, recipe=before.recipe, evidence=before.evidence, basis="measured", surveyed=None)


def laid_over(live: Rule, rule: Rule) -> Rule:
    """What holds for the sizes of both, where a rule for a reduction was found live in place of another.

    What a survey says goes along, as it is for sums of floating-point numbers, too. Where it says the same
    it holds for all.
    """
    before = as_surveyed(rule)
    least, most = max(live.min_bytes, rule.min_bytes), min(live.max_bytes, rule.max_bytes)
    if before is None:
        return replace(live, min_bytes=least, max_bytes=most, surveyed=None)
    if before.recipe == live.recipe:
        return replace(before, min_bytes=least, max_bytes=most, order=live.order)
    surveyed = Surveyed(before.recipe, before.evidence)
    return replace(live, min_bytes=least, max_bytes=most, surveyed=surveyed)


def check_plan_rules(rules: Sequence[Rule], where: str) -> None:
    """Raises IsochroneError as `check_rules`, and for recipes that cannot be read."""
    from isochrone import _core

    check_rules(rules, "plan", where, lambda rule: (f"{rule.collective} on '{rule.shape}'", rule.order))
    known: set[str] = set()
    for index, rule in enumerate(rules):
        for recipe in (rule.recipe, *([rule.surveyed.recipe] if rule.surveyed else [])):
            if recipe in known:
                continue
            try:
                _core.parse_recipe(recipe)
            except ValueError as error:
                raise IsochroneError(str(error), f"{where}: rules[{index}]", make_again("plan")) from None
            known.add(recipe)


def _check(plan: Plan, where: str) -> None:
    if len(set(plan.level_names)) != len(plan.level_names):
        raise IsochroneError("topology.levels: items occur twice", where, make_again("plan"))
    check_plan_rules(plan.rules, where)


FILE = Decoder("plan", Plan, check=_check)


def read_plan(path: Path | str) -> Plan:
    """Reads ``plan.json``. Raises IsochroneError for what is damaged, of another kind or version, or
    contradictory.
    """
    return FILE.file(Path(path))


def read_planned_topology(plan: Plan, plan_file: Path, topology_file: Path | None = None) -> Topology:
    """The topology beside a plan, or in another file. Raises IsochroneError if it is damaged, or another than
    the plan is for.
    """
    topology_file = topology_file or plan_file.with_name(plan.topology.file)
    topology = read_topology(topology_file)
    if topology.fingerprint != plan.fingerprint:
        raise IsochroneError("the plan was made for another topology", str(topology_file), "tune again")
    return topology


def write_plan(path: Path | str, plan: Plan) -> None:
    """Writes ``plan.json``. Raises IsochroneError for a plan that could not be read again."""
    FILE.write(Path(path), plan)
