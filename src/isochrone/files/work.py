# SPDX-License-Identifier: BSD-3-Clause
"""``work.json``: what ``isochrone-bench`` is to time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from isochrone.files.bench import BCAST, BenchCase
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class Loop:
    """The main loop of an application: in each iteration calls of a collective, then as long as it computes.

    Attributes:
        name: what its times are found by, in place of the collective's.
        iterations: of one timed run.
        calls: of each iteration.
        compute_s: after them.
        root_step: by which the root moves on with each iteration; more than 0 for broadcasts alone.
    """

    name: str
    iterations: int
    calls: int
    compute_s: float
    root_step: int = 0

    def document(self) -> Json:
        """The loop as JSON."""
        return asdict(self)


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
    """

    size_bytes: int
    root: int
    recipes: tuple[str, ...]
    collective: str = BCAST
    members: str = ""
    is_pattern: bool = False
    loop: Loop | None = None

    @property
    def calls(self) -> int:
        """Of the collective, each time that the case is timed."""
        return 1 if self.loop is None else self.loop.iterations * self.loop.calls

    @property
    def key(self) -> BenchCase:
        """What its times are found by in a benchmark."""
        name = self.collective if self.loop is None else self.loop.name
        return BenchCase(self.size_bytes, self.root, name, self.members)


@dataclass(frozen=True)
class Work:
    """What a benchmark is to time.

    Attributes:
        repetitions: timed calls of each recipe in each case, after one that is checked.
        seed: of the order in which recipes take turns.
        rival_repetitions: the same for what the library is told to use (``native:NAME``).
        patience_s: what the calls of a case may take, more or less: then it has no more repetitions, but at
            least ``least_repetitions``; None: whatever it takes.
        budget_s: the same of all cases together.
        drop: a recipe other than native whose first call takes so many times as long as the fastest one's
            of its case, and longer than its share of the patience, is timed no further; None: all are timed.
        ranks: that the cases are for; None: any number.
        fabric: the address of a server of routes, whose distances trees are laid by; None: by the topology.
    """

    repetitions: int
    seed: int
    cases: tuple[Case, ...]
    rival_repetitions: int
    patience_s: float | None
    least_repetitions: int
    ranks: int | None = None
    fabric: str | None = None
    budget_s: float | None = None
    drop: float | None = None


def read_work(path: Path | str) -> Work:
    """Reads ``work.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    path = Path(path)
    document = read_object(path, make_again("work"))
    check(document, "work", str(path))
    common = document.get("collective", BCAST)
    return Work(
        repetitions=int(document["repetitions"]),
        seed=int(document["seed"]),
        cases=tuple(
            Case(
                int(c["bytes"]),
                int(c["root"]),
                tuple(c["recipes"]),
                c.get("pattern") or c.get("collective", common),
                c.get("members", ""),
                "pattern" in c,
                Loop(**c["loop"]) if "loop" in c else None,
            )
            for c in document["cases"]
        ),
        rival_repetitions=int(document["rival_repetitions"]),
        patience_s=document["patience_s"],
        least_repetitions=int(document["least_repetitions"]),
        ranks=document.get("ranks"),
        fabric=document.get("fabric"),
        budget_s=document.get("budget_s"),
        drop=document.get("drop"),
    )


def write_work(path: Path | str, work: Work) -> None:
    """Writes ``work.json``. Raises IsochroneError for work that the schema does not allow."""
    document = work_document(work)
    check(document, "work", str(path))
    write_object(Path(path), document)


def work_document(work: Work) -> Json:
    """The work as JSON."""
    return {
        "isochrone": "work",
        "schema_version": SCHEMA_VERSION,
        "ranks": work.ranks,
        "fabric": work.fabric,
        "repetitions": work.repetitions,
        "rival_repetitions": work.rival_repetitions,
        "patience_s": work.patience_s,
        "budget_s": work.budget_s,
        "drop": work.drop,
        "least_repetitions": work.least_repetitions,
        "seed": work.seed,
        "cases": [
            {
                "pattern" if case.is_pattern else "collective": case.collective,
                "bytes": case.size_bytes,
                "root": case.root,
                "recipes": list(case.recipes),
                **({"members": case.members} if case.members else {}),
                **({"loop": case.loop.document()} if case.loop else {}),
            }
            for case in work.cases
        ],
    }
