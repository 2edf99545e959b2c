# SPDX-License-Identifier: BSD-3-Clause
"""``study.json``: the times of a study, and the tables of its page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from isochrone.files.fields import Count, Positive, Provenance, Seconds
from isochrone.files.form import Decoder, Form, Head, written

_Text = Annotated[str, Meta(max_length=1 << 12)]


class Result(Form, frozen=True, kw_only=True):
    """The time of a recipe in one case."""

    placement: Annotated[
        str,
        Meta(
            pattern="^(given|core|socket|node|(scattered|alike)-[1-9])$",
            description="The target's own, as Open MPI's --map-by has it, or one of several random orders of "
            "the nodes.",
        ),
    ]
    ranks: Positive
    per_node: Annotated[Positive | None, Meta(description="Ranks on a node at most; null: as many as fit.")]
    region: Annotated[str, Meta(max_length=256, description="The innermost that holds all.")]
    collective: Annotated[str, Meta(min_length=1, max_length=64)]
    size_bytes: Count
    recipe: Annotated[str, Meta(min_length=1, max_length=1 << 12)]
    repetitions: Positive
    median_s: Seconds
    ci_s: Annotated[
        tuple[Seconds, Seconds],
        Meta(description="Its interval of 95 %, or the range where there are too few repetitions for that."),
    ]


class Table(Form, frozen=True):
    """As the page shows it."""

    caption: _Text
    head: Annotated[tuple[_Text, ...], Meta(max_length=1 << 10)]
    rows: Annotated[
        tuple[Annotated[tuple[_Text, ...], Meta(max_length=1 << 10)], ...], Meta(max_length=1 << 16)
    ]


class StudyFile(Head, frozen=True, kw_only=True, tag="study"):
    """A study that is under way or done; until then there are no results."""

    name: Annotated[str, Meta(min_length=1, max_length=64, description="Its name.")] = msgspec.field(
        name="study"
    )
    target: Annotated[str, Meta(min_length=1, max_length=1 << 20, description="Where it ran.")]
    done: Annotated[bool, Meta(description="Whether all was measured.")] = written(False)
    headline: Annotated[_Text, Meta(description="What came out, in a sentence.")] = written("")
    results: Annotated[tuple[Result, ...], Meta(max_length=1 << 20)] = written(tuple)
    tables: Annotated[
        dict[str, Table], Meta(max_length=256, description="As the page shows them, by name.")
    ] = written(dict)
    provenance: Provenance = written(dict)


FILE = Decoder("study", StudyFile)


def read_study(path: Path | str) -> StudyFile:
    """Reads ``study.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    return FILE.file(Path(path))


def write_study(path: Path | str, study: StudyFile) -> None:
    """Writes ``study.json``. Raises IsochroneError for a study that could not be read again."""
    FILE.write(Path(path), study)
