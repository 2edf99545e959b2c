# SPDX-License-Identifier: BSD-3-Clause
"""One generation of a fabric, ready to be asked.

It is read in a process of its own. The dumps of a large fabric take seconds, and no answer should wait
for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isochrone._core import FabricRoutes, FabricService
from isochrone.errors import IsochroneError
from isochrone.fabric.check import check
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.model import Fabric, Port, guid_text
from isochrone.fabric.routes import Routes, Wiring
from isochrone.files.text import Json


@dataclass(frozen=True)
class Told:
    """What a process that read a fabric passes on.

    Attributes:
        generation: of the dumps; 0 where they do not say.
        wiring: for routes.
        counts: of hosts, switches and links.
        findings: what is wrong, as ``check`` says it.
        remarks: what is missing in the dumps.
        drawing: nodes and cables for the page.
    """

    generation: int
    wiring: Wiring
    counts: dict[str, int]
    findings: list[Json]
    remarks: list[str]
    drawing: Json


class Snapshot:
    """A generation that answers.

    Attributes:
        told: what was read.
        serial: how many were served before it; dumps without a manifest have no generation.
        routes, service: of the core.
    """

    def __init__(self, told: Told, serial: int) -> None:
        self.told = told
        self.serial = serial
        self.routes: FabricRoutes = told.wiring.routes()
        self.service: FabricService = told.wiring.service(self.routes, told.generation)

    def health(self, alarm: str | None) -> str:
        """The answer to ``health``."""
        counts = " ".join(f"{name} {number}" for name, number in self.told.counts.items())
        faults = sum(finding["severity"] == "fault" for finding in self.told.findings)
        state = "ok" if alarm is None else "alarm"
        text = f"{state} generation {self.told.generation} {counts} faults {faults}"
        return text if alarm is None else f"{text}: {alarm}"


def read(folder: Path) -> Told:
    """Reads a folder of dumps.

    Raises:
        IsochroneError: see ``read_fabric``; or there is not one forwarding table, so that nothing can be
            answered.
    """
    fabric = read_fabric(folder)
    if not fabric.tables:
        raise IsochroneError(
            "holds no forwarding table", str(folder), "add what dump_fts prints, or use isochrone fabric dump"
        )
    routes = Routes(fabric)
    return Told(
        fabric.generation,
        routes.wiring,
        {
            "hosts": len(fabric.hosts),
            "switches": len(routes.switches),
            "links": sum(1 for _ in fabric.cables()),
        },
        [finding.to_json() for finding in check(routes)],
        fabric.remarks[:_MOST_REMARKS],
        _drawing(fabric),
    )


_MOST_REMARKS = 100


def _drawing(fabric: Fabric) -> Json:
    """Switches with their distance from the hosts, hosts with their switch, and cables between switches."""
    tier = fabric.tiers()
    hosts = []
    for name, ports in fabric.hosts.items():
        for node, port in ports:
            far = port.peer[0] if port.peer else 0
            hosts.append(
                {
                    "name": name,
                    "guid": guid_text(port.guid or node.guid),
                    "at": guid_text(far),
                    **_speed(port),
                }
            )
    return {
        "switches": [
            {"guid": guid_text(node.guid), "name": node.name, "tier": tier[node.guid]}
            for node in fabric.switches
        ],
        "hosts": hosts,
        "cables": [
            {
                "from": guid_text(one.guid),
                "from_port": its.number,
                "to": guid_text(other.guid),
                "to_port": others.number,
                **_speed(its),
            }
            for one, its, other, others in fabric.cables()
            if one.kind == other.kind == "switch"
        ],
    }


def _speed(port: Port) -> Json:
    return {"link": f"{port.width}x{port.speed}" if port.speed else ""}
