# SPDX-License-Identifier: BSD-3-Clause
"""``study.json``: the times of a study, and the tables of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class StudyFile:
    """A study that is under way or done.

    Attributes:
        name: of the study.
        target: where it runs.
        done: whether all was measured; else there are no results yet.
        headline: what came out, in a sentence.
        results: one object for each recipe in each case: placement, ranks, ranks on a node (null: as many as
            fit), region, collective, bytes, recipe, number of repetitions, median and its interval.
        tables: by name, the head and the rows of each, as the page shows them.
    """

    name: str
    target: str
    done: bool = False
    headline: str = ""
    results: Sequence[Json] = ()
    tables: Json = field(default_factory=dict)
    provenance: Json = field(default_factory=dict)

    def document(self) -> Json:
        """The study as JSON."""
        return {
            "isochrone": "study",
            "schema_version": SCHEMA_VERSION,
            "study": self.name,
            "target": self.target,
            "done": self.done,
            "headline": self.headline,
            "results": list(self.results),
            "tables": self.tables,
            "provenance": self.provenance,
        }


def read_study(path: Path | str) -> StudyFile:
    """Reads ``study.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    path = Path(path)
    document = read_object(path, make_again("study"))
    check(document, "study", str(path))
    return StudyFile(
        name=document["study"],
        target=document["target"],
        done=document["done"],
        headline=document["headline"],
        results=tuple(document["results"]),
        tables=document["tables"],
        provenance=document["provenance"],
    )


def write_study(path: Path | str, study: StudyFile) -> None:
    """Writes ``study.json``. Raises IsochroneError for a study that the schema does not allow."""
    document = study.document()
    check(document, "study", str(path))
    write_object(Path(path), document)
