# SPDX-License-Identifier: BSD-3-Clause
"""What the rules of several files have in common: a range of sizes, and the evidence for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Protocol, TypeVar

from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import Count, Seconds
from isochrone.files.form import Form
from isochrone.files.schema import make_again

_Ratio = Annotated[float, Meta(ge=0)]


class Comparison(Form, frozen=True):
    """Times of the library's own choice and of something else.

    Attributes:
        native_s, recipe_s: median time of the slowest rank, by the library's own choice and by the other.
        speedup: native over recipe, with its interval ``speedup_ci``: of 95 %, the mean over sizes and roots;
            of 97 % where it was found live.
        launches: speedup in each launch of the program that measured it; empty where that is not known.
    """

    native_s: Seconds
    recipe_s: Seconds
    speedup: _Ratio
    speedup_ci: tuple[_Ratio, _Ratio]
    repetitions: Count
    launches: Annotated[
        tuple[Seconds, ...],
        Meta(max_length=1000, description="The speedup in each launch of the benchmark."),
    ] = ()


class Ranged(Protocol):
    """What is for messages of ``min_bytes`` to ``max_bytes``."""

    @property
    def min_bytes(self) -> int:
        """The least."""

    @property
    def max_bytes(self) -> int:
        """The most."""


class Proven(Ranged, Protocol):
    """The same of a collective, with evidence."""

    @property
    def collective(self) -> str:
        """Its name."""

    @property
    def evidence(self) -> Comparison:
        """What it rests on."""


RangedT = TypeVar("RangedT", bound=Ranged)
ProvenT = TypeVar("ProvenT", bound=Proven)


def rule_at(rules: Iterable[RangedT], size_bytes: int) -> RangedT | None:
    """The first rule for messages of this size; None where there is none."""
    return next((rule for rule in rules if rule.min_bytes <= size_bytes <= rule.max_bytes), None)


def check_rules(
    rules: Sequence[ProvenT], kind: str, where: str, what: Callable[[ProvenT], tuple[str, str | None]]
) -> None:
    """Raises IsochroneError for rules that contradict themselves or each other, or are for a collective that
    there is not: they would count for nothing.

    Args:
        kind: of the file that they are in.
        what: a rule is for: those for the same are for different sizes. First in words.
    """
    from isochrone import _core

    todo = make_again(kind)
    collectives = {row["name"] for row in _core.collectives()}
    beside: dict[tuple[str, str | None], list[ProvenT]] = defaultdict(list)
    for index, rule in enumerate(rules):
        low, high = rule.evidence.speedup_ci
        if rule.collective not in collectives:
            none = f"there is no collective '{rule.collective}'"
            raise IsochroneError(none, f"{where}: rules[{index}]", todo)
        if rule.min_bytes > rule.max_bytes:
            here = f"min_bytes {rule.min_bytes} is above max_bytes"
            raise IsochroneError(here, f"{where}: rules[{index}]", todo)
        if low > high:
            raise IsochroneError("speedup_ci ends before it begins", f"{where}: rules[{index}]", todo)
        beside[what(rule)].append(rule)
    for (words, _), group in beside.items():
        for rule, following in pairwise(sorted(group, key=lambda rule: rule.min_bytes)):
            if following.min_bytes <= rule.max_bytes:
                both = f"two rules for {words} hold for {following.min_bytes} bytes"
                raise IsochroneError(both, where, todo)
