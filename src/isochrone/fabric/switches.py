# SPDX-License-Identifier: BSD-3-Clause
"""A tree of switches, and how it is read from a ``topology.conf`` of Slurm's topology/tree plugin
(topology.conf(5)). Clusters under Slurm have one; ``fabric/tree.py`` makes it of a fabric's routes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.text import quoted, read_text

_MOST_BYTES = 1 << 24
_MOST_NAMES = 1 << 20
_MOST_LETTERS = 255
_MOST_TIERS = 64
_MOST_BRACKETS = 8
_TODO = "write it as Slurm reads it: SwitchName=leaf0 Nodes=n[0-15], and SwitchName=top Switches=leaf[0-3]"

# Commas outside of brackets divide a list.
_PART = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")

# Blanks may stand around the sign, and quotes around the value.
_WORD = re.compile(r"\s*(?:(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\"]+))(?!\S)|(\S+))")


@dataclass(frozen=True)
class Switches:
    """A tree of switches.

    Attributes:
        file: where it is from.
        leaf: the switch that each host is at.
        above: the switch above each; the topmost have none.
        speeds_gbps: the slowest cable on the routes between hosts that meet at a switch, where known.
    """

    file: str
    leaf: dict[str, str]
    above: dict[str, str]
    speeds_gbps: dict[str, float] = field(default_factory=dict)

    def tiers(self, hosts: Sequence[str]) -> list[list[str]]:
        """[tier][host], the switch that each host is below, nearest first. Tiers that divide the hosts as the
        one before, or not at all, are left out. Hosts may have a domain that the file leaves out, or lack one
        that it has, where only one host of the file is called so.

        Raises:
            IsochroneError: a host is below no switch.
        """
        short: dict[str, str | None] = {}
        for name, above in self.leaf.items():
            stem, dot, _ = name.partition(".")
            if dot:
                short[stem] = above if stem not in short else None
        at = [
            self.leaf.get(host) or (self.leaf.get(host.partition(".")[0]) if "." in host else short.get(host))
            for host in hosts
        ]
        missing = sorted({host for host, switch in zip(hosts, at, strict=True) if switch is None})
        if missing:
            others = f", and {len(missing) - 1} more are not" if len(missing) > 1 else ""
            raise IsochroneError(
                f"host {missing[0]} is below no switch{others}", self.file, "give the file of this machine"
            )
        tier = [switch for switch in at if switch is not None]
        heights = self.heights()
        tiers: list[list[str]] = []
        for height in range(max(heights.values()) + 1):
            # A switch is climbed to when all that is below it has been climbed.
            higher = [self.above.get(switch, switch) for switch in tier]
            tier = [up if heights[up] <= height else here for here, up in zip(tier, higher, strict=True)]
            if len(set(tier)) > 1 and (not tiers or len(set(tier)) < len(set(tiers[-1]))):
                tiers.append(tier)
        return tiers

    def heights(self) -> dict[str, int]:
        """How many switches are below each, one below the other. Of switches in a circle, which are no tree,
        it is some number.
        """
        heights = dict.fromkeys((*self.leaf.values(), *self.above, *self.above.values()), 0)
        for start in self.leaf.values():
            switch, height = start, 0
            way = {start}
            while (switch := self.above.get(switch, "")) and switch not in way and heights[switch] <= height:
                way.add(switch)
                height += 1
                heights[switch] = height
        return heights


def tier_name(tier: int) -> str:
    """Of a level of switches: 1 is the nearest to the hosts."""
    return f"switch-{tier}" if tier > 1 else "switch"


def read_switches(path: Path | str) -> Switches:
    """Reads a ``topology.conf``.

    Raises:
        IsochroneError: the file is no tree of switches, with file and line.
    """
    path = Path(path)
    leaf: dict[str, str] = {}
    above: dict[str, str] = {}
    lines: dict[str, int] = {}
    names = 0
    for number, words in _lines(read_text(path, _MOST_BYTES, "a tree of switches", _TODO), str(path)):
        here = f"{path}:{number}"
        switch = words["switchname"]
        if switch in lines:
            raise IsochroneError(
                f"switch {quoted(switch)} has a line already", here, "give each switch one line"
            )
        lines[switch] = number
        if "nodes" in words and "switches" in words:
            raise IsochroneError(
                "has both hosts and switches below it", here, "put the hosts at a switch of their own"
            )
        for key, known, kind in (("nodes", leaf, "host"), ("switches", above, "switch")):
            for name in _expand(words[key], here) if key in words else ():
                names += 1
                if names > _MOST_NAMES:
                    raise IsochroneError(f"more than {_MOST_NAMES} names", here, "leave some out")
                if known.setdefault(name, switch) != switch:
                    raise IsochroneError(
                        f"{kind} {quoted(name)} is below switch {quoted(known[name])} and {quoted(switch)}",
                        here,
                        "this is no tree",
                    )
    if not leaf:
        raise IsochroneError("no host is below a switch", str(path), _TODO)
    for switch, higher in above.items():
        if switch not in lines:
            raise IsochroneError(f"switch {quoted(switch)} has no line", f"{path}:{lines[higher]}", _TODO)
    _check_ends(above, lines, path)
    return Switches(str(path), leaf, above)


def _lines(text: str, where: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The number and the words of each line about a switch, by their keys in small letters."""
    first, parts = 1, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        first = first if parts else number
        content = line.partition("#")[0].rstrip()
        parts.append(content.removesuffix("\\"))
        if content.endswith("\\"):
            continue
        words: dict[str, str] = {}
        here = f"{where}:{first}"
        for found in _WORD.finditer("".join(parts).rstrip()):
            key, value = (found[1] or found[4]).lower(), found[2] or found[3] or ""
            if key.startswith("block"):
                raise IsochroneError("is of blocks, not of a tree of switches", here, _TODO)
            if found[4] or key not in ("switchname", "nodes", "switches", "linkspeed"):
                raise IsochroneError(f"{quoted(found[0].strip())} is not known here", here, _TODO)
            if key in words:
                raise IsochroneError(f"{quoted(found[0].strip())} says {key} a second time", here, _TODO)
            words[key] = value
        parts = []
        if not words:
            continue
        if not _NAME.fullmatch(words.get("switchname", "")):
            raise IsochroneError("the line names no switch", here, _TODO)
        yield first, words
    if parts:
        raise IsochroneError("the last line is not at its end", f"{where}:{first}", _TODO)


