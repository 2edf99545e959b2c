# SPDX-License-Identifier: BSD-3-Clause
"""What all pages are: one HTML document, complete in itself, whose own Content-Security-Policy lets only the
scripts run that were put in, by their hashes, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources

from isochrone.report.html import Child, Html, tag


def document(
    title: str,
    header: Html,
    links: Mapping[str, str],
    main: Child,
    footer: str,
    data: Html | None = None,
    scripts: Sequence[str] = (),
) -> str:
    """The whole HTML document.

    Args:
        title: of the window.
        header: what comes first.
        links: by the identifiers of sections, what a link to each says.
        main: the sections.
        footer: a sentence.
        data: for the scripts.
        scripts: to run at the end, as they stand.
    """
    allowed = " ".join(_hash(script) for script in scripts) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(asset("report.css"))),
    )
    listed = [tag("li", tag("a", words, href=f"#{identifier}")) for identifier, words in links.items()]
    body = tag(
        "body",
        header,
        tag("nav", tag("ul", listed), aria_label="Sections"),
        tag("main", main),
        tag("footer", tag("p", footer)),
        data,
        [tag("script", Html(script)) for script in scripts],
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en').markup}\n"


def asset(name: str) -> str:
    """The text of one of the files in ``assets``."""
    return resources.files("isochrone.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
