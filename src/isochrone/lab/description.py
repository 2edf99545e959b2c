# SPDX-License-Identifier: BSD-3-Clause
"""Reads the description of a lab.

A description is a YAML file; ``networks/two-racks.yaml`` is one with its keys explained. Times are texts like
``50us`` or seconds, rates ``10Gbit/s``, ``1MB/s`` or bytes per second, sizes ``64MiB`` or bytes::

    name: mine
    host: {rate: 10Gbit/s, delay: 50us}                  # the cable of each host
    rack: {rate: 1Gbit/s, delay: 450us, queue: 64MiB}    # the uplink of each rack (default queue 64 MiB)
    site: {rate: 1MB/s, delay: 5ms}                      # the uplink of each site
    sites:
      - hosts: 2                                         # hosts straight at the site's switch
      - racks:                                           # or in racks
          - {hosts: 4}
          - {hosts: 4, uplink: {rate: 500Mbit/s, delay: 450us}}    # an uplink of its own
          - {hosts: 2, host: {rate: 1Gbit/s, delay: 50us}}         # hosts with cables of their own

``racks`` may also stand at the top, without sites, and ``hosts`` too, for hosts on one switch. A link's rate
and delay are those of each of its directions, by itself; a rate of 0 is not limited. Hosts are named ``h0``,
``h1``, … in the order of the file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from isochrone.descriptions.document import Document, read_document
from isochrone.descriptions.quantity import RATE, SIZE, TIME
from isochrone.descriptions.shipped import load_description, shipped_names
from isochrone.lab.network import Link, Network, Node

_NETWORKS = resources.files("isochrone.lab") / "networks"
_DEFAULT_QUEUE_BYTES = 64 << 20
_MOST_HOSTS = 250

Steps = tuple[str | int, ...]


def shipped_networks() -> list[str]:
    """Names of the labs that come with Isochrone."""
    return shipped_names(_NETWORKS)


def load_network(name_or_path: str) -> Network:
    """The lab of that name, or that the file describes.

    Args:
        name_or_path: one of ``shipped_networks()``, or a path: with a ``/`` or a suffix.

    Raises:
        UsageError: there is no such lab.
        IsochroneError: the file is wrong; with file and line.
    """
    return load_description(_NETWORKS, name_or_path, read_network, "lab")


def read_network(path: Path) -> Network:
    """The lab that a YAML file describes.

    Raises:
        IsochroneError: with file and line.
    """
    document = read_document(path)
    schema = json.loads((resources.files("isochrone.lab") / "lab.schema.json").read_text(encoding="utf-8"))
    document.check(schema)
    return _Reader(document).network()


class _Reader:
    """Turns a document of the right form into a Network; every value is looked up by its steps, for its
    line.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes = [Node("core", "core", None, None)]
        self._counts: Counter[str] = Counter()
        self._defaults = {
            kind: self._link((kind,)) for kind in ("host", "rack", "site") if kind in document.data
        }

    def network(self) -> Network:
        data = self._document.data
        self._fill((), data, 0, self._defaults["host"])
        return Network(data["name"], data.get("description", ""), tuple(self._nodes))

    def _fill(self, steps: Steps, data: Mapping[str, Any], parent: int, host: Link) -> None:
        """Adds what stands under one switch."""
        inside = [key for key in ("hosts", "racks", "sites") if key in data]
        if len(inside) != 1:
            what = "neither hosts, racks nor sites" if not inside else " and ".join(inside) + " together"
            raise self._document.error(what, steps, "give one of hosts, racks and sites")
        key = inside[0]
        if key == "hosts":
            count = self._counts["host"] + int(data["hosts"])
            if count > _MOST_HOSTS:
                raise self._document.error(
                    f"{count} hosts, with those before", (*steps, key), f"use at most {_MOST_HOSTS}"
                )
            for number in range(self._counts["host"], count):
                self._nodes.append(Node(f"h{number}", "host", parent, host))
            self._counts["host"] = count
            return
        self._switches((*steps, key), data[key], key.removesuffix("s"), parent, host)

    def _switches(
        self, steps: Steps, entries: Sequence[Mapping[str, Any]], kind: str, parent: int, host: Link
    ) -> None:
        for position, entry in enumerate(entries):
            here = (*steps, position)
            if "uplink" in entry:
                link = self._link((*here, "uplink"))
            elif kind in self._defaults:
                link = self._defaults[kind]
            else:
                raise self._document.error("its uplink is not described", here, f"give uplink, or {kind}")
            own = self._link((*here, "host")) if "host" in entry else host
            self._nodes.append(Node(f"{kind}{self._counts[kind]}", kind, parent, link))
            self._counts[kind] += 1
            self._fill(here, entry, len(self._nodes) - 1, own)

    def _link(self, steps: Steps) -> Link:
        rate = self._document.quantity((*steps, "rate"), RATE)
        queue = self._document.quantity((*steps, "queue"), SIZE, _DEFAULT_QUEUE_BYTES)
        return Link(rate or math.inf, self._document.quantity((*steps, "delay"), TIME), int(queue))
