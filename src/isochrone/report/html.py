# SPDX-License-Identifier: BSD-3-Clause
"""HTML that cannot be injected into: text is escaped unless it was built here.

Files hold host names, commands and recipes that others wrote. Every string becomes text; only `Html` values
are markup, and only this module, and the style and scripts of the package itself, make those.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Html:
    """Markup that is safe to put into a page as it is."""

    markup: str


Child = Html | str | None | Iterable["Child"]

_NO_CONTENT = frozenset({"meta", "br", "img"})


def tag(name: str, /, *children: Child, **attributes: str | int | float | None) -> Html:
    """One element. A trailing `_` of an attribute's name falls off, other `_` become `-`; None leaves it
    out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _NO_CONTENT:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children).markup}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """The children one after the other, strings escaped."""
    return Html("".join(_markup(child) for child in children))


def data_block(identifier: str, value: Mapping[str, object]) -> Html:
    """`value` as JSON that a script can read and that cannot end its own element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(identifier)}">{text}</script>')


def table(
    head: Sequence[Child], rows: Iterable[Sequence[Child]], caption: str, words: Collection[int] = ()
) -> Html:
    """A table that scrolls sideways on narrow screens. Its first column heads the rows; others hold numbers,
    but for the columns in `words`.
    """

    def kind(column: int) -> str | None:
        return "number" if column and column not in words else None

    header = [tag("th", cell, scope="col", class_=kind(column)) for column, cell in enumerate(head)]
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            [tag("td", row[c], class_=kind(c)) for c in range(1, len(row))],
        )
        for row in rows
    ]
    content = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", header)),
        tag("tbody", body),
        class_="narrow" if len(head) < 4 else None,
    )
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child.markup
    return escape(child) if isinstance(child, str) else join(child).markup
