# SPDX-License-Identifier: BSD-3-Clause
"""``survey.json``: what only the survey knew that made the other files of its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_object, write_object


@dataclass(frozen=True)
class Part:
    """One of the surveys that a merged one is made of.

    Attributes:
        name: of its folder.
        fingerprint: of its topology.
        ranks: that it surveyed.
        time: when its plan was made; empty where that is not known.
    """

    name: str
    fingerprint: str
    ranks: int
    time: str

    def document(self) -> Json:
        """As JSON."""
        return {
            "name": self.name,
            "topology": {"fingerprint": self.fingerprint},
            "ranks": self.ranks,
            "time": self.time,
        }


@dataclass(frozen=True)
class Survey:
    """A survey as a whole.

    Attributes:
        target: where it ran: ``mpiexec -n 4``, ``fram (simulated)``.
        fingerprint: of the topology that it found.
        command: what the user typed.
        cores: that the ranks shared; None where that is not known.
        elapsed_s: what it took; None where that is not known.
        merged: what it was merged from; empty for a survey that measured.
    """

    target: str
    fingerprint: str
    command: Sequence[str] = ()
    cores: int | None = None
    elapsed_s: float | None = None
    provenance: Json = field(default_factory=dict)
    merged: tuple[Part, ...] = ()


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
        merged=tuple(
            Part(part["name"], part["topology"]["fingerprint"], int(part["ranks"]), part["time"])
            for part in document.get("merged", ())
        ),
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
        **({"merged": [part.document() for part in survey.merged]} if survey.merged else {}),
        "provenance": survey.provenance,
    }
    check(document, "survey", str(path))
    write_object(Path(path), document)