def _expand(text: str, here: str) -> Iterator[str]:
    """The names of a list such as ``n[0-2,7],login`` or ``r[0-1]n[00-15]``."""
    at = 0
    while at <= len(text):
        part = _PART.match(text, at)
        end = part.end() if part else at
        if part is None or not part[0] or text[end : end + 1] not in ("", ","):
            raise IsochroneError(
                f"{quoted(text[at:])} is no list of names", here, "write it as n[0-7,9],login"
            )
        letters, brackets = _BRACKETS.subn("", part[0])
        if len(letters) > _MOST_LETTERS or brackets > _MOST_BRACKETS:
            raise IsochroneError(f"{quoted(part[0])} is too long for a name", here, _TODO)
        for name in _product(part[0], here):
            if not _NAME.fullmatch(name):
                raise IsochroneError(f"{quoted(name)} is no name", here, _TODO)
            yield name
        at = end + 1


def _product(text: str, here: str) -> Iterator[str]:
    found = _BRACKETS.search(text)
    if found is None:
        yield text
        return
    for part in found[1].split(","):
        ends = _RANGE.fullmatch(part)
        if ends is None:
            raise IsochroneError(f"{quoted(part)} is no range of numbers", here, "write ranges as n[0-7,9]")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if high < low or high - low >= _MOST_NAMES:
            raise IsochroneError(f"{quoted(part)} is a range of no or too many numbers", here, _TODO)
        for number in range(low, high + 1):
            # Leading zeros are part of the name.
            yield from _product(f"{text[: found.start()]}{number:0{len(ends[1])}}{text[found.end() :]}", here)


def _check_ends(above: dict[str, str], lines: dict[str, int], path: Path) -> None:
    """Raises IsochroneError where switches are above each other in a circle, or too many."""
    depth: dict[str, int] = {}
    for start in above:
        way: dict[str, None] = {}
        switch: str | None = start
        while switch is not None and switch not in depth:
            if switch in way:
                raise IsochroneError(
                    f"switch {quoted(switch)} is above itself", f"{path}:{lines[switch]}", "this is no tree"
                )
            way[switch] = None
            switch = above.get(switch)
        known = depth[switch] if switch is not None else 0
        depth |= {below: known + k for k, below in enumerate(reversed(way), 1)}
        if depth[start] > _MOST_TIERS:
            raise IsochroneError(
                f"more than {_MOST_TIERS} switches are above each other", f"{path}:{lines[start]}", _TODO
            )
