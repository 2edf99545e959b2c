# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a run by kind: how long they took, how much of that was waiting, and what a plan would save.

A plan saves nothing of the time before the last rank has come. What it saves is a share of the operation: the
time from when the last rank came until the last left, of which the median counts, so that a few calls that
were held up promise nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from isochrone import _core
from isochrone.files import NATIVE, TOLD, LibraryRule, LibraryTuning, Plan, Rule, Topology
from isochrone.files.profile import Profile, Timed
from isochrone.tune.candidates import candidates
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.collectives import has_agreed_size
from isochrone.tune.layout import layout_for
from isochrone.tune.lookup import rule_for, rule_of
from isochrone.tune.prices import MOST_PRICED
from isochrone.units import number_of


@dataclass(frozen=True)
class Gain:
    """What there is to gain for calls of one kind.

    Attributes:
        source: ``measured``: the plan has a rule; ``interpolated``: it has two around that agree;
            ``predicted``: the model prices its best recipe; ``unknown``: none of these.
        recipe: that would run.
        factor: how many times as fast the operation would be; 1: nothing is to be gained.
        interval: of the factor, where it was measured.
    """

    source: str
    recipe: str = NATIVE
    factor: float = 1.0
    interval: tuple[float, float] | None = None


UNKNOWN = Gain("unknown")
BY_RULES = ("measured", "interpolated")
"""Sources of gains that a plan has without a trial."""


@dataclass(frozen=True)
class Kind:
    """Calls of one collective, of sizes between two powers of two, on communicators of one shape.

    Attributes:
        size_bytes: of a message or a block, on average; None where ranks know no size alike.
        where: the communicators, in words.
        ranks, communicators: how many ranks each has, and how many there are.
        call_s: in one call, on average over ranks, with all waiting.
        share: of the time of all ranks.
        waiting: what of that is before the last rank has come; None where no call was sampled.
        operation_s: the rest of a call for all ranks together; None as well.
        saved_share: of the time of all ranks that would be saved; None where that is not known, as there is
            neither a rule nor a price, or as no call was sampled.
    """

    collective: str
    size_bytes: float | None
    where: str
    ranks: int
    communicators: int
    calls: int
    call_s: float
    share: float
    waiting: float | None
    operation_s: float | None
    gain: Gain
    saved_share: float | None

    @property
    def most_saved_share(self) -> float:
        """Of the time of all ranks: more than that is not saved, though all of the calls were operation."""
        return self.share * (1 - 1 / self.gain.factor)


@dataclass(frozen=True)
class Advice:
    """What a run spent in collectives, and what could be saved.

    Attributes:
        run_s: from the start of MPI to its end, on the slowest rank.
        share, slowest_share: of a rank's time in collectives: the median over ranks, and the most.
        waiting: of all the time in collectives, before the last rank had come; None where no call was
            sampled.
        saved_share: of a rank's time that would be saved: the median over ranks.
        saved_measured_share: the same by rules alone.
        open_share: the median over ranks of what is no waiting: more than that cannot be saved.
        kinds: those with most time first.
        untimed: calls that are not covered, by their kind.
        has_plan: whether there is a plan.
        sync_error_s: how far clocks of two ranks may be apart.
    """

    run_s: float
    share: float
    slowest_share: float
    waiting: float | None
    saved_share: float
    saved_measured_share: float
    open_share: float
    kinds: tuple[Kind, ...]
    untimed: dict[str, int]
    has_plan: bool
    sync_error_s: float


@dataclass(frozen=True)
class _Row:
    row: Timed
    where: str
    gain: Gain

    @property
    def operation_s(self) -> float:
        """Of all its calls."""
        return self.row.calls * min(self.row.operation_s, self.row.operation_median_s)

    @property
    def saved_s(self) -> float:
        """Of one rank of its group."""
        return self.operation_s * (1 - 1 / self.gain.factor)


