# SPDX-License-Identifier: BSD-3-Clause
"""The tree of switches as Slurm reads it: ``topology.conf`` and ``topology.yaml``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from isochrone.errors import IsochroneError
from isochrone.fabric.switches import Switches
from isochrone.files.topology import Topology
from isochrone.labels import natural

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Of a longer number only the last digits are counted, as many as fabric/switches.py reads in a range.
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def topology_conf(switches: Switches) -> str:
    """Leaves first, one line each (topology.conf(5)). Link speeds are in Gb/s; Slurm leaves the unit open.

    Raises:
        IsochroneError: a host or switch has a name that Slurm cannot have.
    """
    lines = []
    for switch, below, is_leaf in _rows(switches):
        speed = switches.speeds_gbps.get(switch)
        words = [f"SwitchName={switch}"]
        words += [f"LinkSpeed={max(1, round(speed))}"] if speed else []
        words.append(
            f"{'Nodes' if is_leaf else 'Switches'}={host_list(below) if is_leaf else ','.join(below)}"
        )
        lines.append(" ".join(words) + "\n")
    return "".join(lines)


def topology_yaml(switches: Switches) -> str:
    """The same as ``topology.yaml`` (topology.yaml(5), since Slurm 25.05), which has no link speeds.

    Raises:
        IsochroneError: as above.
    """
    lines = ["- topology: fabric", "  cluster_default: true", "  tree:", "    switches:"]
    for switch, below, is_leaf in _rows(switches):
        lines.append(f"      - switch: {json.dumps(switch)}")
        names = host_list(below) if is_leaf else ",".join(below)
        lines.append(f"        {'nodes' if is_leaf else 'children'}: {json.dumps(names)}")
    return "\n".join(lines) + "\n"


def block_yaml(switches: Switches) -> str:
    """Leaves as blocks of Slurm's topology/block, in a ``topology.yaml``. The block size is the number of
    hosts that every leaf has at least.

    Raises:
        IsochroneError: as above.
    """
    leaves = [(switch, below) for switch, below, is_leaf in _rows(switches) if is_leaf]
    lines = ["- topology: fabric", "  cluster_default: true", "  block:"]
    lines += ["    block_sizes:", f"      - {min(len(hosts) for _, hosts in leaves)}", "    blocks:"]
    for switch, hosts in leaves:
        lines += [f"      - block: {json.dumps(switch)}", f"        nodes: {json.dumps(host_list(hosts))}"]
    return "\n".join(lines) + "\n"


def _rows(switches: Switches) -> Iterator[tuple[str, list[str], bool]]:
    """Each switch, what is directly below it, and whether that is hosts; nearest to the hosts first."""
    below: dict[str, list[str]] = {}
    for name, switch in (*switches.leaf.items(), *switches.above.items()):
        if not _HOST.fullmatch(name) or not _HOST.fullmatch(switch):
            wrong = switch if _HOST.fullmatch(name) else name
            raise IsochroneError(
                f"the name {wrong!r} of a host or switch cannot be written for Slurm",
                todo="look at the fabric's dumps, or give it a name of letters, digits, '-', '_' and '.'",
            )
        below.setdefault(switch, []).append(name)
    leaves = set(switches.leaf.values())
    heights = switches.heights()
    for switch in sorted(below, key=lambda each: (heights[each], natural(each))):
        yield switch, sorted(below[switch], key=natural), switch in leaves


def switches_of(topology: Topology) -> Switches:
    """The levels of whole hosts as switches.

    A level that divides the hosts no further than the one before is no switch of its own. Levels inside a
    host are left out: Slurm has its own ways for those.
    """
    leaf: dict[str, str] = {}
    above: dict[str, str] = {}
    outer: list[tuple[str, frozenset[str]]] = []
    for depth, (name, groups) in enumerate(_switch_levels(topology)):
        named = [(f"{name}-{index}" if depth else name, hosts) for index, hosts in enumerate(groups)]
        for switch, hosts in named:
            above.update((switch, parent) for parent, whole in outer if hosts <= whole)
            leaf |= dict.fromkeys(hosts, switch)
        outer = named
    return Switches("topology", leaf, above)


def host_list(hosts: Iterable[str]) -> str:
    """Hosts as Slurm writes them: ``h0,h[2-5]``, ``n[098-103]``; each is meant once."""

    def parts(host: str) -> tuple[str, int, str]:
        found = _NUMBERED.fullmatch(host)
        return (found[1], int(found[2]), found[2]) if found else (host, -1, "")

    words = []
    for stem, members in groupby(sorted(map(parts, set(hosts))), key=lambda part: part[0]):
        numbers = [digits for _, _, digits in members]
        if not numbers[0]:
            words.append(stem)
            numbers = numbers[1:]
        ranges = [f"{run[0]}-{run[-1]}" if len(run) > 1 else run[0] for run in _runs(numbers)]
        if len(ranges) == 1 and "-" not in ranges[0]:
            words.append(stem + ranges[0])
        elif ranges:
            words.append(f"{stem}[{','.join(ranges)}]")
    return ",".join(words)


def _runs(numbers: Sequence[str]) -> list[list[str]]:
    """Rising numbers in parts without gaps; those with leading zeros are of one length."""
    runs: list[list[str]] = []
    for number in numbers:
        if runs and number == str(int(runs[-1][-1]) + 1).zfill(len(runs[-1][-1])):
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _switch_levels(topology: Topology) -> list[tuple[str, list[frozenset[str]]]]:
    """Levels whose groups are of whole hosts and more than one of them somewhere, as hosts of each group."""
    levels: list[tuple[str, list[frozenset[str]]]] = []
    for level in topology.levels:
        groups = [frozenset(topology.places[place].host for place in group) for group in level.groups]
        whole = sum(map(len, groups)) == len(frozenset().union(*groups))
        if not whole or (levels and all(len(hosts) == 1 for hosts in groups)):
            break
        if not levels or len(groups) > len(levels[-1][1]):
            levels.append((level.name, groups))
    return levels
