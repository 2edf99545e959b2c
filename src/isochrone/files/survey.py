# SPDX-License-Identifier: BSD-3-Clause
"""``survey.json``: what only the survey knew that made the other files of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from isochrone.files.fields import Positive, Provenance, Seconds
from isochrone.files.form import Decoder, Form, Head, written
from isochrone.files.references import TopologyReference

_Text = Annotated[str, Meta(max_length=1 << 20)]
_Name = Annotated[str, Meta(min_length=1, max_length=1 << 20)]


class Part(Form, frozen=True):
    """One of the surveys that a merged one is made of."""

    name: Annotated[_Name, Meta(description="Of its folder.")]
    topology: TopologyReference
    ranks: Annotated[Positive, Meta(description="That it surveyed.")]
    time: Annotated[str, Meta(max_length=64, description="Of its plan; empty: not known.")]


class Survey(Head, frozen=True, kw_only=True, tag="survey"):
    """A survey as a whole.

    Attributes:
        topology: that it found.
        target: where it ran: ``mpiexec -n 4``, ``fram (simulated)``.
        merged: what it was merged from; empty for a survey that measured.
    """

    topology: TopologyReference
    target: Annotated[_Name, Meta(description="Where it ran.")]
    command: Annotated[tuple[_Text, ...], Meta(max_length=1 << 16, description="What the user typed.")] = (
        written(tuple)
    )
    cores: Annotated[
        Positive | None,
        Meta(description="Of the one machine that all ranks shared; null: there were several, or not known."),
    ] = written(None)
    elapsed_s: Annotated[Seconds | None, Meta(description="What it took; null: not known.")] = written(None)
    merged: Annotated[
        tuple[Part, ...],
        Meta(
            min_length=1,
            max_length=1 << 16,
            description="The surveys that it was merged from; missing in one that measured.",
        ),
    ] = ()
    provenance: Provenance = written(dict)


FILE = Decoder("survey", Survey)


def read_survey(path: Path | str) -> Survey:
    """Reads ``survey.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    return FILE.file(Path(path))


def write_survey(path: Path | str, survey: Survey) -> None:
    """Writes ``survey.json``. Raises IsochroneError for a survey that could not be read again."""
    FILE.write(Path(path), survey)
