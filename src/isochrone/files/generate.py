# SPDX-License-Identifier: BSD-3-Clause
"""Writes the JSON Schemas that follow from forms: ``python -m isochrone.files.generate``."""

from __future__ import annotations

from pathlib import Path

from isochrone.files import bench, measurement_forms, profile
from isochrone.files.text import Json, write_object


def schemas() -> dict[str, Json]:
    """By kind of file."""
    return {file.kind: file.schema() for file in (bench.FILE, measurement_forms.FILE, profile.FILE)}


if __name__ == "__main__":
    for kind, schema in schemas().items():
        write_object(Path(__file__).parent / "schemas" / f"{kind}.json", schema)
