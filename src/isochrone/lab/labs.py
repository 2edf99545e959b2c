# SPDX-License-Identifier: BSD-3-Clause
"""Labs that are up.

What a lab is follows from its folder and its process. The process is the peer of the socket in the folder, so
a lab whose process is gone is known by a socket that nobody answers, whatever ended it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.errors import IsochroneError, UsageError
from isochrone.lab.network import Network

_TIMEOUT_S = 60
_MOST_STATUS_BYTES = 1 << 22
TEMPORARY = "temporary"
"""A file in the folder of a lab that belongs to a command."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
"""What a lab may be called: it is a folder's name as well."""


@dataclass(frozen=True)
class Lab:
    """A lab that is up.

    Attributes:
        name: of the lab; a network may be up twice under two names.
        folder: with its description, socket and scripts.
        network: that it emulates.
        process: that is the lab; everything in it ends with it.
        rootless: whether it is in a user namespace.
        temporary: whether it belongs to a command that is running, and ends with it.
    """

    name: str
    folder: Path
    network: Network
    process: int
    rootless: bool
    temporary: bool

    @property
    def agent(self) -> Path:
        """The program that takes ssh's place for launchers."""
        return self.folder / "agent"

    def command(self, host: str, words: Sequence[str]) -> list[str]:
        """The command line that runs `words` in a host, in the current folder; it ends with its starter."""
        users = ["--user", "--preserve-credentials"] if self.rootless else []
        return [
            *("nsenter", "--target", str(self.process), *users, "--pid", "--mount", "--"),
            *("setpriv", "--pdeathsig", "TERM", "--"),
            *(str(self.folder / "enter"), host, str(Path.cwd()), *words),
        ]

    def status(self) -> dict[str, Any]:
        """The counters of every link, and how late packets were.

        Raises:
            IsochroneError: the lab is gone.
        """
        found = _ask(self.folder)
        if found is None:
            raise IsochroneError(f"the lab {self.name!r} is not up any more", str(self.folder))
        return found[1]


def labs_folder() -> Path:
    """The folder with one folder for each lab of this user."""
    if os.geteuid() == 0:
        return Path("/run/isochrone/labs")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) if runtime.startswith("/") else Path(tempfile.gettempdir())
    return base / f"isochrone-{os.geteuid()}" / "labs"


def running_labs() -> list[Lab]:
    """The labs of this user that are up, by name."""
    with contextlib.suppress(OSError):
        return [
            lab for folder in sorted(labs_folder().iterdir()) if (lab := find_lab(folder.name)) is not None
        ]
    return []


def find_lab(name: str) -> Lab | None:
    """The lab of that name, if it is up."""
    folder = labs_folder() / name
    # Anything else is a path, and may lead anywhere.
    if not NAME.fullmatch(name) or not is_ours(labs_folder()):
        return None
    answer = _ask(folder)
    if answer is None:
        return None
    return Lab(
        name, folder, _read_network(folder), answer[0], os.geteuid() != 0, (folder / TEMPORARY).exists()
    )


def the_lab(name: str | None, to_end: bool = False) -> Lab:
    """The lab of that name, or the only one that was brought up to stay.

    Args:
        to_end: it is wanted only to be ended, so there is no point in starting one.

    Raises:
        UsageError: there is none, or several and no name.
    """
    if name is not None:
        lab = find_lab(name)
        if lab is None:
            up = ", ".join(lab.name for lab in running_labs())
            todo = f"up are: {up}" if up else "nor is any other"
            if not to_end:
                todo += "; start it with: isochrone lab up"
            raise UsageError(f"no lab {name!r} is up", todo=todo)
        return lab
    labs = [lab for lab in running_labs() if not lab.temporary]
    if not labs:
        raise UsageError(
            "no lab is up", todo=None if to_end else "start one with: isochrone lab up two-racks"
        )
    if len(labs) > 1:
        raise UsageError("several labs are up", todo="name one of " + ", ".join(lab.name for lab in labs))
    return labs[0]


def is_ours(folder: Path) -> bool:
    """Whether nobody else can put files there: what is in it is run."""
    try:
        found = [os.lstat(path) for path in (folder.parent, folder)]
    except OSError:
        return False
    return all(stat.S_ISDIR(f.st_mode) and f.st_uid == os.geteuid() and not f.st_mode & 0o022 for f in found)


def _read_network(folder: Path) -> Network:
    path = folder / "description.json"
    try:
        return Network.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IsochroneError(f"the lab's description cannot be read: {error}", str(path)) from None


def _ask(folder: Path) -> tuple[int, dict[str, Any]] | None:
    """The lab's process and what its socket says; None if nobody answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(_TIMEOUT_S)
        try:
            peer.connect(str(folder / "status"))
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            data = b""
            while part := peer.recv(65536):
                data += part
                if len(data) > _MOST_STATUS_BYTES:
                    return None
            content = json.loads(data)
        except (OSError, ValueError):
            return None
    process, _, _ = struct.unpack("3i", credentials)
    return (process, content) if isinstance(content, dict) else None
