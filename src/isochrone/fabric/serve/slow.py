# SPDX-License-Identifier: BSD-3-Clause
"""Ends HTTP connections whose client takes too long.

uvicorn waits for ever for a first request, for the rest of one, and for a client that does not read. When all
its connections are of that kind it lets nobody else in.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Set as AbstractSet
from typing import Any

_SWEEP_EVERY_S = 1.0


class Slow:
    """Which connections wait for their client, and since when.

    Args:
        connections: uvicorn's, of one server.
        within_s: in which a client has to send a whole request, or to read on.
    """

    def __init__(self, connections: AbstractSet[Any], within_s: float) -> None:
        self._connections = connections
        self._within_s = within_s
        self._since: dict[Any, tuple[Any, float]] = {}

    def sweep(self, now: float) -> None:
        """Ends those whose time is over at ``now``, in seconds."""
        before, self._since = self._since, {}
        for connection in list(self._connections):
            request = connection.cycle
            is_blocked = connection.flow is not None and connection.flow.write_paused
            if request is not None and not (request.more_body or request.response_complete or is_blocked):
                continue  # the answer is under way
            of, since = before.get(connection, (request, now))
            if of is not request:
                since = now  # it has asked for something meanwhile
            self._since[connection] = request, since
            if now - since > self._within_s:
                # What a client does not read would keep the connection open.
                connection.transport.abort()

    async def follow(self) -> None:
        """Sweeps until it is cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_EVERY_S)
            self.sweep(time.monotonic())
