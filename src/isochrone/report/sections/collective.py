# SPDX-License-Identifier: BSD-3-Clause
"""The collective's time by size: the library's own, the plan, and the library at its best."""

from __future__ import annotations

from isochrone.files import Bench
from isochrone.report.bysize import by_size
from isochrone.report.comparison import Comparison, SizeComparison, is_proven_faster
from isochrone.report.facts import Facts
from isochrone.report.headline import collective_sentence
from isochrone.report.html import Html, table, tag
from isochrone.report.sections.parts import absent, chart, figure, section
from isochrone.statistics import Interval
from isochrone.tune.collectives import is_rooted
from isochrone.units import format_bytes, format_ratio, format_ratio_interval, format_time, number_of
from isochrone.words import capitalised


def not_compared(facts: Facts) -> Html:
    """The section where no collective was compared: why that is."""
    title = "Time by message size"
    if "bench.jsonl" in facts.not_shown:
        return section("collectives", title, absent(facts.not_shown["bench.jsonl"]))
    missing = "No verification run is in this folder (bench.jsonl), so nothing is compared here."
    return section("collectives", title, absent(missing))


def collective(facts: Facts, bench: Bench, comparison: Comparison) -> Html:
    """The section on the verification run of one collective. What has no data has no figure."""
    name, stem = capitalised(comparison.words), comparison.stem
    how = tag("p", _how(bench, comparison))
    if by_size(comparison) is None:
        return section(stem, f"{name} time", how, _table(comparison), tag("p", _caption(comparison, "Times")))
    description = collective_sentence(comparison, facts.plan) or ""
    charts = [
        chart(
            f"{stem}-time", f"Time by {comparison.sized_by} size on logarithmic axes. {description}", "tall"
        ),
        chart(
            f"{stem}-speedup",
            f"Speedup by {comparison.sized_by} size, with the line of equal speed. {description}",
            "wide",
        ),
    ]
    return section(
        stem,
        f"{name} time by {comparison.sized_by} size",
        how,
        figure(charts, _caption(comparison, "Lines"), stem),
        tag("details", tag("summary", "All figures as a table"), _table(comparison), open="open"),
    )


def _how(bench: Bench, comparison: Comparison) -> str:
    roots = ""
    if is_rooted(comparison.collective):
        several = len(comparison.roots) > 1
        roots = f", {len(comparison.roots)} different roots" if several else f", root {comparison.roots[0]}"
    aligned = {"clock": "starts aligned on synchronised clocks", "barrier": "starts aligned by a barrier"}
    start = aligned.get(bench.start, "starts as the run recorded them")
    error = (
        f" (to {format_time(bench.sync_error_s)})" if bench.start == "clock" and bench.sync_error_s else ""
    )
    fewest, most = comparison.repetitions
    repetitions = f"{'' if fewest == most else f'{fewest} to '}{number_of(most, 'repetition')}"
    return (
        f"The slowest rank's time of each {comparison.words}{roots}, {repetitions}, all candidates "
        f"interleaved, {start}{error}."
    )


def _caption(comparison: Comparison, what: str) -> str:
    return (
        f"{what} are medians and their ratios, with 95 % confidence intervals; those of speedups pair the "
        "repetitions. Above 1 the plan is faster, and where the interval holds 1 no difference is "
        f"proven. {_on_the_best(comparison)}"
    )


def _on_the_best(comparison: Comparison) -> str:
    """What is there of the library at its best."""
    if comparison.is_told:
        return (
            "The library was told the best of its own algorithms that was found at each size, by "
            "library.json beside this page. “Not looked for” is where there was no time to find it."
        )
    if not comparison.rivals:
        return "No other algorithm of the library's was measured here."
    return (
        "“Best selectable” is the fastest, at each size, of the library's own choice and the "
        f"{number_of(len(comparison.rivals), 'algorithm')} that it can be told to use."
        f"{_where_told(comparison)}"
    )


def _where_told(comparison: Comparison) -> str:
    told = sum(row.rival is not None for row in comparison.sizes)
    if told == len(comparison.sizes):
        return ""
    return f" That was measured at {told} of {len(comparison.sizes)} sizes."


def _table(comparison: Comparison) -> Html:
    head = [capitalised(comparison.sized_by), "Library's own", "With the plan", "Speedup", "95 % interval"]
    if comparison.rivals:
        head += ["Best selectable", "Its algorithm", "Plan against it"]
    rows = [_row(row, bool(comparison.rivals)) for row in comparison.sizes]
    words = {6}
    if comparison.is_told:
        head[2:2] = ["It was told", "Gain by that"]
        rows = [[*row[:2], *_told(each), *row[2:]] for row, each in zip(rows, comparison.sizes, strict=True)]
        words = {2}
    return table(head, rows, f"Medians by {comparison.sized_by} size", words=words)


def _told(row: SizeComparison) -> list[Html | str]:
    """What the library was told, and how much faster it was with that than by its own choice."""
    name = "not looked for" if row.rival is None else row.rival.name
    return [name, "–" if row.own_gain is None else format_ratio(row.own_gain)]


def _row(row: SizeComparison, with_rival: bool) -> list[Html | str]:
    size = format_bytes(row.size_bytes) if row.size_bytes > 0 else "empty"
    cells: list[Html | str] = [size, format_time(row.native_s.estimate)]
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
    kind = "faster" if is_proven_faster(speedup) else "slower" if speedup.high < 1.0 else None
    return tag("span", format_ratio(speedup.estimate), class_=kind)
