# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a fabric: cables that run below what they could, tables that lead nowhere, uplinks that
carry more than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from isochrone.fabric.routes import ENDINGS, Routes
from isochrone.files.text import Json

_MOST_EXAMPLES = 5


@dataclass(frozen=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: its name.
        severity: a fault is to be mended; the rest is good to know.
        count: of pairs, cables or whatever ``words`` say.
        words: the fault, for a person.
        examples: a few of them.
    """

    kind: str
    severity: Literal["fault", "info"]
    count: int
    words: str
    examples: tuple[str, ...]

    def to_json(self) -> Json:
        """As ``check --json`` prints it."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "count": self.count,
            "words": self.words,
            "examples": list(self.examples),
        }


def check(routes: Routes) -> list[Finding]:
    """All that is wrong, worst first."""
    return _broken(routes)


def _broken(routes: Routes) -> list[Finding]:
    kinds = ("", "unreachable", "dead-end", "loop", "misrouted")
    vertices = list(routes.wiring.hosts.values())
    pairs, examples = routes.core.broken(vertices, _MOST_EXAMPLES)
    return [
        Finding(
            kinds[ending],
            "fault",
            pairs[ending],
            f"the route of {pairs[ending]} pairs of hosts {ENDINGS[ending]}",
            tuple(
                f"{routes.wiring.labels[source]} to {routes.wiring.labels[target]}"
                for source, target, found in examples
                if found == ending
            ),
        )
        for ending in range(1, len(ENDINGS))
        if pairs[ending]
    ]
