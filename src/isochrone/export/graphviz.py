# SPDX-License-Identifier: BSD-3-Clause
"""Task graph and system graph in the language of GraphViz (dot, sfdp)."""

from __future__ import annotations

import json

import numpy as np

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
        lines.append(f"  subgraph cluster_{group} {{ label={json.dumps(name)};")
        lines.append("    " + " ".join(f"{rank};" for rank in ranks))
        lines.append("  }")
    for edge in heaviest:
        width = 0.2 + 4.8 * volume[edge] / most
        one, other = int(keys[edge]) // graph.ranks, int(keys[edge]) % graph.ranks
        lines.append(
            f"  {one} -- {other} [penwidth={width:.2f}, tooltip={json.dumps(f'{volume[edge]:.0f} B')}];"
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
            lines.append(f"  g{level}_{group} [label={json.dumps(words)}];")
        if level:
            edges = sorted(set(zip(system.groups[level - 1], groups, strict=True)))
            lines += [f"  g{level - 1}_{outer} -- g{level}_{inner};" for outer, inner in edges]
    last = len(system.levels) - 1
    for place, group in enumerate(system.groups[-1]):
        found = system.places[place] if system.places else None
        words = str(place) if found is None else f"{found.host} {found.cpus or ''}".rstrip()
        lines.append(f"  p{place} [shape=plaintext, label={json.dumps(words)}];")
        lines.append(f"  g{last}_{group} -- p{place};")
    return "\n".join([*lines, "}"]) + "\n"
