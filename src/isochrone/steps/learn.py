# SPDX-License-Identifier: BSD-3-Clause
"""Learn: what programs found in their own calls becomes part of the plan.

Each job leaves a file of its own beside the plan, so that jobs at the same time do not meet, and one that is
killed leaves nothing. The next run folds them in.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from isochrone.errors import IsochroneError
from isochrone.files.learned import Learned, read_learned
from isochrone.files.plan import Plan, Rule, laid_over, overlap, read_plan, without, write_plan
from isochrone.files.provenance import provenance
from isochrone.launch.lock import locked
from isochrone.steps.folder import alone_in
from isochrone.tune.collectives import collective
from isochrone.tune.lookup import rules_for

FOLDER = "learned"
LEARNED = "learned"
"""In a plan's provenance, when the last of its live rules were found."""

_log = logging.getLogger(__name__)


def learned_beside(plan_file: Path) -> Path:
    """The folder for what is learned with a plan."""
    return plan_file.absolute().with_name(FOLDER)


def fold_learned(plan_file: Path) -> None:
    """Puts what jobs have left into the plan, and removes their files. What cannot be done is said in a line:
    programs run on the plan as it is.
    """
    folder = learned_beside(plan_file)
    try:
        if not any(folder.glob("*.json")):
            return
        with (
            locked(folder / "lock", "waiting for another run, which puts what was learned into the plan"),
            # A tuning would replace what is written now, or be replaced by it.
            alone_in(plan_file.absolute().parent),
        ):
            # It may have been done meanwhile.
            _fold(plan_file, _files_in(folder))
    except OSError as error:
        _log.warning("%s: what was learned stays out of the plan: %s", folder, error.strerror)
    except IsochroneError as error:
        _log.warning("%s; what was learned stays out of the plan", error)


def read_plan_with_learned(plan_file: Path) -> Plan:
    """The plan as the next run has it, with what jobs have left beside it; no file is changed.

    Raises:
        IsochroneError: the plan cannot be read.
    """
    return with_learned(read_plan(plan_file), plan_file)


def with_learned(plan: Plan, plan_file: Path) -> Plan:
    """The plan of a file as the next run has it."""
    for path in _files_in(learned_beside(plan_file)):
        try:
            learned = read_learned(path)
        except IsochroneError:
            continue  # the next run says so
        if _is_of(learned, plan):
            plan = with_rules(plan, learned.rules)
    return plan


def last_changed(plan: Plan) -> str:
    """When it was made, or rules were learned for it, in an order of texts; empty: not known."""
    return max(str(plan.provenance.get(key, "")) for key in ("time", LEARNED))


def _files_in(folder: Path) -> list[Path]:
    """The oldest first."""
    found = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(FileNotFoundError):  # another run was quicker
            found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def _is_of(learned: Learned, plan: Plan) -> bool:
    """Whether it was learned with this plan: with an earlier one it was held against what ran by that."""
    made = plan.provenance.get("time", "")
    same = (learned.topology.fingerprint, learned.mpi) == (plan.fingerprint, plan.mpi)
    return same and (not learned.plan_time or learned.plan_time == made)


def _fold(plan_file: Path, files: list[Path]) -> None:
    plan = read_plan(plan_file)
    before, done = plan, []
    for path in files:
        try:
            learned = read_learned(path)
        except IsochroneError as error:
            # It would be in the way of all that is learned from now on.
            aside = path.replace(path.with_suffix(".refused"))
            _log.warning("%s; the file stays out of the plan, as %s", error, aside)
            continue
        done.append(path)
        if not _is_of(learned, plan):
            _log.info("%s was learned with another plan, and is dropped", path)
            continue
        plan = with_rules(plan, learned.rules)
    if plan != before:
        plan = replace(plan, provenance=plan.provenance | {LEARNED: provenance()["time"]})
        write_plan(plan_file, plan)
    for path in done:
        path.unlink(missing_ok=True)


def with_rules(plan: Plan, learned: Iterable[Rule]) -> Plan:
    """The plan with rules that take the place of what it says of the same calls. What was measured of a
    reduction goes along.
    """
    rules = list(plan.rules)
    pieces = [piece for new in learned for piece in _pieces(new, plan)]
    for new in pieces:
        beside = [rule for rule in rules if (rule.collective, rule.shape) == (new.collective, new.shape)]
        # Rules for any order no longer hold in one that has its own: so it is given none, or these too.
        if beside and all(rule.order is None for rule in beside):
            new = replace(new, order=None)
        elif all(rule.order != new.order for rule in beside):
            rules += [replace(rule, order=new.order) for rule in beside if rule.order is None]
        kept = [
            part for rule in rules for part in (without(rule, [new]) if _same_calls(rule, new) else (rule,))
        ]
        rules = [*kept, new]
    rules.sort(key=lambda rule: (rule.collective, rule.shape, rule.order or "", rule.min_bytes))
    return replace(plan, rules=tuple(rules))


def _pieces(new: Rule, plan: Plan) -> list[Rule]:
    """What a learned rule adds to a plan: nothing where a reduction was found to be as it was measured."""
    if not collective(new.collective)["reduces"]:
        return [new]
    beside = rules_for(plan, new.collective, new.shape, new.order)
    here = [(laid_over(new, rule), rule) for rule in beside if overlap(new, rule)]
    return [
        *without(new, beside),
        *(
            piece
            for piece, rule in here
            if (piece.basis, piece.recipe, rule.basis) != ("measured", rule.recipe, "measured")
        ),
    ]


def _same_calls(rule: Rule, other: Rule) -> bool:
    return (rule.collective, rule.shape, rule.order) == (other.collective, other.shape, other.order)