def advice(
    profile: Profile, plan: Plan | None, topology: Topology | None, tuning: LibraryTuning | None = None
) -> Advice:
    """What there is to gain.

    Args:
        profile: of a run.
        plan: for its library; None: there is none.
        topology: of the plan. Its places need not be those of the run.
        tuning: that the library is told with the plan, whose gains are over that.
    """
    gain_of, where_of = _judges(profile, plan, topology, tuning)
    rows = [_Row(row, where_of(row), gain_of(row)) for row in profile.rows]
    run_s = max(profile.rank_s)
    all_s = max(sum(profile.rank_s), 1e-12)
    kinds: dict[tuple[str, int, str, Gain, bool], list[_Row]] = defaultdict(list)
    for each in rows:
        digits = size_of(each.row, len(profile.groups[each.row.group])).bit_length()
        # What is predicted of one recipe differs from row to row.
        what = replace(each.gain, factor=1.0) if each.gain.source == "predicted" else each.gain
        # What a few sampled calls save says nothing of many others.
        kinds[each.row.collective, digits, each.where, what, each.row.sampled > 0].append(each)
    found = [_kind(profile, few, all_s) for few in kinds.values()]
    sampled_s = sum(row.sampled_s for row in profile.rows)
    shares = [
        spent_s / max(rank_s, 1e-12)
        for spent_s, rank_s in zip(profile.collectives_s, profile.rank_s, strict=True)
    ]
    return Advice(
        run_s=run_s,
        share=median(shares),
        slowest_share=max(shares),
        waiting=sum(row.waiting_s for row in profile.rows) / sampled_s if sampled_s > 0 else None,
        saved_share=_median_saved(profile, rows, run_s),
        saved_measured_share=_median_saved(profile, [r for r in rows if r.gain.source in BY_RULES], run_s),
        open_share=median(
            max(0.0, spent_s - waiting_s) / max(rank_s, 1e-12)
            for spent_s, waiting_s, rank_s in zip(
                profile.collectives_s, profile.waiting_s, profile.rank_s, strict=True
            )
        ),
        kinds=tuple(sorted(found, key=lambda kind: -kind.share)),
        untimed=dict(profile.untimed),
        has_plan=plan is not None,
        sync_error_s=profile.sync_error_s,
    )


def _median_saved(profile: Profile, rows: Sequence[_Row], run_s: float) -> float:
    """Of a rank's time; groups at the same time do not add up, and those of one rank do."""
    saved_s = [0.0] * profile.ranks
    for each in rows:
        for rank in profile.groups[each.row.group]:
            saved_s[rank] += each.saved_s
    return median(saved_s) / max(run_s, 1e-12)


def _kind(profile: Profile, few: Sequence[_Row], all_s: float) -> Kind:
    rows = [each.row for each in few]
    sizes = [len(profile.groups[row.group]) for row in rows]
    calls = sum(row.calls for row in rows)
    seconds = sum(row.seconds for row in rows)
    sampled_s = sum(row.sampled_s for row in rows)
    sampled = [row for row in rows if row.sampled]
    weights = sum(row.calls for row in sampled)
    return Kind(
        collective=rows[0].collective,
        size_bytes=sum(row.calls * size_of(row, size) for row, size in zip(rows, sizes, strict=True)) / calls
        if _has_size(rows[0].collective)
        else None,
        where=few[0].where,
        ranks=max(sizes),
        communicators=len({row.group for row in rows}),
        calls=calls,
        call_s=seconds / sum(row.calls * size for row, size in zip(rows, sizes, strict=True)),
        share=seconds / all_s,
        waiting=sum(row.waiting_s for row in rows) / sampled_s if sampled_s > 0 else None,
        operation_s=sum(row.operation_median_s * row.calls for row in sampled) / weights if weights else None,
        gain=replace(few[0].gain, factor=_factor(few)),
        saved_share=_saved_share(few, sizes, all_s),
    )


def _saved_share(few: Sequence[_Row], sizes: Sequence[int], all_s: float) -> float | None:
    """Of rows that are all sampled, or none of them."""
    gain = few[0].gain
    if gain.source == "unknown" or (gain.factor > 1 and not few[0].row.sampled):
        return None
    return sum(each.saved_s * size for each, size in zip(few, sizes, strict=True)) / all_s


def _factor(few: Sequence[_Row]) -> float:
    """How many times as fast all operations of a kind would be."""
    before_s = sum(each.operation_s for each in few)
    after_s = before_s - sum(each.saved_s for each in few)
    return before_s / after_s if after_s > 0 else few[0].gain.factor


