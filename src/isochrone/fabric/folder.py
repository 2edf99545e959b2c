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
from isochrone.files.fabric import MANIFEST, Manifest, read_manifest
from isochrone.files.text import quoted, unreadable

_MOST_BYTES = 1 << 30
_MOST_BYTES_OF_ALL = 1 << 32
_MOST_FILES = 1 << 16
_HEAD_BYTES = 1 << 16
_MOST_GENERATIONS = 3
_AGAIN = "dump the fabric again"
_TODO = "give a folder with dumps of ibnetdiscover and dump_fts, as isochrone fabric dump writes it"


class BeingReplacedError(IsochroneError):
    """The dumps are not of one generation; a little later they may be."""


def read_fabric(path: Path | str) -> Fabric:
    """The fabric of a folder of dumps, or of a single one; packed by gzip or not.

    Raises:
        IsochroneError: there is no dump, one is damaged, or they are of different generations.
    """
    path = Path(path)
    for _ in range(_MOST_GENERATIONS):
        manifest = read_manifest(path)
        try:
            return _read(path, manifest)
        except BeingReplacedError:
            if read_manifest(path) == manifest:
                raise
    raise BeingReplacedError("is being replaced all the time", str(path), "read it when the fabric is quiet")


def is_dump(path: Path) -> bool:
    """Whether this is a folder, or a file that begins as a dump does.

    Raises:
        IsochroneError: it cannot be read.
    """
    if path.is_dir():
        return True
    head = read_content(path, _MOST_BYTES)[:_HEAD_BYTES]
    return any(kind.head.search(head) for kind in FORMATS)


def _read(path: Path, manifest: Manifest | None) -> Fabric:
    names, generation = _named(path, manifest)
    files: dict[DumpFormat, list[tuple[Path, bytes]]] = {}
    left = _MOST_BYTES_OF_ALL
    for file, digest in names:
        if digest is not None and not file.is_file():
            raise BeingReplacedError(f"is told of by {MANIFEST} and not there", str(file), _AGAIN)
        data = read_content(file, min(_MOST_BYTES, left))
        left -= len(data)
        if digest is not None and hashlib.sha256(data).hexdigest() != digest:
            raise BeingReplacedError(f"is not the file that {MANIFEST} tells of", str(file), _AGAIN)
        head = data[:_HEAD_BYTES]
        for kind in FORMATS:
            if kind.head.search(head):
                files.setdefault(kind, []).append((file, data))
                break
        else:
            if digest is not None:
                raise IsochroneError("is of no known format", str(file), _AGAIN)
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
    fabric.remarks += [*alike(fabric), *untold(fabric)]
    if manifest is not None and not manifest.settled:
        fabric.remarks.append(
            f"{path}: the fabric changed while it was dumped; tables may not fit the cables"
        )
    return fabric


def alike(fabric: Fabric) -> list[str]:
    """Hosts with several adapters of one description. A host's own adapters differ in their devices' names,
    so these may be of different machines that nobody gave a name, such as ``localhost``.
    """
    remarks = []
    for name, ports in fabric.hosts.items():
        guids: dict[str, set[int]] = {}
        for node, _ in ports:
            guids.setdefault(node.name, set()).add(node.guid)
        for words, twice in guids.items():
            if len(twice) > 1:
                one, other = (guid_text(guid) for guid in sorted(twice)[:2])
                remarks.append(
                    f"{fabric.source}: {len(twice)} adapters are described as {quoted(words)}, such as {one} "
                    f"and {other}; of different machines only one is found as {quoted(name)}"
                )
    return remarks


def untold(fabric: Fabric) -> list[str]:
    """Switches without a table, and cables of which dumps tell at one end only, or differently at both."""
    remarks = []
    bare = [switch for switch in fabric.switches if switch.guid not in fabric.tables]
    if bare:
        remarks.append(
            f"{fabric.source}: {len(bare)} of {len(fabric.switches)} switches have no table, such as "
            f"{bare[0].name or guid_text(bare[0].guid)}"
        )
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


def _named(path: Path, manifest: Manifest | None) -> tuple[list[tuple[Path, str | None]], int]:
    """The files to read, with their digests where known, and the generation."""
    if not path.is_dir():
        return [(path, None)], 0
    if manifest is not None:
        return [(path / name, digest) for name, digest in manifest.files.items()], manifest.generation
    try:
        found = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise unreadable(path, error) from None
    if len(found) > _MOST_FILES:
        raise IsochroneError(f"holds more than {_MOST_FILES} files", str(path), _TODO)
    return [(file, None) for file in found], 0
