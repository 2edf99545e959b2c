# SPDX-License-Identifier: BSD-3-Clause
"""What was found, in a few sentences: the page's header and the terminal's summary say the same."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.files import NATIVE, Plan
from isochrone.mapping.words import gain, no_help, predictions
from isochrone.report.comparison import LARGE_BYTES, Comparison, is_proven_faster
from isochrone.report.facts import Facts
from isochrone.report.rankmap import RankMap
from isochrone.report.structure import counted_levels, nesting_words
from isochrone.units import format_bytes, format_percent, format_ratio, format_time, number_of
from isochrone.words import capitalised, counted, join_words, level_noun

MOST_FINDINGS = 10
"""That are shown at once."""
NOTHING_SLOW = "Nothing in it is slower than its like."
_COSTS = {"volume": "bytes times distance", "hops": "bytes times links"}
_COST_OF_TIME = {"time": ", one after another, cost", "load": " keep the busiest way busy for"}

MARGIN = 0.98
"""Below this ratio a plan counts as slower, above it as level with the library's own."""


def found(facts: Facts) -> str:
    """Which ranks, hosts and levels: "128 ranks in 2 switches, 4 nodes and 8 sockets"."""
    ranks = counted(facts.rank_count, "rank")
    hosts = "1 host" if len(facts.hosts) == 1 else f"{len(facts.hosts):,} hosts"
    if len(facts.levels) < 2:
        return f"{ranks} on {hosts}"
    named = any(level.name == "node" for level in facts.levels[1:])
    return f"{ranks} {'' if named else f'on {hosts} '}in {counted_levels(facts)}"


def nesting_sentence(facts: Facts) -> str | None:
    """How the levels nest, or that there is but one; None for a single rank."""
    if facts.rank_count < 2:
        return None
    if len(facts.levels) < 2:
        return "Message times show no groups among the ranks."
    return f"The {level_noun(facts.levels[0].name)} has {nesting_words(facts)}."


def latency_sentence(facts: Facts) -> str | None:
    """The nearest and the farthest: "A message takes 0.500 µs inside an L3 group and 1.80 µs across the
    machine.".
    """
    if facts.rank_count < 2:
        return None
    known = [(level.name, level.links.latency_s) for level in facts.levels if level.links is not None]
    if not known:
        return None
    (outer, outer_s), (inner, inner_s) = known[0], known[-1]
    if len(known) == 1:
        return f"An empty message takes {format_time(outer_s)} from rank to rank."
    return (
        f"An empty message takes {format_time(inner_s)} inside one {level_noun(inner)} "
        f"and {format_time(outer_s)} across the {level_noun(outer)}."
    )


def accuracy_sentence(facts: Facts) -> str | None:
    """How much of the true structure was found, or else what agrees with what is known; None where nothing
    is.
    """
    if not facts.accuracy:
        return _checks_sentence(facts) if facts.checks else None
    if min(facts.accuracy.values()) >= 1.0:
        names = join_words([level_noun(name) for name in facts.accuracy])
        return f"Every rank is in its known group, by {names}."
    shares = [f"{level_noun(name)} {format_percent(share)}" for name, share in facts.accuracy.items()]
    return f"Ranks in their known group, by {join_words(shares)}."


def _checks_sentence(facts: Facts) -> str:
    """What agrees with what: "Compared with host names, every rank is in its node; socket is not
    checked.".
    """
    whole = [check.name for check in facts.checks if check.accuracy >= 1.0]
    found = [f"every rank is in its {join_words([level_noun(name) for name in whole])}"] if whole else []
    found += [
        f"{format_percent(check.accuracy)} of the ranks are in their {level_noun(check.name)}"
        for check in facts.checks
        if check.accuracy < 1.0
    ]
    missing = unchecked_words(facts)
    sources = join_words(check_sources(facts))
    return f"Compared with {sources}, {join_words(found)}{f'; {missing}' if missing else ''}."


def check_sources(facts: Facts) -> list[str]:
    """Where what the levels were compared with is known from: "host names", "hwloc"."""
    return list(dict.fromkeys(check.source for check in facts.checks))


def unchecked_words(facts: Facts) -> str | None:
    """The levels that were found and that nothing known is like: "socket and L3 group are not checked"; None
    where there is none.
    """
    checked = {check.name for check in facts.checks} | {check.level for check in facts.checks}
    missing = [level_noun(level.name) for level in facts.levels[1:] if level.name not in checked]
    if not missing:
        return None
    return f"{join_words(missing)} {'is' if len(missing) == 1 else 'are'} not checked"


