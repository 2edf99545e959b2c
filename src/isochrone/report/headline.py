# SPDX-License-Identifier: BSD-3-Clause
"""What was found, in a few sentences: the page's header and the terminal's summary say the same."""

from __future__ import annotations

from isochrone.report.comparison import LARGE_BYTES, Comparison
from isochrone.report.facts import Facts
from isochrone.report.structure import counted_levels, nesting_words
from isochrone.report.words import counted, join_words, level_noun
from isochrone.units import format_bytes, format_percent, format_ratio, format_time

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
    """How much of the known structure was found; None where nothing is known to compare with."""
    if not facts.topology.accuracy:
        return None
    if min(facts.topology.accuracy.values()) >= 1.0:
        names = join_words([level_noun(name) for name in facts.topology.accuracy])
        return f"Every rank is in its known group, by {names}."
    shares = [
        f"{level_noun(name)} {format_percent(share)}" for name, share in facts.topology.accuracy.items()
    ]
    return f"Ranks in their known group, by {join_words(shares)}."


def broadcast_sentence(comparison: Comparison | None) -> str | None:
    """What the plan gains, or honestly that it does not."""
    if comparison is None or not comparison.compared:
        return None
    name = {"bcast": "broadcast"}.get(comparison.collective, comparison.collective)
    slower = [size for size, speedup in comparison.compared if speedup.high < MARGIN]
    slower_words = f" It is slower at {', '.join(format_bytes(size) for size in slower)}." if slower else ""
    if comparison.faster_from is not None:
        size, mean = comparison.faster_from
        at = "at every size measured" if size == comparison.compared[0][0] else f"from {format_bytes(size)}"
        return (
            f"With the plan, {name} is faster than the library's own {at}: {format_ratio(mean)} on average."
            f"{slower_words}"
        )
    faster = [size for size, speedup in comparison.compared if speedup.low > 1.0]
    if faster:
        return (
            f"With the plan, {name} is faster than the library's own at {len(faster)} of "
            f"{len(comparison.compared)} sizes.{slower_words}"
        )
    if slower:
        return f"The plan does not make {name} faster.{slower_words}"
    return f"No gain for {name} was proven: with the plan it is as fast as the library's own."


def oversubscription_sentence(facts: Facts) -> str | None:
    """A warning where ranks shared cores; None where they did not, or where that is not known."""
    if not facts.oversubscribed or facts.survey is None:
        return None
    return (
        f"{counted(facts.rank_count, 'rank')} shared {counted(facts.survey.cores or 0, 'core')}: "
        "times include waiting for a core, and say little about runs with a core for each rank."
    )


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
    if facts.topology.accuracy:
        worst = min(facts.topology.accuracy, key=lambda name: facts.topology.accuracy[name])
        note = (
            "at every known level"
            if facts.topology.accuracy[worst] >= 1
            else f"at its worst, by {level_noun(worst)}"
        )
        figures.append(("Accuracy", format_percent(facts.topology.accuracy[worst]), note))
    comparison = facts.comparison
    if (
        comparison is not None
        and comparison.geomean_speedup is not None
        and comparison.min_speedup is not None
    ):
        if comparison.geomean_speedup_large is not None:
            large = f"from {format_bytes(LARGE_BYTES)}, against the library's own"
            figures.append(("Broadcast", format_ratio(comparison.geomean_speedup_large), large))
        figures.append(
            (
                "All sizes",
                format_ratio(comparison.geomean_speedup),
                f"least {format_ratio(comparison.min_speedup)}",
            )
        )
    return figures
