# SPDX-License-Identifier: BSD-3-Clause
"""Task graph, system graph and fabric in the language of GraphViz (dot, sfdp)."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np

from isochrone.fabric.model import Fabric, Node, guid_text
from isochrone.fabric.rates import link_rate
from isochrone.files.text import printable
from isochrone.mapping.graph import TaskGraph
from isochrone.mapping.system import System

_MOST_EDGES = 4096
"""Of a task graph; the heaviest are drawn. With more nobody sees anything, and GraphViz takes hours."""


def tasks_dot(graph: TaskGraph, system: System, at: tuple[int, ...]) -> str:
    """The ranks, those of one innermost group in one box, with an edge between two that talk, as thick as
    what they send is heavy. Both directions are one edge.
    """
    low, high = np.minimum(graph.sources, graph.targets), np.maximum(graph.sources, graph.targets)
    keys, row = np.unique(low * graph.ranks + high, return_inverse=True)
    volume = np.bincount(row, graph.volume_bytes.astype(np.float64), len(keys))
    heaviest = np.sort(np.argsort(-volume, kind="stable")[:_MOST_EDGES])
    most = max(volume.max(initial=0.0), 1.0)
    lines = ["graph tasks {", "  layout=sfdp; overlap=false; node [shape=circle, fontsize=10];"]
    members: dict[int, list[int]] = {}
    for rank, place in enumerate(at):
        members.setdefault(system.groups[-1][place], []).append(rank)
    for group, ranks in sorted(members.items()):
        name = system.places[at[ranks[0]]].host if system.places else f"{system.levels[-1]} {group}"
        lines.append(f"  subgraph cluster_{group} {{ label={_quoted(name)};")
        lines.append("    " + " ".join(f"{rank};" for rank in ranks))
        lines.append("  }")
    for edge in heaviest:
        width = 0.2 + 4.8 * volume[edge] / most
        one, other = int(keys[edge]) // graph.ranks, int(keys[edge]) % graph.ranks
        lines.append(
            f"  {one} -- {other} [penwidth={width:.2f}, tooltip={_quoted(f'{volume[edge]:.0f} B')}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def system_dot(system: System) -> str:
    """The tree of groups, and the places as its leaves, with the latency of each level where it is known."""
    lines = ["graph system {", "  rankdir=TB; node [shape=box, fontsize=10];"]
    for level, (name, groups, links) in enumerate(
        zip(system.levels, system.groups, system.links, strict=True)
    ):
        words = name if links is None else f"{name}\n{links.latency_s * 1e6:.3g} us"
        for group in sorted(set(groups)):
            lines.append(f"  g{level}_{group} [label={_quoted(words)}];")
        if level:
            edges = sorted(set(zip(system.groups[level - 1], groups, strict=True)))
            lines += [f"  g{level - 1}_{outer} -- g{level}_{inner};" for outer, inner in edges]
    last = len(system.levels) - 1
    for place, group in enumerate(system.groups[-1]):
        found = system.places[place] if system.places else None
        words = str(place) if found is None else f"{found.host} {found.cpus or ''}".rstrip()
        lines.append(f"  p{place} [shape=plaintext, label={_quoted(words)}];")
        lines.append(f"  g{last}_{group} -- p{place};")
    return "\n".join([*lines, "}"]) + "\n"


def fabric_dot(fabric: Fabric) -> str:
    """Switches in rows by their distance from the hosts, each with how many hosts it has. Parallel cables of
    one speed are one edge, thicker the more they carry.
    """
    hosts = Counter(port.peer[0] for ports in fabric.hosts.values() for _, port in ports if port.peer)
    tiers = fabric.tiers()
    rows: dict[int, list[Node]] = {}
    for node in fabric.switches:
        rows.setdefault(tiers[node.guid], []).append(node)
    lines = ["graph fabric {", "  rankdir=BT; ranksep=1.5; node [shape=box, fontsize=10];"]
    for tier in sorted(rows):
        lines.append("  { rank=same;")
        for node in rows[tier]:
            words = node.name or guid_text(node.guid)
            below = hosts[node.guid]
            words += f"\n{below} host{'' if below == 1 else 's'}" if below else ""
            lines.append(f'    "{guid_text(node.guid)}" [label={_quoted(words)}];')
        lines.append("  }")
    bundles: Counter[tuple[int, int, int, str]] = Counter()
    for one, its, other, _ in fabric.cables():
        if one.kind == other.kind == "switch":
            low, high = sorted((one.guid, other.guid), key=lambda guid: (tiers[guid], guid))
            bundles[low, high, its.width, its.speed] += 1
    gbps = {bundle: count * link_rate(*bundle[2:]) for bundle, count in bundles.items()}
    most = max(gbps.values(), default=0.0) or 1.0
    for (low, high, width, speed), count in bundles.items():
        words = _quoted(f"{count} x {width}x{speed}" if speed else f"{count}")
        thick = 0.5 + 3.5 * gbps[low, high, width, speed] / most
        edge = f'"{guid_text(low)}" -- "{guid_text(high)}"'
        lines.append(f"  {edge} [penwidth={thick:.2f}, tooltip={words}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(words: str) -> str:
    """As DOT takes it, in UTF-8: of JSON it knows quotes, backslashes and ends of lines, and no letters by
    their numbers.
    """
    return json.dumps("\n".join(map(printable, words.split("\n"))), ensure_ascii=False)