def collective_sentences(comparisons: Sequence[Comparison], plan: Plan | None) -> list[str]:
    """What the plan gains: a sentence for those collectives that gain at every size, one for those that do
    not, and one for each of the others.
    """
    said = {one.words: collective_sentence(one, plan) for one in comparisons}
    level = [one.words for one in comparisons if _is_level(one, plan)]
    gains = {
        one.words: one.faster_from[1]
        for one in comparisons
        if one.faster_from and one.words not in level and one.faster_from[0] == one.compared[0][0]
    }
    sentences: list[str | None] = []
    if len(gains) > 1:
        means = [f"{name} ({format_ratio(mean)})" for name, mean in gains.items()]
        sentences.append(
            f"With the plan, faster than the library's own at every size measured: {join_words(means)} on "
            "average."
        )
    else:
        sentences += [said[name] for name in gains]
    rest = [sentence for name, sentence in said.items() if name not in gains and name not in level]
    if len(level) > 1:
        rest.append(
            f"No gain for {join_words(level)} was proven: with the plan they are as fast as the library's "
            "own."
        )
    else:
        rest += [said[name] for name in level]
    told = [one.words for one in comparisons if any(row.own_gain is not None for row in one.sizes)]
    if told:
        rest.append(f"The library was told the best of its own that was found, for {join_words(told)}.")
    return [sentence for sentence in (*sentences, *rest) if sentence]


def _is_level(comparison: Comparison, plan: Plan | None) -> bool:
    """Whether a plan leaves the collective as it is, and it is not slower for it."""
    return bool(comparison.compared) and not _slower_sizes(comparison) and _keeps_to_own(plan, comparison)


def _slower_sizes(comparison: Comparison) -> list[int]:
    """At which the plan is proven slower by more than the margin."""
    return [size for size, speedup in comparison.compared if speedup.high < MARGIN]


def collective_sentence(comparison: Comparison, plan: Plan | None = None) -> str | None:
    """What the plan gains for one collective, or honestly that it does not. A plan without rules gains
    nothing, whatever the times of its verification say by chance. None where nothing was compared.
    """
    if not comparison.compared:
        return None
    name = comparison.words
    if not comparison.sized:
        return _sentence_without_sizes(comparison, plan)
    slower = _slower_sizes(comparison)
    slower_words = f" It is slower at {', '.join(format_bytes(size) for size in slower)}." if slower else ""
    faster = [size for size, speedup in comparison.compared if is_proven_faster(speedup)]
    if _keeps_to_own(plan, comparison) or (plan is None and not faster):
        equal = "" if slower else ": with the plan it is as fast as the library's own"
        return f"No gain for {name} was proven{equal}.{slower_words}"
    if comparison.faster_from is not None:
        size, mean = comparison.faster_from
        at = "at every size measured" if size == comparison.compared[0][0] else f"from {format_bytes(size)}"
        return (
            f"With the plan, {name} is faster than the library's own {at}: {format_ratio(mean)} on average."
            f"{slower_words}"
        )
    sizes = number_of(len(comparison.compared), "size")
    if not faster:
        return f"With the plan, no gain for {name} was proven at any of {sizes}.{slower_words}"
    return (
        f"With the plan, {name} is proven faster than the library's own at {len(faster)} of {sizes}."
        f"{slower_words}"
    )


def _sentence_without_sizes(comparison: Comparison, plan: Plan | None) -> str:
    """Of a collective that has no data: there is one time, and not one for each size."""
    ((_, speedup),) = comparison.compared
    if speedup.high < MARGIN:
        return f"With the plan, {comparison.words} is slower than the library's own."
    if _keeps_to_own(plan, comparison) or not is_proven_faster(speedup):
        return f"No gain for {comparison.words} was proven: with the plan it is as fast as the library's own."
    return (
        f"With the plan, {comparison.words} is faster than the library's own: "
        f"{format_ratio(speedup.estimate)}."
    )


def _keeps_to_own(plan: Plan | None, comparison: Comparison) -> bool:
    """Whether there is a plan, and nothing in it for the collective but the library's own."""
    if plan is None:
        return False
    return all(rule.recipe == NATIVE for rule in plan.rules if rule.collective == comparison.collective)


