# SPDX-License-Identifier: BSD-3-Clause
"""Which hosts and ranks are in which group, as a tree that unfolds."""

from __future__ import annotations

from isochrone.export.slurm import host_list
from isochrone.report.facts import Facts
from isochrone.report.headline import found
from isochrone.report.hosts import Group, machine_map, rank_list
from isochrone.report.html import Html, tag
from isochrone.words import counted

_MOST_OPEN = 40
"""Groups and hosts that are unfolded from the beginning."""
_LONGEST_LIST = 80
"""Of ranks that are unfolded from the beginning, in characters."""


def where_everything_is(facts: Facts) -> Html | None:
    """The part of the section on the topology; None where there is nothing to tell apart."""
    shown = machine_map(facts)
    if shown.shown == 0:
        return None
    unfolded = _count(shown.whole, shown.shown) <= _MOST_OPEN
    parts = _parts(shown.whole, shown.shown, unfolded)
    title = tag("h3", "Which ranks are where")
    if len(shown.whole.parts) > _MOST_OPEN:
        parts = tag("details", tag("summary", f"{found(facts)}"), parts)
    return tag("div", title, parts, class_="map")


def _parts(group: Group, depth: int, unfolded: bool) -> Html:
    """A list of the parts of a group, and within them down to so many more levels."""
    return tag("ul", [tag("li", _part(part, depth - 1, unfolded)) for part in group.parts])


def _part(part: Group, depth: int, unfolded: bool) -> list[Html | str]:
    name = tag("strong", part.title)
    hosts = host_list(part.hosts)
    ranks = counted(len(part.ranks), "rank")
    if depth == 0 or not part.parts:
        inside = f" ({part.inside})" if part.divided else ""
        where = f" on {hosts}" if len(part.hosts) > 1 else ""
        if part.cpus is not None and part.name not in part.hosts:
            where += f", CPUs {part.cpus}"
        # So that a line may end after a comma.
        listed = rank_list(part.ranks).replace(",", ", ")
        if len(listed) <= _LONGEST_LIST:
            return [name, f"{inside}: {listed}{where}"]
        summary = tag("summary", name, f"{inside}: {ranks}{where}")
        return [tag("details", summary, tag("p", listed, class_="ranks"))]
    holds = f"{hosts}, {ranks}" if len(part.hosts) > 1 else ranks
    summary = tag("summary", name, f": {counted(len(part.parts), part.parts[0].level)}, {holds}")
    return [tag("details", summary, _parts(part, depth, unfolded), open="open" if unfolded else None)]


def _count(group: Group, depth: int) -> int:
    if depth == 0:
        return 1
    return 1 + sum(_count(part, depth - 1) for part in group.parts)
