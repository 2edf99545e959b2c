# SPDX-License-Identifier: BSD-3-Clause
"""``work.json``: what ``isochrone-bench`` is to time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.bench import BCAST, NATIVE, BenchCase
from isochrone.files.fields import Collective, Count, Ranks, Recipe, Seconds
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.schema import make_again
from isochrone.files.text import Json

_MOST_SEED = (1 << 64) - 1
_Times = Annotated[int, Meta(ge=1, le=100_000)]


class Loop(Form, frozen=True):
    """The main loop of an application: in each iteration calls of a collective, then as long as it computes.

    Attributes:
        name: what its times are found by, in place of the collective's.
        iterations: of one timed run.
        root_step: by which the root moves on with each iteration; more than 0 for broadcasts alone.
    """

    name: Collective
    iterations: _Times
    calls: Annotated[_Times, Meta(description="Of each iteration.")]
    compute_s: Annotated[float, Meta(ge=0, le=3600, description="After them.")]
    root_step: Annotated[
        int, Meta(ge=0, le=1 << 24, description="By which the root moves on with each iteration.")
    ] = written(0)


@dataclass(frozen=True)
class Case:
    """Recipes to be timed against each other for one collective, size and root; or a pattern of messages.

    Attributes:
        size_bytes: that all ranks know alike; 0 where the collective has no data. Of a message in a pattern.
        root: among the members; 0 where the collective has none.
        recipes: of a pattern, ``native`` alone.
        collective: its name, or the pattern's.
        members: which ranks take part, a list such as ``0-3,8``; empty: all.
        is_pattern: whether it is a pattern.
        loop: whose time is wanted, and not that of one call; None: a call.
        expected_s: what a call takes by some of the recipes, as far as known before.
    """

    size_bytes: int
    root: int
    recipes: tuple[str, ...]
    collective: str = BCAST
    members: str = ""
    is_pattern: bool = False
    loop: Loop | None = None
    expected_s: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def calls(self) -> int:
        """Of the collective, each time that the case is timed."""
        return 1 if self.loop is None else self.loop.iterations * self.loop.calls

    @property
    def key(self) -> BenchCase:
        """What its times are found by in a benchmark."""
        name = self.collective if self.loop is None else self.loop.name
        return BenchCase(self.size_bytes, self.root, name, self.members)


class _Effort(Head, frozen=True, kw_only=True):
    """How a benchmark is to time its cases.

    Attributes:
        repetitions: timed calls of each recipe in each case, after one that is checked.
        seed: of the order in which recipes take turns.
    """

    ranks: Annotated[
        Annotated[int, Meta(ge=1, le=1 << 24)] | None,
        Meta(description="That the cases are for; null: any number."),
    ] = written(None)
    fabric: Annotated[
        Annotated[str, Meta(max_length=512)] | None,
        Meta(
            description="Address of a fabric's server, whose distances trees are laid by: "
            "[hops@|speed@|time@]HOST:PORT. null: they are laid by the topology."
        ),
    ] = written(None)
    repetitions: Annotated[int, Meta(ge=1, le=10**6)]
    rival_repetitions: Annotated[
        int, Meta(ge=0, le=10**6, description="Of what the library is told to use (native:NAME).")
    ]
    patience_s: Annotated[
        Seconds | None,
        Meta(
            description="What the calls of one case may take, more or less; then it has no more repetitions, "
            "but at least least_repetitions. null: whatever it takes."
        ),
    ]
    budget_s: Annotated[Seconds | None, Meta(description="The same of all cases together.")] = written(None)
    drop: Annotated[
        Annotated[float, Meta(ge=1, le=1e9)] | None,
        Meta(
            description="A recipe other than native whose first call takes so many times as long as the "
            "fastest one's of its case, and longer than its share of patience_s, is timed no further. "
            "null: all are timed."
        ),
    ] = written(None)
    least_repetitions: Annotated[int, Meta(ge=1, le=10**6)]
    seed: Annotated[int, Meta(ge=0, extra_json_schema={"maximum": _MOST_SEED})]


class Work(_Effort, frozen=True, kw_only=True):
    """What a benchmark is to time."""

    cases: tuple[Case, ...]


class CaseLine(Form, frozen=True, kw_only=True):
    """A case as the file has it."""

    collective: Collective = ""
    pattern: Annotated[
        Collective, Meta(description="Of point-to-point messages, in place of a collective.")
    ] = ""
    size_bytes: Count = msgspec.field(name="bytes")
    root: Count
    recipes: Annotated[tuple[Recipe, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    members: Annotated[
        Ranks, Meta(description="Which ranks take part, ascending; all where it is missing.")
    ] = ""
    loop: Annotated[
        Loop | None,
        Meta(
            description="Of calls and computing, as an application's: its time is that of all iterations, "
            "and is told by its name in place of the collective's."
        ),
    ] = None
    expected_s: Annotated[
        dict[Recipe, Annotated[float, Meta(ge=0, le=3600)]],
        Meta(
            description="What a call takes by some of the recipes, as far as known before. Those of others "
            "are taken for their first calls', in which things are set up."
        ),
    ] = msgspec.field(default_factory=dict)


_PATTERNS: Json = {
    "dependentSchemas": {
        "pattern": {
            "description": "It runs natively alone.",
            "properties": {"collective": False, "loop": False, "recipes": {"const": [NATIVE]}},
        }
    }
}


class WorkFile(_Effort, frozen=True, kw_only=True, tag="work"):
    """The whole file."""

    collective: Annotated[Collective, Meta(description="Of cases that name none.")] = BCAST
    cases: tuple[Annotated[CaseLine, Meta(extra_json_schema=_PATTERNS)], ...]


def _check(work: WorkFile, where: str) -> None:
    todo = make_again("work")
    if work.seed > _MOST_SEED:
        raise IsochroneError(f"seed: is above {_MOST_SEED}", where, todo)
    for index, case in enumerate(work.cases):
        if len(set(case.recipes)) != len(case.recipes):
            raise IsochroneError(f"cases[{index}].recipes: items occur twice", where, todo)
        if case.pattern and (case.collective or case.loop is not None or case.recipes != (NATIVE,)):
            what = f"cases[{index}]: a pattern is no collective, and runs natively alone"
            raise IsochroneError(what, where, todo)


FILE = Decoder("work", WorkFile, check=_check)


def read_work(path: Path | str) -> Work:
    """Reads ``work.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    file = FILE.file(Path(path))
    cases = (
        Case(
            case.size_bytes,
            case.root,
            case.recipes,
            case.pattern or case.collective or file.collective,
            case.members,
            bool(case.pattern),
            case.loop,
            case.expected_s,
        )
        for case in file.cases
    )
    return Work(**_effort(file), cases=tuple(cases))


def write_work(path: Path | str, work: Work) -> None:
    """Writes ``work.json``. Raises IsochroneError for work that could not be read again."""
    FILE.write(Path(path), _file_of(work))


def work_document(work: Work) -> Json:
    """The work as JSON."""
    return _file_of(work).document()


def _file_of(work: Work) -> WorkFile:
    cases = (
        CaseLine(
            collective="" if case.is_pattern else case.collective,
            pattern=case.collective if case.is_pattern else "",
            size_bytes=case.size_bytes,
            root=case.root,
            recipes=case.recipes,
            members=case.members,
            loop=case.loop,
            expected_s=dict(case.expected_s),
        )
        for case in work.cases
    )
    return WorkFile(**_effort(work), cases=tuple(cases))


def _effort(work: _Effort) -> Json:
    return {name: getattr(work, name) for name in _Effort.__struct_fields__ if name != "schema_version"}
