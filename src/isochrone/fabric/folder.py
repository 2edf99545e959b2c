# SPDX-License-Identifier: BSD-3-Clause
"""A folder of dumps: which files of it are which, and whether they are of one generation.

``isochrone fabric dump`` writes a manifest last, ``fabric.json``. Where it is there, the files that it names
are read and must be those that it tells of. Other folders are read as they are.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.fabric.formats import FORMATS, DumpFormat
from isochrone.fabric.model import Fabric, guid_text
from isochrone.files.content import read_content
from isochrone.files.text import read_object, unreadable

MANIFEST = "fabric.json"

_MOST_BYTES = 1 << 30
_MOST_FILES = 1 << 16
_HEAD_BYTES = 1 << 16
_TODO = "give a folder with dumps of ibnetdiscover and dump_fts, as isochrone fabric dump writes it"


def read_fabric(path: Path | str) -> Fabric:
    """The fabric of a folder of dumps, or of a single one; packed by gzip or not.

    Raises:
        IsochroneError: there is no dump, one is damaged, or they are of different generations.
    """
    path = Path(path)
    names, generation = _named(path)
    files: dict[DumpFormat, list[tuple[Path, bytes]]] = {}
    for file, digest in names:
        data = read_content(file, _MOST_BYTES)
        if digest is not None and hashlib.sha256(data).hexdigest() != digest:
            raise IsochroneError(
                "is not the file that the manifest tells of", str(file), "read it again, or dump it again"
            )
        head = data[:_HEAD_BYTES]
        for kind in FORMATS:
            if kind.head.search(head):
                files.setdefault(kind, []).append((file, data))
                break
    if not files:
        raise IsochroneError("holds no dump of a fabric", str(path), _TODO)
    fabric = Fabric(str(path), generation=generation)
    for kind in FORMATS:
        found = files.get(kind, [])
        if kind.alone and len(found) > 1:
            raise IsochroneError(
                f"{found[0][0].name} and {found[1][0].name} are both of {kind.name}",
                str(path),
                "keep one fabric in a folder",
            )
        for file, data in found:
            kind.read(data, str(file), fabric)
    fabric.remarks += loose_ends(fabric)
    return fabric


def loose_ends(fabric: Fabric) -> list[str]:
    """Cables of which the dumps tell at one end only, or differently at both."""
    remarks = []
    for node in fabric.nodes.values():
        for port in node.ports.values():
            if port.peer is None:
                continue
            other = fabric.nodes.get(port.peer[0])
            back = other.ports.get(port.peer[1]) if other is not None else None
            if back is None or back.peer != (node.guid, port.number):
                told = "nothing is told" if back is None or back.peer is None else "another cable is told"
                remarks.append(
                    f"{fabric.source}: {node.name or guid_text(node.guid)} port {port.number} goes to "
                    f"{guid_text(port.peer[0])} port {port.peer[1]}, of which {told}"
                )
    return remarks


def _named(path: Path) -> tuple[list[tuple[Path, str | None]], int]:
    """The files to read, with their digests where known, and the generation."""
    if not path.is_dir():
        return [(path, None)], 0
    manifest = path / MANIFEST
    if manifest.is_file():
        document = read_object(manifest, "dump the fabric again")
        files, generation = document.get("files"), document.get("generation")
        if not isinstance(files, dict) or not isinstance(generation, int):
            raise IsochroneError("is no manifest of a fabric", str(manifest), "dump the fabric again")
        names: list[tuple[Path, str | None]] = []
        for name, told in files.items():
            if (
                Path(name).name != name
                or not isinstance(told, dict)
                or not isinstance(told.get("sha256"), str)
            ):
                raise IsochroneError("is no manifest of a fabric", str(manifest), "dump the fabric again")
            names.append((path / name, told["sha256"]))
        return names, generation
    try:
        found = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise unreadable(path, error) from None
    if len(found) > _MOST_FILES:
        raise IsochroneError(f"holds more than {_MOST_FILES} files", str(path), _TODO)
    return [(file, None) for file in found], 0
