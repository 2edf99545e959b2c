# SPDX-License-Identifier: BSD-3-Clause
"""Writes the JSON Schemas that follow from forms: ``python -m isochrone.files.generate``."""

from __future__ import annotations

from pathlib import Path

from isochrone.files import (
    bench,
    fabric,
    graph_forms,
    learned,
    library,
    mapping,
    measurement_forms,
    plan,
    profile,
    study,
    survey,
    topology,
    work,
)
from isochrone.files.text import Json, write_object


def schemas() -> dict[str, Json]:
    """By kind of file."""
    modules = (
        bench,
        fabric,
        graph_forms,
        learned,
        library,
        mapping,
        measurement_forms,
        plan,
        profile,
        study,
        survey,
        topology,
        work,
    )
    return {module.FILE.kind: module.FILE.schema() for module in modules}


if __name__ == "__main__":
    for kind, schema in schemas().items():
        write_object(Path(__file__).parent / "schemas" / f"{kind}.json", schema)
