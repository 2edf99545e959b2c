# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a fabric: cables that run below what they could, tables that lead nowhere, uplinks that
carry more than others.
"""

from __future__ import annotations

from dataclasses import dataclass

from isochrone.fabric.routes import ENDINGS, Routes
from isochrone.files.text import Json

_MOST_EXAMPLES = 5


@dataclass(frozen=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: its name.
        count: of pairs, cables or whatever ``words`` say.
        words: the fault, for a person.
        examples: a few of them.
    """

    kind: str
    count: int
    words: str
    examples: tuple[str, ...]

    def to_json(self) -> Json:
        """As ``check --json`` prints it."""
        return {
            "kind": self.kind,
            "count": self.count,
            "words": self.words,
            "examples": list(self.examples),
        }


def check(routes: Routes) -> list[Finding]:
    """All that is wrong, worst first."""
    return _broken(routes)


def _broken(routes: Routes) -> list[Finding]:
    kinds = ("", "unreachable", "dead-end", "loop", "misrouted")
    vertices = list(routes.host_vertices().values())
    pairs, examples = routes.core.broken(vertices, _MOST_EXAMPLES)
    return [
        Finding(
            kinds[ending],
            pairs[ending],
            f"the route of {pairs[ending]} pairs of hosts {ENDINGS[ending]}",
            tuple(
                f"{routes.label(source)} to {routes.label(target)}"
                for source, target, found in examples
                if found == ending
            ),
        )
        for ending in range(1, len(ENDINGS))
        if pairs[ending]
    ]
