# SPDX-License-Identifier: BSD-3-Clause
"""``fabric.json``: which files of a folder are dumps of one generation of a fabric.

It is written last. A reader that finds other files than it tells of has come while they are replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from isochrone.files.form import Decoder, Head

MANIFEST = "fabric.json"

_FileName = Annotated[str, Meta(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$")]
_Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(Head, frozen=True, kw_only=True, tag="fabric"):
    """What a folder of dumps holds: those of one generation."""

    generation: Annotated[
        int, Meta(ge=1, le=(1 << 53) - 1, description="One more than that of the manifest before.")
    ]
    made: Annotated[str, Meta(max_length=40, description="Time (UTC).")]
    settled: Annotated[
        bool, Meta(description="Whether the cables were the same before and after the tables were read.")
    ]
    files: Annotated[
        dict[_FileName, _Digest],
        Meta(
            min_length=1,
            max_length=1 << 16,
            description="SHA-256 of each dump, by its name in the folder.",
        ),
    ]


FILE = Decoder("fabric", Manifest)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None where it has none.

    Raises:
        IsochroneError: it is damaged.
    """
    path = folder / MANIFEST
    return FILE.file(path) if path.is_file() else None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it, in one step. Raises IsochroneError where that cannot be."""
    FILE.write(folder / MANIFEST, manifest)
