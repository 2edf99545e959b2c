# SPDX-License-Identifier: BSD-3-Clause
"""The page of a study: what was asked, on what, the figures and tables, and what limits them. Its figures are
the SVG files beside it, put in as they are, so that it needs no script.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

from isochrone.files.whole import write_whole
from isochrone.report.frame import document
from isochrone.report.html import Html, table, tag
from isochrone.report.plots.style import KINDS, save
from isochrone.report.sections.parts import FIGURES_FOLDER, figure, picture, section
from isochrone.report.write import FILE_NAME, writing_report
from isochrone.studies.study import Figure, Findings, Part, Study, Table


@dataclass(frozen=True)
class Setting:
    """On what a study ran, in the order of the page: what each entry is called, and what it says."""

    target: str
    simulated: bool
    entries: Mapping[str, str]
    command: Sequence[str]


def write_study_page(study: Study, setting: Setting, findings: Findings, folder: Path) -> Path:
    """Writes `report.html` and `figures/`; gives the page's path. Figures that are of no part are removed.

    Raises:
        IsochroneError: the folder cannot be written to.
    """
    path, figures = folder / FILE_NAME, folder / FIGURES_FOLDER
    with writing_report(path):
        figures.mkdir(exist_ok=True)
        kept = set()
        with matplotlib.rc_context({"text.parse_math": False}):
            for part in findings.parts:
                for one in part.figures:
                    kept |= set(save(one.drawing, figures, one.stem))
        for kind in KINDS:
            for file in figures.glob(f"*.{kind}"):
                if file not in kept:
                    file.unlink()
        write_whole(path, page(study, setting, findings, figures).encode())
    return path


def page(study: Study, setting: Setting, findings: Findings, figures: Path) -> str:
    """The whole HTML document; `figures` has the files of all figures."""
    sections = [_method(study, setting), *(_part(part, figures) for part in findings.parts)]
    sections += [_limits(findings), _repeat(setting)]
    links = {"method": "Method", **{part.stem: part.title for part in findings.parts}}
    return document(
        f"Isochrone: {study.title}",
        _header(study, setting, findings),
        {**links, "limits": "Limits", "repeat": "To repeat it"},
        sections,
        "Made by Isochrone. The page is complete in itself, and needs no script.",
    )


def _header(study: Study, setting: Setting, findings: Findings) -> Html:
    return tag(
        "header",
        tag(
            "p",
            tag("span", "Isochrone", class_="brand"),
            tag("span", f"{study.title}, on {setting.target}"),
            tag("span", "simulated" if setting.simulated else "measured", class_="kind"),
            class_="title",
        ),
        tag("h1", findings.headline),
        tag("p", " ".join(findings.lead), class_="lead"),
    )


def _method(study: Study, setting: Setting) -> Html:
    entries = [[tag("dt", name), tag("dd", value)] for name, value in setting.entries.items()]
    return section(
        "method",
        "What was asked, and on what",
        tag("p", study.question),
        tag("p", f"The experiment is that of {study.source}."),
        tag("dl", entries, class_="entries"),
    )


def _part(part: Part, figures: Path) -> Html:
    return section(
        part.stem,
        part.title,
        [tag("p", sentence) for sentence in part.sentences],
        [_figure(one, figures) for one in part.figures],
        [_table(one) for one in part.tables if one.rows],
    )


def _figure(one: Figure, figures: Path) -> Html:
    drawn = picture((figures / f"{one.stem}.svg").read_bytes(), one.description)
    return figure(drawn, one.caption, one.stem)


def _table(one: Table) -> Html:
    return tag("div", table(one.head, one.rows, one.caption, words=one.words), class_="study")


def _limits(findings: Findings) -> Html:
    return section("limits", "Limits", tag("ul", [tag("li", limit) for limit in findings.limits]))


def _repeat(setting: Setting) -> Html:
    return section("repeat", "To repeat it", tag("pre", tag("code", shlex.join(setting.command))))
