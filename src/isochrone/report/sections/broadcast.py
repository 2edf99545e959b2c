# SPDX-License-Identifier: BSD-3-Clause
"""The collective's time by size: the library's own, the plan, and the library at its best."""

from __future__ import annotations

from isochrone.files import Bench
from isochrone.report.comparison import Comparison, SizeComparison
from isochrone.report.facts import Facts
from isochrone.report.headline import broadcast_sentence
from isochrone.report.html import Html, table, tag
from isochrone.report.sections.parts import absent, chart, figure, section
from isochrone.statistics import Interval
from isochrone.units import format_bytes, format_ratio, format_ratio_interval, format_time, number_of


def broadcast(facts: Facts) -> Html:
    """The section on the verification run."""
    title = "Broadcast time by message size"
    comparison = facts.comparison
    if "bench.jsonl" in facts.not_shown:
        return section("broadcast", title, absent(facts.not_shown["bench.jsonl"]))
    if facts.bench is None or comparison is None or not comparison.compared:
        return section(
            "broadcast",
            title,
            absent("No verification run is in this folder (bench.jsonl), so nothing is compared here."),
        )
    description = broadcast_sentence(comparison, facts.plan) or ""
    charts = [
        chart("broadcast-time", f"Time by message size on logarithmic axes. {description}", "tall"),
        chart(
            "broadcast-speedup",
            f"Speedup by message size, with the line of equal speed. {description}",
            "wide",
        ),
    ]
    return section(
        "broadcast",
        title,
        tag("p", _how(facts.bench, comparison)),
        figure(charts, _caption(comparison), "broadcast"),
        tag("details", tag("summary", "All figures as a table"), _table(comparison), open="open"),
    )


def _how(bench: Bench, comparison: Comparison) -> str:
    roots = (
        f"root {comparison.roots[0]}"
        if len(comparison.roots) == 1
        else f"{len(comparison.roots)} different roots"
    )
    aligned = {"clock": "starts aligned on synchronised clocks", "barrier": "starts aligned by a barrier"}
    start = aligned.get(bench.start, "starts as the run recorded them")
    error = (
        f" (to {format_time(bench.sync_error_s)})" if bench.start == "clock" and bench.sync_error_s else ""
    )
    return (
        f"The slowest rank's time of each broadcast from {roots}, "
        f"{number_of(comparison.repetitions, 'repetition')}, all candidates interleaved in one run, "
        f"{start}{error}."
    )


def _caption(comparison: Comparison) -> str:
    rivals = (
        " “Best selectable” is the fastest, at each size, of the library's own choice and the "
        f"{number_of(len(comparison.rivals), 'algorithm')} that it can be told to use."
        f"{_where_told(comparison)}"
        if comparison.rivals
        else " The library offers no other algorithm to choose here."
    )
    return (
        "Lines are medians and their ratios, bands 95 % confidence intervals; those of speedups pair the "
        "repetitions. Above 1 the plan is faster, and where the band holds 1 no difference is "
        f"proven.{rivals}"
    )


def _where_told(comparison: Comparison) -> str:
    told = sum(row.rival is not None for row in comparison.sizes)
    if told == len(comparison.sizes):
        return ""
    return f" That was measured at {told} of {len(comparison.sizes)} sizes."


def _table(comparison: Comparison) -> Html:
    head = ["Message", "Library's own", "With the plan", "Speedup", "95 % interval"]
    if comparison.rivals:
        head += ["Best selectable", "Its algorithm", "Plan against it"]
    rows = [_row(row, bool(comparison.rivals)) for row in comparison.sizes]
    return table(head, rows, "Medians by message size", words={6})


def _row(row: SizeComparison, with_rival: bool) -> list[Html | str]:
    cells: list[Html | str] = [format_bytes(row.size_bytes), format_time(row.native_s.estimate)]
    cells.append("–" if row.plan_s is None else format_time(row.plan_s.estimate))
    cells += [_ratio(row.speedup), "–" if row.speedup is None else format_ratio_interval(row.speedup)]
    if with_rival:
        rival = row.rival
        cells += (
            ["–", "–", "–"]
            if rival is None
            else [format_time(rival.time_s.estimate), rival.name, _ratio(rival.speedup)]
        )
    return cells


def _ratio(speedup: Interval | None) -> Html | str:
    if speedup is None:
        return "–"
    kind = "faster" if speedup.low > 1.0 else "slower" if speedup.high < 1.0 else None
    return tag("span", format_ratio(speedup.estimate), class_=kind)
