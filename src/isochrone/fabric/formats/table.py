# SPDX-License-Identifier: BSD-3-Clause
"""The formats of dumps, in the order that they are read in: cables first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from isochrone.fabric.formats import forwarding, iblinkinfo, ibnetdiscover
from isochrone.fabric.model import Fabric


@dataclass(frozen=True)
class DumpFormat:
    """A row of the table.

    Attributes:
        name: the tool that writes it.
        head: what such a file holds near its begin.
        read: adds the bytes of a file, which is called so in errors, to a fabric.
        alone: whether a fabric has one such file.
    """

    name: str
    head: re.Pattern[bytes]
    read: Callable[[bytes, str, Fabric], None]
    alone: bool


FORMATS = (
    DumpFormat(
        "ibnetdiscover",
        re.compile(rb'^(?:vendid=|switchguid=|caguid=|(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-)', re.MULTILINE),
        ibnetdiscover.read,
        alone=True,
    ),
    DumpFormat("iblinkinfo", re.compile(rb"==\([^\n]{0,200}?\)==>"), iblinkinfo.read, alone=True),
    DumpFormat("ibroute", re.compile(rb"^[ \t]*Unicast lids \[", re.MULTILINE), forwarding.read, alone=False),
)
"""``ibroute`` stands for all that write forwarding tables."""
