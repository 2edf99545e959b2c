# SPDX-License-Identifier: BSD-3-Clause
"""Where the topology that routes tell and the one that was measured disagree, host by host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from isochrone.fabric.delays import host_levels
from isochrone.fabric.switches import Switches
from isochrone.files import Topology
from isochrone.files.text import Json

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Apart:
    """A host that the measurements put elsewhere.

    Attributes:
        host: its name.
        switch: that it is below by the routes.
        measured_with: the switch whose hosts it is with by the measurements; None where it is in a group
            that is nearest to no switch.
    """

    host: str
    switch: str
    measured_with: str | None


@dataclass(frozen=True)
class Tier:
    """Switches equally far above the hosts, and the measured level that is most like them.

    Attributes:
        tier: 1 for the nearest to the hosts that divides them.
        switches: how many.
        level: name of the measured level; None where the measurements show no groups of whole hosts.
        groups: of that level.
        agreement: ratio of hosts in the right group, with groups and switches matched one to one (Reinfjell
            2023, section 3.2).
        apart: the others.
    """

    tier: int
    switches: int
    level: str | None
    groups: int
    agreement: float
    apart: list[Apart]

    def to_json(self) -> Json:
        """As the command prints it."""
        return {
            "tier": self.tier,
            "switches": self.switches,
            "level": self.level,
            "groups": self.groups,
            "agreement": self.agreement,
            "apart": [
                {"host": each.host, "switch": each.switch, "measured_with": each.measured_with}
                for each in self.apart
            ],
        }


def compare(tree: Switches, topology: Topology) -> list[Tier]:
    """Each tier of the routes' tree that divides the hosts of a measured topology.

    Raises:
        IsochroneError: a host is not on the fabric.
    """
    hosts, of_hosts = host_levels(topology)
    levels = [(level.name, labels) for level, labels in of_hosts]
    return [_tier(number, labels, hosts, levels) for number, labels in enumerate(tree.tiers(hosts), start=1)]


def _tier(number: int, switches: Sequence[str], hosts: Sequence[str], levels: list[tuple[str, Ints]]) -> Tier:
    names, known = np.unique(np.array(switches), return_inverse=True)
    best: tuple[int, str | None, Ints, dict[int, int]] = (0, None, np.zeros(len(hosts), np.int64), {})
    for name, labels in levels:
        shared = np.zeros((int(labels.max()) + 1, len(names)), np.int64)
        np.add.at(shared, (labels, known), 1)
        rows, columns = linear_sum_assignment(shared, maximize=True)
        right = int(shared[rows, columns].sum())
        if right > best[0]:
            pairs = zip(rows.tolist(), columns.tolist(), strict=True)
            best = right, name, labels, {row: column for row, column in pairs if shared[row, column]}
    right, level, labels, switch_of = best
    apart = []
    for host, label, at in zip(hosts, labels.tolist(), known.tolist(), strict=True):
        with_switch = switch_of.get(label)
        if with_switch != at:
            measured = None if with_switch is None else str(names[with_switch])
            apart.append(Apart(host, str(names[at]), measured))
    groups = len(np.unique(labels)) if level is not None else 0
    return Tier(number, len(names), level, groups, right / len(hosts), apart)
