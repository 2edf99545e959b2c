# SPDX-License-Identifier: BSD-3-Clause
"""``fabric.json``: which files of a folder are dumps of one generation of a fabric.

It is written last. A reader that finds other files than it tells of has come while they are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import read_object, write_object

MANIFEST = "fabric.json"


@dataclass(frozen=True)
class Manifest:
    """What a folder of dumps holds.

    Attributes:
        generation: from 1, one more each time.
        made: when, UTC.
        settled: whether the cables were the same before and after the tables were read.
        files: SHA-256 of each dump, by name.
    """

    generation: int
    made: str
    settled: bool
    files: Mapping[str, str]


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None where it has none.

    Raises:
        IsochroneError: it is damaged.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    document = read_object(path, make_again("fabric"))
    check(document, "fabric", str(path))
    return Manifest(document["generation"], document["made"], document["settled"], document["files"])


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it, in one step. Raises IsochroneError where that cannot be."""
    document = {
        "isochrone": "fabric",
        "schema_version": SCHEMA_VERSION,
        "generation": manifest.generation,
        "made": manifest.made,
        "settled": manifest.settled,
        "files": dict(manifest.files),
    }
    check(document, "fabric", str(folder / MANIFEST))
    write_object(folder / MANIFEST, document)
