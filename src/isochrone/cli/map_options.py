# SPDX-License-Identifier: BSD-3-Clause
"""What the options of ``isochrone map`` mean."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isochrone.errors import UsageError

if TYPE_CHECKING:
    from isochrone.mapping.system import System


def system_of(topology: Path | None, tree: str | None, hosts: Path | None, fabric: Path | None) -> System:
    """The places that the options name. Raises UsageError where they name none, or several."""
    from isochrone.fabric.tree import read_tree
    from isochrone.files import read_survey, read_topology
    from isochrone.mapping.hosts import read_hosts
    from isochrone.mapping.system import on_hosts, system_of_hosts, system_of_topology, system_of_tree
    from isochrone.steps.folder import SURVEY, TOPOLOGY, in_folder

    if fabric is not None and (hosts is None or topology is not None):
        raise UsageError("the switches are of the hosts of a list", "--fabric", "give --hosts FILE beside it")
    if tree is not None:
        if topology is not None or hosts is not None:
            raise UsageError("a tree has no hosts", "--tree", "give --topology or --hosts, or --tree alone")
        return system_of_tree([int(number) for number in numbers(tree, "--tree", whole=True)])
    listed = None if hosts is None else read_hosts(hosts)
    if topology is not None:
        path = in_folder(topology, TOPOLOGY)
        read = read_topology(path)
        read.check_whole(str(path))
        survey = path.with_name(SURVEY)
        system = system_of_topology(read, read_survey(survey).cores if survey.exists() else None)
        return system if listed is None else on_hosts(system, listed)
    if listed is None:
        raise UsageError(
            "no places are given", todo="give --topology of a survey, --hosts FILE, or --tree 4:8:6"
        )
    return system_of_hosts(listed, None if fabric is None else read_tree(fabric))


def numbers(text: str, option: str, whole: bool = False) -> list[float]:
    """Numbers between colons. Raises UsageError for anything else."""
    try:
        return [float(int(word)) if whole else float(word) for word in text.split(":")]
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text[:40]!r} is no list of numbers", option, "write the innermost first, such as 4:8:6"
        ) from None


def grid_of(text: str, option: str) -> list[int]:
    """The dimensions of a grid like 8x8x16. Raises UsageError for anything else, and for more than can be."""
    from isochrone.files.fields import MOST_RANKS

    words = text.split("x")
    if not all(word.isascii() and word.isdigit() and 0 < len(word) < 8 and int(word) > 0 for word in words):
        raise UsageError(f"{text[:40]!r} is no grid", option, "write its dimensions, such as 8x8x16")
    dimensions = [int(word) for word in words]
    # With more dimensions some would be of length 1.
    if len(dimensions) > MOST_RANKS.bit_length() or prod(dimensions) > MOST_RANKS:
        raise UsageError(
            f"the grid {text[:40]} is too large",
            option,
            f"at most {MOST_RANKS:,} ranks in {MOST_RANKS.bit_length()} dimensions",
        )
    return dimensions


def places_that_are_fixed(wanted: list[str], system: System, ranks: int) -> list[int]:
    """[rank], the place of those that are fixed, -1 for the others; empty where none is. Raises UsageError
    for what names no rank, or no host with a place left.
    """
    if not wanted:
        return []
    fixed = [-1] * ranks
    left = list(range(system.count))
    for word in wanted:
        rank, equals, host = word.partition("=")
        if not (equals and rank.isascii() and rank.isdigit() and len(rank) < 9 and int(rank) < ranks):
            raise UsageError(
                f"{word[:40]!r} is no rank and host", "--fix", f"write RANK=HOST, ranks 0 to {ranks - 1}"
            )
        if fixed[int(rank)] >= 0:
            raise UsageError(f"rank {int(rank)} is fixed twice", "--fix", "name it once")
        place = next((p for p in left if system.places and system.places[p].host == host), None)
        if place is None:
            raise UsageError(
                f"{host[:40]!r} has no place left", "--fix", "write RANK=HOST of --topology or --hosts"
            )
        left.remove(place)
        fixed[int(rank)] = place
    return fixed


def extra_options_of(text: str) -> tuple[str, ...]:
    """The words of --extra."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"the options do not end: {error}", "--extra", "close the quotes") from None


def forms_of(wanted: list[str], system: System, read: Mapping[str, Path | None]) -> list[tuple[Any, Path]]:
    """The forms that --emit names, and the file for each. Raises UsageError where two have one file, or one
    is a file that is `read`, by the option that names it.
    """
    from isochrone.mapping.emitters import find_form

    if wanted and not system.places:
        raise UsageError("a tree has no hosts to launch on", "--emit", "give --topology or --hosts")
    forms: list[tuple[Any, Path]] = []
    for word in wanted:
        name, _, file = word.partition("=")
        form = find_form(name)
        path = Path(file or form.file)
        if path in [other for _, other in forms]:
            raise UsageError(
                f"two forms would be written to {str(path)!r}", "--emit", f"write {name}=ANOTHER_FILE"
            )
        for option, given in read.items():
            if given is not None and path.exists() and given.exists() and path.samefile(given):
                what = f"--emit would write to {str(path)!r}, which is read too"
                raise UsageError(what, option, f"write {name}=ANOTHER_FILE")
        forms.append((form, path))
    return forms