def mapping_sentences(mapping: RankMap | None) -> list[str]:
    """What a mapping changes, and where it does not help; nothing where there is none."""
    if mapping is None:
        return []
    file = mapping.file
    is_time = file.objective in ("time", "load")
    before, after = (
        format_time(cost) if is_time else f"{cost:,.0f}" for cost in (file.identity_cost, file.cost)
    )
    unit = "" if is_time else f" {_COSTS[file.objective]}"
    # The objective adds up messages that may be under way at once: it is not the time of a run.
    messages = f"The messages of {number_of(mapping.rank_count, 'rank')}"
    cost = _COST_OF_TIME.get(file.objective, " cost")
    less = gain(file.identity_cost, file.cost)
    # A mapping that was made without a graph has no costs.
    found = (
        [f"{messages}{cost} {before}{unit} in their order and {after} mapped{less}"]
        if file.identity_cost
        else []
    )
    if file.prediction is not None:
        found += predictions(file.prediction)
    if file.advice is not None:
        found.append(no_help(file.advice))
    return [f"{sentence}." for sentence in found]


def oversubscription_sentence(facts: Facts) -> str | None:
    """A warning where ranks shared cores; None where they did not, or where that is not known."""
    if not facts.oversubscribed:
        return None
    cores = facts.survey.cores if facts.survey else None
    shared = (
        "Ranks shared cores"
        if cores is None
        else f"{counted(facts.rank_count, 'rank')} shared {counted(cores, 'core')}"
    )
    return f"{shared}: times include waiting for a core, and say little about runs with a core for each rank."


def unmeasured_words(facts: Facts) -> str | None:
    """How many pairs were not measured: "1,716 of 2,016 pairs"; None where all were."""
    measured = facts.measurements
    if measured.complete:
        return None
    return f"{measured.pairs_total - measured.pairs_measured:,} of {measured.pairs_total:,} pairs"


def key_figures(facts: Facts) -> list[tuple[str, str, str]]:
    """(name, value, note) of the figures that the page shows large."""
    measured = facts.measurements
    share = "all" if measured.complete else f"of {measured.pairs_total:,}"
    figures = [
        (
            "Ranks",
            f"{facts.rank_count:,}",
            f"on {len(facts.hosts):,} host{'s' if len(facts.hosts) != 1 else ''}",
        ),
        ("Levels found", str(len(facts.levels)), ", ".join(level_noun(level.name) for level in facts.levels)),
        ("Pairs measured", f"{measured.pairs_measured:,}", f"{share}, in {format_time(measured.elapsed_s)}"),
    ]
    if facts.accuracy:
        worst = min(facts.accuracy, key=lambda name: facts.accuracy[name])
        exact = facts.accuracy[worst] >= 1
        note = "at every known level" if exact else f"at its worst, by {level_noun(worst)}"
        figures.append(("Accuracy", format_percent(facts.accuracy[worst]), note))
    elif facts.checks:
        figures.append(_check_figure(facts))
    return [
        *figures,
        *(_gain_figure(comparison, facts.plan) for comparison in facts.comparisons if comparison.compared),
    ]


def _gain_figure(comparison: Comparison, plan: Plan | None) -> tuple[str, str, str]:
    """What the plan gains for one collective over all sizes, and for large messages."""
    name, mean, least = capitalised(comparison.words), comparison.geomean_speedup, comparison.min_speedup
    if mean is None or least is None or _keeps_to_own(plan, comparison):
        return name, "no gain", "nothing tried was proven faster"
    if len(comparison.compared) == 1:
        return name, format_ratio(mean), "against the library's own"
    large = comparison.geomean_speedup_large
    from_large = "" if large is None else f", {format_ratio(large)} from {format_bytes(LARGE_BYTES)}"
    return name, format_ratio(mean), f"mean of all sizes{from_large}, least {format_ratio(least)}"


def _check_figure(facts: Facts) -> tuple[str, str, str]:
    """Where nobody knows the truth: what was compared, with what, and what was not."""
    sources = check_sources(facts)
    worst = min(facts.checks, key=lambda check: check.accuracy)
    agree = "agrees" if sources == ["hwloc"] or sources == ["fabric"] else "agree"
    value = agree if worst.accuracy >= 1.0 else format_percent(worst.accuracy)
    compared = (
        f"{join_words([level_noun(check.name) for check in facts.checks])} only"
        if worst.accuracy >= 1.0
        else f"of the ranks, at its worst, by {level_noun(worst.name)}"
    )
    note = "; ".join(part for part in (compared, unchecked_words(facts)) if part)
    return capitalised(join_words(sources)), value, note
