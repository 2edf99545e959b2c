# SPDX-License-Identifier: BSD-3-Clause
"""``work.json``: what ``isochrone-bench`` is to time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isochrone.files.bench import BCAST
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class Case:
    """Recipes to be timed against each other for one collective, size and root.

    Attributes:
        size_bytes: that all ranks know alike; 0 where the collective has no data.
        root: 0 where the collective has none.
    """

    size_bytes: int
    root: int
    recipes: tuple[str, ...]
    collective: str = BCAST


@dataclass(frozen=True)
class Work:
    """What a benchmark is to time.

    Attributes:
        repetitions: timed calls of each recipe in each case, after ``warmup`` that are not.
        seed: of the order in which recipes take turns.
        rival_repetitions: the same for what the library is told to use (``native:NAME``).
        patience_s: what the calls of a case may take, more or less: then it has no more repetitions, but at
            least ``least_repetitions``; None: whatever it takes.
        ranks: that the cases are for; None: any number.
        fabric: the address of a server of routes, whose distances trees are laid by; None: by the topology.
    """

    repetitions: int
    warmup: int
    seed: int
    cases: tuple[Case, ...]
    rival_repetitions: int
    patience_s: float | None
    least_repetitions: int
    ranks: int | None = None
    fabric: str | None = None


def read_work(path: Path | str) -> Work:
    """Reads ``work.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    path = Path(path)
    document = read_object(path, make_again("work"))
    check(document, "work", str(path))
    common = document.get("collective", BCAST)
    return Work(
        repetitions=int(document["repetitions"]),
        warmup=int(document["warmup"]),
        seed=int(document["seed"]),
        cases=tuple(
            Case(int(c["bytes"]), int(c["root"]), tuple(c["recipes"]), c.get("collective", common))
            for c in document["cases"]
        ),
        rival_repetitions=int(document["rival_repetitions"]),
        patience_s=document["patience_s"],
        least_repetitions=int(document["least_repetitions"]),
        ranks=document.get("ranks"),
        fabric=document.get("fabric"),
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
        "least_repetitions": work.least_repetitions,
        "warmup": work.warmup,
        "seed": work.seed,
        "cases": [
            {
                "collective": case.collective,
                "bytes": case.size_bytes,
                "root": case.root,
                "recipes": list(case.recipes),
            }
            for case in work.cases
        ],
    }
