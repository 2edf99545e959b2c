# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a fabric: cables that run below what they could, tables that lead nowhere, uplinks that
carry more than others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from isochrone.fabric.model import Node, Port, guid_text
from isochrone.fabric.rates import LANE_GBPS, faster
from isochrone.fabric.routes import ENDINGS, Routes
from isochrone.files.text import Json

Severity = Literal["fault", "info"]

_MOST_EXAMPLES = 5
_MOST_OF_SHARE = 1.5


@dataclass(frozen=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: its name.
        severity: a fault is to be mended; the rest is good to know.
        count: of pairs, cables or whatever ``words`` say.
        words: the fault, for a person.
        examples: a few of them.
    """

    kind: str
    severity: Severity
    count: int
    words: str
    examples: tuple[str, ...]

    def to_json(self) -> Json:
        """As ``check --json`` prints it."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "count": self.count,
            "words": self.words,
            "examples": list(self.examples),
        }


def check(routes: Routes) -> list[Finding]:
    """All that is wrong, faults first."""
    found = [
        *_broken(routes),
        *_split(routes),
        *_duplicate_lids(routes),
        *_degraded(routes),
        *_unbalanced(routes),
        *_asymmetric(routes),
    ]
    return sorted(found, key=lambda finding: finding.severity != "fault")


def _broken(routes: Routes) -> Iterator[Finding]:
    kinds = ("", "unreachable", "dead-end", "loop", "misrouted")
    vertices = list(routes.wiring.hosts.values())
    pairs, examples = routes.core.broken(vertices, _MOST_EXAMPLES)
    for ending in range(1, len(ENDINGS)):
        if pairs[ending]:
            yield Finding(
                kinds[ending],
                "fault",
                pairs[ending],
                f"the route of {_count(pairs[ending], 'pair')} of hosts {ENDINGS[ending]}",
                tuple(_pair(routes, source, to) for source, to, how in examples if how == ending),
            )


def _asymmetric(routes: Routes) -> Iterator[Finding]:
    pairs, examples = routes.core.asymmetric(list(routes.wiring.hosts.values()), _MOST_EXAMPLES)
    if pairs:
        yield Finding(
            "asymmetric",
            "info",
            pairs,
            f"the way back is by other switches for {_count(pairs, 'pair')} of hosts",
            tuple(_pair(routes, source, target) for source, target in examples),
        )


def _split(routes: Routes) -> Iterator[Finding]:
    """Parts that no cable joins, of which the largest is taken for the fabric."""
    fabric = routes.fabric
    part: dict[int, int] = {}
    # Adapters do not forward: two parts that both have a cable to one host are still two.
    forwards = {guid for guid, node in fabric.nodes.items() if node.kind != "adapter"}
    for start in fabric.nodes:
        front = [start] if start in forwards else []
        while front:
            guid = front.pop()
            if guid in part:
                continue
            part[guid] = start
            peers = (port.peer for port in fabric.nodes[guid].ports.values())
            front += [peer[0] for peer in peers if peer is not None and peer[0] in forwards]

    def part_of(node: Node, port: Port) -> int:
        """Of a host at one end of a cable; two on one cable are a part of their own."""
        far = port.peer[0] if port.peer is not None else node.guid
        return part.get(far, min(node.guid, far))

    at = {name: part_of(*ports[0]) for name, ports in fabric.hosts.items()}
    members = Counter(at.values())
    if len(members) > 1:
        largest, most = members.most_common(1)[0]
        apart = [name for name, its in at.items() if its != largest]
        yield Finding(
            "split",
            "fault",
            len(members),
            f"the fabric is in {len(members)} parts that no cable joins; "
            f"{_count(len(apart), 'host')} of {most + len(apart)} are not in the largest",
            tuple(apart[:_MOST_EXAMPLES]),
        )


