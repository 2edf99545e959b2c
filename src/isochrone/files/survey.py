# SPDX-License-Identifier: BSD-3-Clause
"""``survey.json``: what only the survey knew that made the other files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class Survey:
    """A survey as a whole.

    Attributes:
        target: where it ran: ``mpiexec -n 4``, ``fram (simulated)``.
        fingerprint: of the topology that it found.
        command: what the user typed.
        cores: that the ranks shared; None where that is not known.
        elapsed_s: what it took; None where that is not known.
    """

    target: str
    fingerprint: str
    command: Sequence[str] = ()
    cores: int | None = None
    elapsed_s: float | None = None
    provenance: Json = field(default_factory=dict)


def read_survey(path: Path | str) -> Survey:
    """Reads ``survey.json``. Raises IsochroneError for what is damaged or of another kind or version."""
    path = Path(path)
    document = read_object(path, make_again("survey"))
    check(document, "survey", str(path))
    return Survey(
        target=document["target"],
        fingerprint=document["topology"]["fingerprint"],
        command=tuple(document["command"]),
        cores=None if document["cores"] is None else int(document["cores"]),
        elapsed_s=document["elapsed_s"],
        provenance=document["provenance"],
    )


def write_survey(path: Path | str, survey: Survey) -> None:
    """Writes ``survey.json``. Raises IsochroneError for a survey that the schema does not allow."""
    document: Json = {
        "isochrone": "survey",
        "schema_version": SCHEMA_VERSION,
        "topology": {"fingerprint": survey.fingerprint},
        "target": survey.target,
        "command": list(survey.command),
        "cores": survey.cores,
        "elapsed_s": survey.elapsed_s,
        "provenance": survey.provenance,
    }
    check(document, "survey", str(path))
    write_object(Path(path), document)
