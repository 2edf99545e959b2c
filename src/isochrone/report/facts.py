# SPDX-License-Identifier: BSD-3-Clause
"""What a report is made from: everything the files of a survey say, in the form that the sections need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isochrone.doctor.asymmetric import Asymmetry
from isochrone.doctor.findings import Finding
from isochrone.files import Bench, Level, Measurements, Place, Plan, Survey, Topology
from isochrone.plogp.protocol import ProtocolStep, level_steps
from isochrone.report.comparison import Comparison
from isochrone.report.mergetree import MergeTree
from isochrone.report.rankmap import RankMap
from isochrone.statistics import FloatArray

_TRUTH = "truth"

MOST_IN_MATRIX = 2048
"""Ranks: the latencies of more pairs would make a page of more than ten megabytes."""

Findings = tuple[Finding | Asymmetry, ...]
"""What is slower than its like, then which pairs have one slow direction, both worst first."""


@dataclass(frozen=True)
class Check:
    """Groups that are known from elsewhere, called `name`, against the level found that is most like them:
    the share of ranks in the right group, and the level's name, None for single places.
    """

    name: str
    source: str
    accuracy: float
    level: str | None


@dataclass(frozen=True, eq=False)
class Facts:
    """A survey, read and compared. `comparisons` has one for each collective that was timed. `plan`, `bench`
    and `survey` are None where their files are missing, or are not shown: then `not_shown` has a sentence
    that says why, by the name of the file. `findings` is None where the measurements do not tell what is
    slow. `mapping` is None where the folder has none, or has one that is not shown.
    """

    folder: Path
    measurements: Measurements
    topology: Topology
    tree: MergeTree | None
    plan: Plan | None
    bench: Bench | None
    comparisons: tuple[Comparison, ...]
    survey: Survey | None
    findings: Findings | None
    not_shown: Mapping[str, str]
    mapping: RankMap | None = None

    @property
    def rank_count(self) -> int:
        """Number of surveyed ranks."""
        return len(self.topology.ranks)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why files are not shown, each reason once."""
        return tuple(dict.fromkeys(self.not_shown.values()))

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
        if self.survey is not None:
            found["survey.json"] = self.survey.provenance
        if self.mapping is not None:
            found["mapping.json"] = self.mapping.file.provenance
            if self.mapping.graph is not None:
                found["graph.json"] = self.mapping.graph.provenance
        return found

    @property
    def accuracy(self) -> Mapping[str, float]:
        """The share of ranks in the right group at each level of the truth; empty where nobody knows that."""
        known = any(groups.source == _TRUTH for groups in self.topology.known)
        return self.topology.accuracy if known else {}

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What host names, hardware and the fabric say of the levels. That all ranks are in one group says
        nothing, and entries of another form than Isochrone's in the file are passed over.
        """
        found = []
        for name, entry in self.topology.agreement.items():
            if not isinstance(entry, Mapping) or not isinstance(entry.get("accuracy"), float | int):
                continue
            level, accuracy = entry.get("level"), float(entry["accuracy"])
            if level == self.levels[0].name and accuracy >= 1.0:
                continue
            source = str(entry.get("source", "other sources"))
            found.append(Check(name, source, accuracy, level if isinstance(level, str) else None))
        return tuple(found)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The distinct hosts in the order of the places."""
        return tuple(dict.fromkeys(place.host for place in self.places))

    @cached_property
    def place_groups(self) -> tuple[tuple[int, ...], ...]:
        """[level][surveyed rank], the number of its group, outermost level first."""
        return tuple(self.topology.labels(level) for level in self.levels)

    @cached_property
    def one_way_s(self) -> FloatArray:
        """Half of the least round trip of the smallest message, shape `[pair]`, of those that were measured;
        NaN for one that was not with that size.
        """
        half: FloatArray = self.measurements.rtt_min_s[:, self.measurements.smallest] / 2
        return half

    @cached_property
    def matrix_s(self) -> FloatArray | None:
        """The same as shape `[rank, rank]`, NaN where not measured; None of too many ranks to be drawn."""
        return self.measurements.square(self.one_way_s) if self.rank_count <= MOST_IN_MATRIX else None

    @cached_property
    def protocol_steps(self) -> tuple[ProtocolStep | None, ...]:
        """Where the library goes from one protocol to another at each level, as far as was measured."""
        return level_steps(self.measurements, self.topology)

    @property
    def oversubscribed(self) -> bool | None:
        """Whether ranks had to share cores, on any host; None where that is not known."""
        if self.simulated:
            return False
        cores = self.survey.cores if self.survey else None
        if cores is not None:  # of labs, whose hosts are one machine, the probe knows nothing else
            return self.rank_count > cores
        found = self.measurements.provenance.get("oversubscribed")
        return None if found is None else bool(found)

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
