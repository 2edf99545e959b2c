# SPDX-License-Identifier: BSD-3-Clause
"""What the native programs answer while one talks with them."""

from __future__ import annotations

from isochrone.files.text import Json, parse_object
from isochrone.launch.process import Channel


def next_object(channel: Channel) -> Json:
    """The next line that is a JSON object; launchers say things too. Raises EndedError if there is none."""
    while not (line := channel.receive()).startswith("{"):
        pass
    return parse_object(line, "standard output of the program")
