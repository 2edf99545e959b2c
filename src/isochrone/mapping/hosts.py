# SPDX-License-Identifier: BSD-3-Clause
"""Lists of hosts and their cores, in the forms that people and launchers write them."""

from __future__ import annotations

import re
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files.fields import MOST_RANKS
from isochrone.files.text import quoted, read_text

_MOST_BYTES = 1 << 26
_TODO = "write one host a line, such as: node400 12"
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
_LINE = re.compile(
    r"(?P<host>[^\s:=]+)(?::(?P<colon>\S*)|\s+(?:slots\s*=\s*)?(?P<count>[^\s=]+))?(?P<rest>.*)"
)
_REST = re.compile(r"(?:\s+max[-_]slots\s*=\s*\d+)?\s*")
_COUNT = re.compile(r"[0-9]{1,7}")


def is_host_name(word: str) -> bool:
    """Whether launchers take a word for the name of a host, whatever file it is in."""
    return _HOST.fullmatch(word) is not None


def read_hosts(path: Path) -> list[tuple[str, int]]:
    """Hosts and their numbers of cores, in order of first appearance.

    A line is ``node400 12``, ``node400:12``, ``node400 slots=12``, or a host alone for one core. Lines of one
    host add up. What follows a ``#`` is a comment.

    Raises:
        IsochroneError: a line is none of these, there are no hosts, or more cores than any machine has.
    """
    text = read_text(path, _MOST_BYTES, "a list of hosts", _TODO)
    cores: dict[str, int] = {}
    total = 0
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        where = f"{path}:{number}"
        match = _LINE.fullmatch(words)
        if match is None or not is_host_name(match["host"]) or not _REST.fullmatch(match["rest"]):
            raise IsochroneError(f"{quoted(words)} is no host with its cores", where, _TODO)
        count = match["colon"] if match["colon"] is not None else match["count"]
        if count is not None and (not _COUNT.fullmatch(count) or int(count) < 1):
            raise IsochroneError(f"{quoted(count)} is no number of cores", where, _TODO)
        total += int(count or 1)
        if total > MOST_RANKS:
            raise IsochroneError(f"there are more than {MOST_RANKS:,} cores", where, "use some of the hosts")
        cores[match["host"]] = cores.get(match["host"], 0) + int(count or 1)
    if not cores:
        raise IsochroneError("has no hosts", str(path), _TODO)
    return list(cores.items())
