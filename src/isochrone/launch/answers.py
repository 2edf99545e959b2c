# SPDX-License-Identifier: BSD-3-Clause
"""What the native programs answer while one talks with them."""

from __future__ import annotations

from isochrone.errors import IsochroneError
from isochrone.files.text import Json, parse_object
from isochrone.launch.process import Channel


def next_object(channel: Channel) -> Json:
    """The next line that is a JSON object; launchers say things too.

    Raises:
        EndedError: there is none.
        IsochroneError: it is damaged, or has something before it: nothing else would come.
    """
    while not (line := channel.receive()).startswith("{"):
        if '{"' in line and line.rstrip().endswith("}"):
            raise IsochroneError(
                f"the launcher puts {line[: line.index('{')][:40]!r} before what the program says",
                todo="leave away what labels the output of ranks",
            )
    return parse_object(line, "standard output of the program")