def _duplicate_lids(routes: Routes) -> Iterator[Finding]:
    owners: dict[int, list[str]] = {}
    lids, lmcs = routes.wiring.arrays[4], routes.wiring.arrays[5]
    for label, base, lmc in zip(routes.wiring.labels, lids, lmcs, strict=True):
        for lid in range(int(base), int(base) + (1 << int(lmc))) if base else ():
            owners.setdefault(lid, []).append(label)
    twice = {lid: names for lid, names in owners.items() if len(names) > 1}
    if twice:
        yield Finding(
            "duplicate-lid",
            "fault",
            len(twice),
            f"{_count(len(twice), 'LID')} given to several ports",
            tuple(
                f"{lid} to {' and '.join(names[:3])}" for lid, names in list(twice.items())[:_MOST_EXAMPLES]
            ),
        )


def _degraded(routes: Routes) -> Iterator[Finding]:
    """Links below what both their ends could do.

    Ports tell of abilities that a fabric's cables never had: 12 lanes where all are wired with 4. What no
    link of the fabric runs at is therefore no fault.
    """
    widths, speeds, below = set(), set(), []
    for node, port, other, far in routes.fabric.cables():
        widths.add(port.width)
        if port.speed:
            speeds.add(port.speed)
        width, speed = max(port.able_width, far.able_width), port.able_speed or far.able_speed
        if width or speed:
            below.append((node, port, other, far, width, speed))
    best = max(speeds, key=list(LANE_GBPS).index, default="")
    told: dict[Severity, list[str]] = {"fault": [], "info": []}
    for node, port, other, far, width, speed in below:
        is_run = (width and width <= max(widths)) or (speed and best and not faster(speed, best))
        able = " ".join(word for word in (f"{width}x" if width else "", speed) if word)
        told["fault" if is_run else "info"].append(
            f"{_name(node)} port {port.number} to {_name(other)} port {far.number} runs at "
            f"{port.width}x{port.speed} and could at {able}"
        )
    for severity, links in told.items():
        if links:
            words = f"{_count(len(links), 'link')} below what both ends could do"
            if severity == "info":
                words += ", as no link of the fabric does"
            yield Finding("degraded", severity, len(links), words, tuple(links[:_MOST_EXAMPLES]))


def _unbalanced(routes: Routes) -> Iterator[Finding]:
    """Switches one of whose cables upwards carries much more than its share by speed, when each host sends as
    much to each other.
    """
    hosts = list(routes.wiring.hosts.values())
    (out, _, _), together = routes.core.uniform(hosts)
    tier = routes.fabric.tiers()
    found = []
    for at, switch in enumerate(routes.switches):
        ups = [
            port
            for port in switch.ports.values()
            if port.peer is not None and tier.get(port.peer[0], 0) > tier[switch.guid]
        ]
        rates = sum(port.rate_gbps for port in ups)
        flow = sum(float(out[at, port.number]) for port in ups)
        for port in ups if rates and flow else ():
            share = flow * port.rate_gbps / rates
            carried = float(out[at, port.number])
            # All that goes to one host takes one way: no table can divide it.
            if carried > max(_MOST_OF_SHARE * share, share + float(together[at])):
                found.append((carried / share if share else math.inf, switch, port))
    if found:
        found.sort(key=lambda row: -row[0])
        switches = len({switch.guid for _, switch, _ in found})
        yield Finding(
            "unbalanced",
            "info",
            len(found),
            f"{_count(len(found), 'uplink')} of {switches} "
            f"{'switches carry' if switches > 1 else 'switch carries'} more than {_MOST_OF_SHARE} times "
            "the share of its speed when all hosts send to all",
            tuple(
                f"{_name(switch)} port {port.number}, {times:.1f} times"
                for times, switch, port in found[:_MOST_EXAMPLES]
            ),
        )


def _pair(routes: Routes, source: int, target: int) -> str:
    return f"{routes.wiring.labels[source]} to {routes.wiring.labels[target]}"


def _name(node: Node) -> str:
    return node.name or guid_text(node.guid)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
