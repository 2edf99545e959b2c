# SPDX-License-Identifier: BSD-3-Clause
"""What a report is made from: everything the files of a survey say, in the form that the sections need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isochrone.files import Bench, Level, Measurements, Place, Plan, Topology
from isochrone.plogp.protocol import ProtocolStep, level_steps
from isochrone.report.comparison import Comparison
from isochrone.report.mergetree import MergeTree
from isochrone.statistics import FloatArray


@dataclass(frozen=True)
class Survey:
    """What the running survey knows beyond its files; a report that is made later does without.

    `cores` is the number of cores that the ranks shared, None where that is not known.
    """

    target: str
    command: Sequence[str] = ()
    cores: int | None = None
    elapsed_s: float | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """A survey, read and compared. `plan`, `bench` and `comparison` are None where their files are
    missing.
    """

    folder: Path
    measurements: Measurements
    topology: Topology
    tree: MergeTree | None
    plan: Plan | None
    bench: Bench | None
    comparison: Comparison | None
    survey: Survey | None

    @property
    def rank_count(self) -> int:
        """Number of surveyed ranks."""
        return len(self.topology.ranks)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, outermost first."""
        return self.topology.levels

    @property
    def places(self) -> tuple[Place, ...]:
        """The distinct places."""
        return self.topology.places

    @property
    def simulated(self) -> bool:
        """Whether the machine is a simulated one."""
        return self.measurements.simulated

    @property
    def files(self) -> Mapping[str, Mapping[str, object]]:
        """The provenance of each file by its name."""
        found: dict[str, Mapping[str, object]] = {
            "measurements.jsonl": self.measurements.provenance,
            "topology.json": self.topology.provenance,
        }
        if self.plan is not None:
            found["plan.json"] = self.plan.provenance
        if self.bench is not None:
            found["bench.jsonl"] = self.bench.provenance
        return found

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The distinct hosts in the order of the places."""
        return tuple(dict.fromkeys(place.host for place in self.places))

    @cached_property
    def one_way_s(self) -> FloatArray:
        """Half of the least round trip of the smallest message, shape `[rank, rank]`, NaN where not
        measured.
        """
        half: FloatArray = self.measurements.rtt_min_s[:, :, self.measurements.smallest] / 2
        return half

    @cached_property
    def protocol_steps(self) -> tuple[ProtocolStep | None, ...]:
        """Where the library goes from one protocol to another at each level, as far as was measured."""
        return level_steps(self.measurements, self.topology)

    @property
    def oversubscribed(self) -> bool | None:
        """Whether ranks had to share cores; None where the number of cores is not known."""
        if self.simulated:
            return False
        cores = self.survey.cores if self.survey else None
        return None if cores is None else self.rank_count > cores

    @cached_property
    def tree_order(self) -> npt.NDArray[np.int64]:
        """The ranks with every group of every level contiguous, groups in the order of their least rank,
        shape `[rank]`.

        So a survey in block placement keeps its rank order, and the order does not depend on how a tree was
        drawn.
        """
        keys = [np.arange(self.rank_count)]
        for column in [
            self.topology.ranks,
            *(self.topology.labels(level) for level in reversed(self.levels)),
        ]:
            _, first, inverse = np.unique(np.asarray(column), return_index=True, return_inverse=True)
            keys.append(first[inverse])
        order: npt.NDArray[np.int64] = np.lexsort(keys)
        return order
