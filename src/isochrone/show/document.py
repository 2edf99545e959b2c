# SPDX-License-Identifier: BSD-3-Clause
"""What is shown of a call, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from isochrone.show.spread import Spread
from isochrone.show.timeline import Timeline


def document(timeline: Timeline, spread: Spread) -> dict[str, Any]:
    """As JSON. Levels are indices into ``levels``, ``after``, ``behind`` and ``sent_by`` into ``steps``."""
    call = timeline.call
    return {
        "collective": call.collective,
        "recipe": call.recipe,
        "ranks": call.layout.size,
        "root": call.root,
        "size_bytes": call.size_bytes,
        "levels": call.layout.levels,
        "groups": call.groups,
        "predicted_s": timeline.end_s,
        "tree": spread.document(),
        "steps": [asdict(step) for step in timeline.steps],
    }
