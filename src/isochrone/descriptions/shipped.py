# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions that come with Isochrone, by name, and everybody's own, by path."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from isochrone.errors import UsageError

Described = TypeVar("Described")


def shipped_names(folder: Traversable) -> list[str]:
    """Names of the descriptions in a folder of the package."""
    return sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )


def load_description(
    folder: Traversable,
    name_or_path: str,
    read: Callable[[Path], Described],
    what: str,
    where: str | None = None,
) -> Described:
    """Reads the shipped description of a name, or that of a path: with a ``/`` or a suffix, or to a file.

    Args:
        folder: of the package, with the shipped ones.
        read: reads a file.
        what: for the complaint that there is none, such as ``lab``.
        where: what the name was given to, for the complaint.

    Raises:
        UsageError: there is none of that name.
        IsochroneError: as ``read`` does.
    """
    path = Path(name_or_path)
    if path.name == name_or_path and not path.suffix:
        with resources.as_file(folder / f"{name_or_path}.yaml") as shipped:
            if shipped.is_file():
                return read(shipped)
        if not path.is_file():
            names = ", ".join(shipped_names(folder))
            raise UsageError(f"no {what} {name_or_path!r}", where, f"use one of {names}, or a YAML file")
    return read(path)
