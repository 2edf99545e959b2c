# SPDX-License-Identifier: BSD-3-Clause
"""A talk with a standing benchmark that nobody started: each work is timed as a launch of its own would."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence

from isochrone.launch.process import Channel


class MadeChannel(Channel):
    """Passes each request on as the arguments of a launch."""

    def __init__(self, launch: Callable[[Sequence[str]], None]) -> None:
        super().__init__(io.StringIO(), io.StringIO(), lambda done, total: None)
        self._launch = launch

    def send(self, line: str) -> None:
        """Runs what is asked for."""
        if line != "end":
            self._launch([word for name, file in json.loads(line).items() for word in (f"--{name}", file)])

    def receive(self) -> str:
        """That it is done."""
        return "{}\n"
