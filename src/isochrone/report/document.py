# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a survey for programs, as one JSON object: `survey --json` and `report --json` print it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isochrone.files import BCAST
from isochrone.report.comparison import Comparison
from isochrone.report.facts import Facts
from isochrone.report.rankmap import RankMap


def survey_document(facts: Facts, report: Path) -> dict[str, Any]:
    """The figures of the report at `report`. Levels are outermost first; `findings` is null where nothing can
    be said of what is slow, `oversubscribed` where it is not known, `mapping` where there is none.
    `not_shown` has a sentence for each file that says nothing of this topology.
    """
    measurements, topology = facts.measurements, facts.topology
    return {
        "ranks": measurements.ranks,
        "levels": [
            level.figures() | {"protocol_step": step and step.document()}
            for level, step in zip(topology.levels, facts.protocol_steps, strict=True)
        ],
        "accuracy": topology.accuracy,
        "agreement": topology.agreement,
        "pairs_measured": measurements.pairs_measured,
        "pairs_total": measurements.pairs_total,
        "probe_seconds": measurements.elapsed_s,
        "simulated": measurements.simulated,
        "oversubscribed": facts.oversubscribed,
        "mpi": measurements.mpi.document(),
        **collectives_document(facts.comparisons),
        "findings": None if facts.findings is None else [each.to_json() for each in facts.findings],
        "mapping": None if facts.mapping is None else _mapping_document(facts.mapping),
        "not_shown": dict(facts.not_shown),
        "report": str(report),
    }


def collectives_document(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """`collectives`: the plan against the library's own, by collective, overall and by size; none where
    nothing was timed (a single rank). `broadcast` is that of broadcasts once more, or null: the name that it
    had when there were no others.
    """
    found = {comparison.collective: _comparison_document(comparison) for comparison in comparisons}
    return {"broadcast": found.get(BCAST), "collectives": found}


def _mapping_document(mapping: RankMap) -> dict[str, Any]:
    """What `isochrone map --json` says of it."""
    file, prediction = mapping.file, mapping.file.prediction
    return {
        "ranks": mapping.rank_count,
        "method": file.method,
        "objective": file.objective,
        "cost": file.cost,
        "identity_cost": file.identity_cost,
        "levels": [level.document() for level in file.levels],
        "prediction": None if prediction is None else prediction.figures(),
        "advice": file.advice,
    }


def _comparison_document(comparison: Comparison) -> dict[str, Any]:
    return {
        "geomean_speedup": comparison.geomean_speedup,
        "geomean_speedup_large": comparison.geomean_speedup_large,
        "min_speedup": comparison.min_speedup,
        "sizes": [
            {
                "size_bytes": row.size_bytes,
                "native_s": row.native_s.estimate,
                "native_ci_s": [row.native_s.low, row.native_s.high],
                "plan_s": row.plan_s.estimate if row.plan_s else None,
                "speedup": row.speedup.estimate if row.speedup else None,
                "speedup_ci": [row.speedup.low, row.speedup.high] if row.speedup else None,
                "best_native": row.rival.algorithm if row.rival else None,
                "best_native_s": row.rival.time_s.estimate if row.rival else None,
            }
            for row in comparison.sizes
        ],
    }