def size_of(row: Timed, ranks: int) -> int:
    """Bytes of a call on average, as rules have them: of a message or a block, the mean one where blocks
    differ.
    """
    parts = row.calls * (ranks if table_row(row.collective)["agreed"] == "blocks" else 1)
    return -(-row.bytes // parts)


def _has_size(name: str) -> bool:
    return table_row(name)["has_data"] and has_agreed_size(name)


def _judges(
    profile: Profile, plan: Plan | None, topology: Topology | None, tuning: LibraryTuning | None
) -> tuple[Callable[[Timed], Gain], Callable[[Timed], str]]:
    """What there is to gain for a row, and its communicator in words."""

    def plainly(row: Timed) -> str:
        group = profile.groups[row.group]
        hosts = len({profile.places[rank].host for rank in group})
        return f"{number_of(len(group), 'rank')} on {number_of(hosts, 'host')}"

    if plan is None or topology is None:
        return (lambda _: UNKNOWN), plainly
    try:
        whole = layout_for(plan, topology, profile.places, "plan.json")
    except ValueError:
        return (lambda _: UNKNOWN), plainly
    plan_text = plan.text()
    layouts: dict[int, _core.Layout] = {}
    bests: dict[tuple[str, str, str, int], str] = {}

    def layout_of(row: Timed) -> _core.Layout:
        if row.group not in layouts:
            layouts[row.group] = whole.restricted_to(profile.groups[row.group])
        return layouts[row.group]

    def gain_of(row: Timed) -> Gain:
        layout = layout_of(row)
        gain = by_plan(row, layout)
        if tuning is None or layout.size != tuning.ranks:
            return gain
        return _with_library(
            gain, rule_of(tuning.told(row.collective), row.collective, size_of(row, layout.size))
        )

    def by_plan(row: Timed, layout: _core.Layout) -> Gain:
        shape = layout.shape(row.root if table_row(row.collective)["rooted"] else None)
        size_bytes = size_of(row, layout.size)
        recipe, _ = _core.choose(plan_text, row.collective, layout, row.root, size_bytes)
        rule = rule_for(plan, row.collective, shape, size_bytes, layout.order())
        if rule is not None:
            return _measured(rule, recipe)
        basis, speedup = _core.basis(plan_text, row.collective, layout, row.root, size_bytes)
        if basis == "interpolated":
            # What is the library's own around is that here, without a trial.
            return Gain(basis) if recipe == NATIVE else Gain(basis, recipe, max(1.0, speedup))
        # No program tries what has no price.
        if basis == "none" or not row.sampled or layout.size > MOST_PRICED:
            return UNKNOWN
        # Recipes that keep the order of ranks cannot run in every one.
        key = row.collective, shape, layout.order(), size_bytes.bit_length()
        if key not in bests:
            # Of the least such size, so that it does not depend on which of them comes first.
            bests[key] = _best(row, layout, size_bytes and 1 << (size_bytes.bit_length() - 1))
        return _predicted(row, layout, size_bytes, bests[key])

    return gain_of, (lambda row: layout_of(row).shape())


def _measured(rule: Rule, recipe: str) -> Gain:
    if recipe == NATIVE:
        return Gain("measured")
    return Gain("measured", recipe, max(1.0, rule.evidence.speedup), rule.evidence.speedup_ci)


def _with_library(gain: Gain, told: LibraryRule | None) -> Gain:
    """With what the library's own gains by what it is told. Where the plan has no rule that is all that was
    measured: what the model says of recipes is not over that.
    """
    if told is None:
        return gain
    by_plan = gain if gain.source in BY_RULES else Gain("measured")
    recipe = TOLD + told.algorithm if by_plan.recipe == NATIVE else by_plan.recipe
    low, high = by_plan.interval or (by_plan.factor, by_plan.factor)
    own_low, own_high = told.evidence.speedup_ci
    factor = by_plan.factor * max(1.0, told.evidence.speedup)
    return Gain(by_plan.source, recipe, factor, (low * own_low, high * own_high))


def _best(row: Timed, layout: _core.Layout, size_bytes: int) -> str:
    """The model's best recipe for calls like these; ``native`` where it knows none."""
    return next(iter(candidates(row.collective, layout, (row.root,), size_bytes, 1)), NATIVE)


def _predicted(row: Timed, layout: _core.Layout, size_bytes: int, best: str) -> Gain:
    if best == NATIVE:
        return UNKNOWN
    price_s = _core.predict(row.collective, layout, best, row.root, size_bytes)
    operation_s = min(row.operation_s, row.operation_median_s)
    if price_s <= 0 or operation_s <= price_s:
        return Gain("predicted")
    return Gain("predicted", best, operation_s / price_s)
