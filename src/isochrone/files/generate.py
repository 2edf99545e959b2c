# SPDX-License-Identifier: BSD-3-Clause
"""Writes the JSON Schemas that follow from forms: ``python -m isochrone.files.generate``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from isochrone.files.text import Json, write_object

_MODULES = (
    "bench",
    "fabric",
    "graph_forms",
    "learned",
    "library",
    "mapping",
    "measurement_forms",
    "plan",
    "profile",
    "study",
    "survey",
    "topology",
    "work",
)
"""Of this package, each with a ``FILE``."""


def schemas() -> dict[str, Json]:
    """By kind of file."""
    files = [import_module(f"isochrone.files.{name}").FILE for name in _MODULES]
    return {file.kind: file.schema() for file in files}


if __name__ == "__main__":
    for kind, schema in schemas().items():
        write_object(Path(__file__).parent / "schemas" / f"{kind}.json", schema)
