# SPDX-License-Identifier: BSD-3-Clause
"""What a study is: the cases that it wants, and what it makes of their times. Running, keeping, estimating
and the page are the same for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Drawing

from isochrone import _core
from isochrone.files import NATIVE, TOLD, Case, Loop
from isochrone.statistics import FloatArray, Interval, median_ci
from isochrone.studies.places import Arrangement, Machine
from isochrone.units import format_bytes, format_ratio, format_ratio_interval

SPEEDS = "speeds"
"""Of the cables of a simulation, which a server tells for as long as it is asked."""
AS_FAST = 1.01
"""A time of no more than so many times another's tells nothing from it."""
EACH_ALONE = (
    "Surely says that a 95 % interval is on one side. Each is of its own: of forty that differ in nothing "
    "one is surely faster by chance."
)
TIES = "of those within 1 % of the fastest, the library's own choice, or the first in the order of the tables"


@dataclass(frozen=True)
class Asked:
    """What the user asked for; None: the study's own choice.

    Attributes:
        fabric: the address of a server of routes.
    """

    sizes_bytes: tuple[int, ...] | None = None
    ranks: tuple[int, ...] | None = None
    fabric: str | None = None


@dataclass(frozen=True)
class Wanted:
    """Cases that are timed among the ranks of one arrangement.

    Attributes:
        fabric: what tells how close hosts are: the address of a server, or ``SPEEDS``; None: the topology.
    """

    arrangement: Arrangement
    cases: tuple[Case, ...]
    fabric: str | None = None


@dataclass(frozen=True, eq=False)
class Timed:
    """One recipe's times in one case.

    Attributes:
        region: the innermost that holds all ranks.
        collective: or the name of the loop.
        times_s: [repetition], of the slowest rank.
        loop: that was timed; None: it was a call.
    """

    arrangement: Arrangement
    region: str
    collective: str
    size_bytes: int
    recipe: str
    times_s: FloatArray
    loop: Loop | None = None

    @property
    def median_s(self) -> Interval:
        """With its interval."""
        return median_ci(self.times_s)


@dataclass(frozen=True)
class Table:
    """A table of the page: texts, and in `words` the columns that hold no numbers."""

    stem: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of the page and its files; `description` is for those who cannot see it."""

    stem: str
    caption: str
    description: str
    drawing: Drawing


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the evaluation: what it says, then its figures and tables."""

    stem: str
    title: str
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """What came out: one sentence for all, a few more, then the parts."""

    headline: str
    lead: tuple[str, ...]
    parts: tuple[Part, ...]
    limits: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A row of the table of studies.

    Attributes:
        name: on the command line.
        title: of the page.
        question: what was asked, in a sentence.
        source: whose experiment it is.
        repetitions: where times have noise.
        wanted: the cases, on a machine.
        findings: what their times say.
        then: more cases, which are of what the first ones took.
        beside: a part more, of what this process times by itself when the page is made.
        by_fabric: whether a server of routes may be asked.
    """

    name: str
    title: str
    question: str
    source: str
    repetitions: int
    wanted: Callable[[Machine, Asked], list[Wanted]]
    findings: Callable[[Machine, Sequence[Timed]], Findings]
    then: Callable[[Machine, Asked, Sequence[Timed]], list[Wanted]] | None = None
    beside: Callable[[], Part] | None = None
    by_fabric: bool = False


def is_own(recipe: str) -> bool:
    """Whether it is the library's own choice, or what the library is told."""
    return recipe == NATIVE or recipe.startswith(TOLD)


def label_of(recipe: str) -> str:
    """What tables and figures call a recipe, the same whatever the levels are called where it ran."""
    if recipe == NATIVE:
        return "library's own"
    if recipe.startswith(TOLD):
        return f"library's {recipe.partition(':')[2]}"
    parts = _core.recipe_parts(recipe)
    ways = ["+".join(way) for way in parts["algorithms"]]
    if not parts["levels"]:
        return ways[0]
    inside = list(dict.fromkeys(ways[1:]))
    if inside == ways[:1]:
        return f"{ways[0]} by levels"
    return f"{ways[0]} between, {' then '.join(inside)} inside"


def best(group: Sequence[Timed]) -> Timed:
    """The fastest of one case. Of those that are as fast, the library's own choice, or the first."""
    least_s = min(each.median_s.estimate for each in group)
    as_fast = [each for each in group if each.median_s.estimate <= AS_FAST * least_s]
    return min(as_fast, key=lambda each: each.recipe != NATIVE)


def by_label(timed: Sequence[Timed]) -> dict[str, list[Timed]]:
    """What was timed of each algorithm, in the order of the first of each."""
    groups: dict[str, list[Timed]] = defaultdict(list)
    for each in timed:
        groups[label_of(each.recipe)].append(each)
    return dict(groups)


def with_interval(ratio: Interval) -> str:
    """A ratio, and the interval around it where there is one."""
    if ratio.low == ratio.high:
        return format_ratio(ratio.estimate)
    return f"{format_ratio(ratio.estimate)} ({format_ratio_interval(ratio)})"


def size_words(size_bytes: int) -> str:
    """A size as a table has it, on one line."""
    return format_bytes(size_bytes).replace(" ", "\u00a0")
