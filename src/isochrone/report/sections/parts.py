# SPDX-License-Identifier: BSD-3-Clause
"""What sections are put together from."""

from __future__ import annotations

import base64

from isochrone.report.html import Child, Html, tag
from isochrone.report.plots.style import KINDS

FIGURES_FOLDER = "figures"


def section(identifier: str, title: str, *children: Child) -> Html:
    """A section with its heading, so that it can be linked to and is announced by its name."""
    heading = f"{identifier}-heading"
    return tag("section", tag("h2", title, id=heading), *children, id=identifier, aria_labelledby=heading)


def chart(identifier: str, description: str, height: str = "") -> Html:
    """The place where the page's script draws; `description` is what those hear who cannot see it."""
    return tag("div", class_=f"chart {height}".strip(), id=identifier, role="img", aria_label=description)


def picture(svg: bytes, description: str, width_inches: float | None = None) -> Html:
    """A drawing that is part of the page, as wide as the page, or at most so wide; in a narrow window it
    scrolls sideways.
    """
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"
    pixels = None if width_inches is None else round(width_inches * 96)
    own_width = None if pixels is None else f"max-width: {pixels}px; min-width: min({pixels}px, 640px)"
    image = tag("img", class_="plot", alt=description, src=source, style=own_width)
    return tag("div", image, class_="scroll", tabindex=0, role="region", aria_label=description)


def figure(content: Child, caption: Child, file_stem: str) -> Html:
    """A figure with its caption and the same figure as files."""
    links = [
        tag(
            "a",
            kind.upper(),
            href=f"{FIGURES_FOLDER}/{file_stem}.{kind}",
            aria_label=f"{file_stem} as {kind.upper()}",
        )
        for kind in KINDS
    ]
    separated = [part for link in links for part in (", ", link)][1:]
    files = tag("span", "As a file: ", separated, class_="files")
    return tag("figure", content, tag("figcaption", caption, " ", files))


def absent(text: str) -> Html:
    """A note in place of what the survey's files do not hold."""
    return tag("p", text, class_="absent")


def swatch(level: int) -> Html:
    """The mark of a level's colour, beside its name."""
    return tag("span", "", class_=f"swatch level-{level % 6}", aria_hidden="true")
