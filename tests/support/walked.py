# SPDX-License-Identifier: BSD-3-Clause
"""Routes of a fabric by a walk of its own, from the text of dumps to switches and ports. It is slow, and
simple enough to be believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

from isochrone.fabric.routes import Routes

_NODE = re.compile(r'(Switch|Ca)\s+\d+\s+"[SH]-([0-9a-f]+)"\s*#\s*"(\S*)')
_CABLE = re.compile(r'\[(\d+)\](?:\([0-9a-f]+\))?\s*"[SH]-([0-9a-f]+)"\[(\d+)\].*?(\d+)x(\w+)$')
_TABLE = re.compile(r"guid 0x([0-9a-f]+)")
_ENTRY = re.compile(r"0x([0-9a-f]+) (\d+)")
_MOST_PAIRS = 4000
_LANE = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "EDR": 25, "HDR": 50}


@dataclass
class Walker:
    """Cables, tables and LIDs by GUID."""

    switches: set[int] = field(default_factory=set)
    hosts: dict[str, int] = field(default_factory=dict)
    lids: dict[int, int] = field(default_factory=dict)
    cables: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    rates: dict[tuple[int, int], int] = field(default_factory=dict)
    tables: dict[int, dict[int, int]] = field(default_factory=dict)

    def walk(self, source: str, target: str) -> tuple[list[tuple[int, int, int]], int] | None:
        """(switch, port in, port out) of each hop, and the slowest cable's Gb/s; None where it does not
        arrive.
        """
        goal = self.hosts[target]
        here, out = self.hosts[source], 1
        hops: list[tuple[int, int, int]] = []
        rate = 10**9
        while here != goal:
            if here in self.switches:
                if any(guid == here for guid, _, _ in hops):
                    return None
                into = out
                out = self.tables.get(here, {}).get(self.lids[goal], 255)
                hops.append((here, into, out))
            elif hops:
                return None
            if (here, out) not in self.cables:
                return None
            rate = min(rate, self.rates[here, out])
            here, out = self.cables[here, out]
        return hops, rate


def walker(net: str, tables: str) -> Walker:
    """Of what ibnetdiscover and dump_fts print."""
    made = Walker()
    guid, is_switch = 0, False
    for line in net.splitlines():
        if found := _NODE.match(line):
            guid, is_switch = int(found[2], 16), found[1] == "Switch"
            if is_switch:
                made.switches.add(guid)
            else:
                made.hosts[found[3]] = guid
        elif found := _CABLE.match(line):
            port = guid, int(found[1])
            made.cables[port] = int(found[2], 16), int(found[3])
            made.rates[port] = int(found[4]) * _LANE[found[5]]
            if not is_switch and (lid := re.search(r"# lid (\d+)", line)):
                made.lids[guid] = int(lid[1])
    for line in tables.splitlines():
        if line.startswith("Unicast lids"):
            head = _TABLE.search(line)
            assert head is not None
            table = made.tables.setdefault(int(head[1], 16), {})
        elif found := _ENTRY.match(line):
            table[int(found[1], 16)] = int(found[2])
    return made


def agree(routes: Routes, walked: Walker) -> None:
    """Checks that the library has the same routes, between some thousand pairs of hosts."""
    assert set(walked.hosts) == set(routes.fabric.hosts)
    names = sorted(walked.hosts)
    pairs = [(one, other) for one in names for other in names if one != other]
    arriving = 0
    for one, other in Random(1).sample(pairs, min(_MOST_PAIRS, len(pairs))):
        found = routes.route(routes.vertex(one), routes.vertex(other))
        wanted = walked.walk(one, other)
        assert found.arrives == (wanted is not None)
        if wanted is not None:
            assert [(hop.switch.guid, hop.in_port, hop.out_port) for hop in found.hops] == wanted[0]
            assert found.speed_gbps == wanted[1]
            arriving += 1
    assert arriving
