# SPDX-License-Identifier: BSD-3-Clause
"""Explain: what a plan would run for a collective of some job, and why, without a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.files.place import Place, parse_cpus
from isochrone.files.plan import Rule, read_planned_topology
from isochrone.files.topology import Topology
from isochrone.steps.learn import read_plan_with_learned
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.layout import layout_for
from isochrone.tune.lookup import rule_for
from isochrone.tune.prices import MOST_PRICED

MOST_RANKS = 1 << 16
_PRICING_S = 5.0


@dataclass(frozen=True)
class Explanation:
    """What would run.

    Attributes:
        ranks: of the job.
        shape: that rules would have to be for.
        recipe: what runs, or ``native``.
        reason: in words, as ``ISOCHRONE_EXPLAIN`` has it.
        basis: how that is known: ``measured``, ``live``, ``interpolated`` between two shapes, ``predicted``,
            or ``none`` where nothing is to be known.
        rule: of the plan, that says so; None where there is none.
        elsewhere: shapes of the same collective that the plan has rules for.
        trials: where it is predicted, three recipes, each with the seconds that are expected (the model's,
            or as many times that as it took where it is proven): what a program tries first, if that is less
            than what runs takes, and the cheapest. Its other calls may show messages to be slower or faster
            than the plan says, and what the first took tells the next; None: to price them takes too long.
        unseen: how many of the hosts were not surveyed.
        for_floats: of a reduction, the recipe and the reason for sums of floating-point numbers, where no
            algorithm is tried and what was found live is not for them; None: the collective does not reduce.
    """

    ranks: int
    shape: str
    recipe: str
    reason: str
    basis: str
    rule: Rule | None
    elsewhere: tuple[str, ...]
    trials: Sequence[tuple[str, float]] | None
    unseen: int
    for_floats: tuple[str, str] | None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        evidence = self.rule.evidence if self.rule else None
        return {
            "ranks": self.ranks,
            "shape": self.shape,
            "recipe": self.recipe,
            "reason": self.reason,
            "basis": self.basis,
            "rule": None
            if self.rule is None or evidence is None
            else {
                "min_bytes": self.rule.min_bytes,
                "max_bytes": self.rule.max_bytes,
                "speedup": evidence.speedup,
                "speedup_ci": list(evidence.speedup_ci),
                "native_s": evidence.native_s,
                "recipe_s": evidence.recipe_s,
                "measured_bytes": evidence.measured_bytes,
                "repetitions": evidence.repetitions,
            },
            "elsewhere": list(self.elsewhere),
            "trials": None
            if self.trials is None
            else [{"recipe": recipe, "predicted_s": seconds} for recipe, seconds in self.trials],
            "unseen_hosts": self.unseen,
            "for_floats": None
            if self.for_floats is None
            else {"recipe": self.for_floats[0], "reason": self.for_floats[1]},
        }


def explain(
    plan_file: Path, collective: str, size_bytes: int, nodes: int | None, per_node: int | None, root: int
) -> Explanation:
    """What runs on the first nodes of a survey, with so many ranks on each.

    Args:
        plan_file: ``plan.json``; its topology is beside it.
        collective: its name.
        size_bytes: as rules have it: of a message, or of one rank's block.
        nodes: None: all that were surveyed. Further ones are taken to be like those.
        per_node: ranks on each; None: as many as were surveyed there.
        root: 0 where the collective has none.

    Raises:
        IsochroneError: a file is damaged, or they do not belong together.
        UsageError: there can be no such job, or no such call in it.
    """
    plan = read_plan_with_learned(plan_file)
    topology = read_planned_topology(plan, plan_file)
    if size_bytes and not table_row(collective)["has_data"]:
        raise UsageError(f"{collective} has no data", "SIZE", "leave it away")
    places, unseen = _job(topology, nodes, per_node)
    layout = layout_for(plan, topology, places, str(plan_file))
    rooted = table_row(collective)["rooted"]
    if root and not rooted:
        raise UsageError(f"{collective} has no root", "--root")
    if root >= layout.size:
        raise UsageError(f"rank {root} is not one of {layout.size}", "--root")
    question = (plan.text(), collective, layout, root, size_bytes)
    recipe, reason = _core.choose(*question)
    basis = _core.basis(*question)[0] if layout.size > 1 else "none"
    shape = layout.shape(root if rooted else None)
    rule = rule_for(plan, collective, shape, size_bytes, layout.order())
    trials: Sequence[tuple[str, float]] | None = ()
    if basis == "predicted":
        trials = _core.predicted(*question, _PRICING_S) if layout.size <= MOST_PRICED else None
    shapes = dict.fromkeys(other.shape for other in plan.rules if other.collective == collective)
    elsewhere = tuple(other for other in shapes if other != shape)
    for_floats = _core.choose(*question, as_surveyed=True) if table_row(collective)["reduces"] else None
    return Explanation(layout.size, shape, recipe, reason, basis, rule, elsewhere, trials, unseen, for_floats)


def _job(topology: Topology, nodes: int | None, per_node: int | None) -> tuple[list[Place], int]:
    """The place of each rank, and how many of the hosts were not surveyed: all ranks in the survey's
    order, and those of another job host by host, on each host in the survey's order.
    """
    places = [topology.places[place] for place in topology.ranks]
    if nodes is None and per_node is None:
        return places, 0
    on_host: dict[str, list[int]] = {}
    for rank, place in enumerate(places):
        on_host.setdefault(place.host, []).append(rank)
    surveyed = list(on_host.values())
    wanted = nodes if nodes is not None else len(surveyed)
    found: list[Place] = []
    for node in range(wanted):
        if per_node is not None and len(found) + per_node > MOST_RANKS:
            raise UsageError(f"more than {MOST_RANKS} ranks", "--ppn", "give fewer")
        here = [places[rank] for rank in sorted(_first(surveyed[node % len(surveyed)], places, per_node))]
        if node >= len(surveyed):
            here = [Place(f"like-{p.host}-{node}", p.cpus, p.signature) for p in here]
        found += here
        if len(found) > MOST_RANKS:
            raise UsageError(f"more than {MOST_RANKS} ranks", "--nodes", "give fewer")
    return found, max(0, wanted - len(surveyed))


def _first(ranks: Sequence[int], places: Sequence[Place], per_node: int | None) -> Sequence[int]:
    """The surveyed ranks on the first CPUs of a host, as many as are wanted there."""
    if per_node is None or per_node == len(ranks):
        return ranks
    if per_node < len(ranks):
        return sorted(ranks, key=lambda rank: min(parse_cpus(places[rank].cpus or "0")))[:per_node]
    if any(places[rank].cpus is not None for rank in ranks):
        raise UsageError(
            f"{places[ranks[0]].host} was surveyed with {len(ranks)} ranks, and {per_node} have no places "
            "there",
            "--ppn",
            f"give {len(ranks)} at most",
        )
    return [ranks[0]] * per_node
