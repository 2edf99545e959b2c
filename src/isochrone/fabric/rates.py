# SPDX-License-Identifier: BSD-3-Clause
"""Speeds of InfiniBand links: what a lane carries, and how tools write speed and width."""

from __future__ import annotations

import re

LANE_GBPS = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 13.64,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Gb/s of data in a lane, in the order of generations: what is left of the signalling rate after 8b/10b or
64b/66b coding, from FDR10 on as its names count it (InfiniBand Architecture Specification, volume 2).
"""

_SIGNALLING_GBPS = {
    "2.5": "SDR",
    "5.0": "DDR",
    "10.0": "QDR",
    "10.3125": "FDR10",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}
_LINK = re.compile(r"(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)(?:100|200|400)?\b")


def link_rate(width: int, speed: str) -> float:
    """Gb/s of data over a link; 0 where the speed is not known."""
    return width * LANE_GBPS.get(speed, 0.0)


def parse_link(text: str) -> tuple[int, str] | None:
    """Width and speed of ``4xHDR``, wherever it stands in the text."""
    found = _LINK.search(text)
    return (int(found[1]), found[2]) if found else None


def speed_of_signalling(gbps: str) -> str | None:
    """The speed with a signalling rate, as ``iblinkinfo`` writes it: ``25.78125`` is EDR."""
    return _SIGNALLING_GBPS.get(gbps)


def faster(one: str, other: str) -> bool:
    """Whether the first speed is of a later generation."""
    order = list(LANE_GBPS)
    return order.index(one) > order.index(other)
