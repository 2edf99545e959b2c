# SPDX-License-Identifier: BSD-3-Clause
"""``topology.conf``: the tree of switches as Slurm's topology/tree plugin reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from isochrone.errors import IsochroneError
from isochrone.files.topology import Topology

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


def topology_conf(topology: Topology) -> str:
    """The levels of whole hosts as switches, leaves first, one line each (topology.conf(5)).

    A level that divides the hosts no further than the one before is no switch of its own. Levels inside a
    host are left out: Slurm has its own ways for those.

    Raises:
        IsochroneError: a host has a name that Slurm cannot have.
    """
    for place in topology.places:
        if not _HOST.fullmatch(place.host):
            raise IsochroneError(f"the host name {place.host!r} cannot be written for Slurm")
    lines: list[str] = []
    above: list[frozenset[str]] = []
    for depth, (name, groups) in enumerate(_switch_levels(topology)):
        number = {hosts: index for index, hosts in enumerate(groups)}
        switches = [f"{name}-{index}" if depth else name for index in range(len(groups))]
        for parent, whole in enumerate(above):
            children = sorted(number[hosts] for hosts in groups if hosts <= whole)
            lines[parent] += f" Switches={','.join(switches[child] for child in children)}"
        lines = [f"SwitchName={switch}" for switch in switches] + lines
        above = groups
    for index, hosts in enumerate(above):
        lines[index] += f" Nodes={host_list(hosts)}"
    return "".join(f"{line}\n" for line in lines)


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
