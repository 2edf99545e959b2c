# SPDX-License-Identifier: BSD-3-Clause
"""Where a program's ranks go, and what meets where before and after."""

from __future__ import annotations

from isochrone.files import Place
from isochrone.labels import natural
from isochrone.report.chartdata import MOST_CELLS
from isochrone.report.facts import Facts
from isochrone.report.headline import mapping_sentences
from isochrone.report.hosts import rank_list, without_domain
from isochrone.report.html import Child, Html, table, tag
from isochrone.report.rankmap import RankMap
from isochrone.report.sections.parts import absent, chart, figure, section
from isochrone.units import approximate_bytes, format_share, number_of

_MOST_OPEN = 40
"""Hosts that are unfolded from the beginning."""
_LONGEST_LIST = 200
"""Of ranks that are unfolded from the beginning, in characters."""


def mapping(facts: Facts) -> Html:
    """The section on the mapping."""
    title = "Mapping"
    found = facts.mapping
    if found is None:
        return section("mapping", title, absent(facts.not_shown["mapping.json"]))
    sentences = mapping_sentences(found)
    return section(
        "mapping",
        title,
        tag("p", " ".join(sentences)) if sentences else None,
        _drawings(facts, found),
        _levels(found) if found.shares else None,
        _where(facts, found),
    )


def _drawings(facts: Facts, found: RankMap) -> list[Child]:
    parts: list[Child] = []
    captions = []
    if found.tasks is not None:
        ranks = number_of(found.rank_count, "rank")
        as_found = chart("mapping-found", f"Matrix of the bytes that {ranks} send, in their order.", "square")
        mapped = chart(
            "mapping-mapped", "The same matrix with the ranks in the order of their places.", "square"
        )
        parts += [
            tag(
                "div",
                tag("div", tag("h3", "Ranks in their order"), as_found),
                tag("div", tag("h3", "By place, as mapped"), mapped),
                class_="pair",
            ),
            tag(
                "p",
                tag("span", "", class_="missing", aria_hidden="true"),
                "nothing is sent",
                class_="key",
            ),
            tag("p", class_="readout", id="mapping-readout", aria_live="polite"),
        ]
        captions.append(
            "Bytes that each rank (down) sends to each other one (across)."
            + (" Each square outlines a group of a level." if len(facts.levels) > 1 else "")
            + (" Neighbours share a cell: there are many." if found.rank_count > MOST_CELLS else "")
        )
    if len(found.shares) > 1:
        bars = chart(
            "mapping-levels", "Bars of the bytes that meet at each level; the table has them.", "wide"
        )
        parts += [tag("h3", "Where bytes meet"), bars]
        captions.append("Bytes meet at the innermost level that has both of their ranks in one group.")
    note = _not_drawn(facts, found)
    drawn = figure(parts, " ".join(captions), "mapping") if parts else None
    return [absent(note) if note else None, drawn]


def _not_drawn(facts: Facts, found: RankMap) -> str | None:
    """Why there is no matrix; None where there is, or where nothing is sent."""
    if "graph.json" in facts.not_shown:
        return facts.not_shown["graph.json"]
    # A mapping that was made without a graph has no levels.
    if found.graph is None and found.file.levels:
        return "What was mapped is not in this folder (graph.json), so what ranks send is not drawn."
    return None


def _levels(found: RankMap) -> Html:
    rows = [
        (
            share.title,
            approximate_bytes(share.before_bytes),
            format_share(share.before),
            approximate_bytes(share.after_bytes),
            format_share(share.after),
        )
        for share in found.shares
    ]
    head = ("Meet at", "In their order", "Share", "Mapped", "Share")
    return table(head, rows, "Bytes that meet at each level, outermost first")


def _where(facts: Facts, found: RankMap) -> list[Child]:
    places, identity = found.file.places, found.file.identity
    several = len(facts.hosts) > 1
    short = without_domain(facts.hosts)

    def name(place: Place) -> str | None:
        if several:
            return short[place.host]
        if place.cpus is None:
            return None
        return f"CPU {place.cpus}" if place.cpus.isdigit() else f"CPUs {place.cpus}"

    ranks: dict[str, list[int]] = {}
    for rank, place in enumerate(places):
        ranks.setdefault(name(place) or short[place.host], []).append(rank)
    moved = sum(name(place) != name(was) for place, was in zip(places, identity, strict=False))
    other = "another host" if several else "other CPUs"
    where = f"{moved:,} of {number_of(len(places), 'rank')} run on {other} than in their order."
    listed: Child = tag("ul", [tag("li", _ranks(of, ranks[of])) for of in sorted(ranks, key=natural)])
    if len(ranks) > _MOST_OPEN:
        listed = tag("details", tag("summary", f"{len(ranks):,} {'hosts' if several else 'places'}"), listed)
    return [tag("h3", "Where each rank goes"), tag("p", where), tag("div", listed, class_="map")]


def _ranks(name: str, ranks: list[int]) -> list[Child]:
    # So that a line may end after a comma.
    listed = rank_list(ranks).replace(",", ", ")
    if len(listed) <= _LONGEST_LIST:
        return [tag("strong", name), f": {listed}"]
    summary = tag("summary", tag("strong", name), f": {number_of(len(ranks), 'rank')}")
    return [tag("details", summary, tag("p", listed, class_="ranks"))]
