# SPDX-License-Identifier: BSD-3-Clause
"""Makes the documentation as pages (``make docs``): what is written here, and references from the code."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

project = "Isochrone"
author = "the Isochrone authors"
version = release = version_of("isochrone")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# Pages link to sources and benchmarks beside them, which are no pages.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
html_theme = "furo"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

COMMANDS = Path(__file__).parent / "reference" / "commands.md"
_words = [sys.executable, "-m", "typer", "isochrone.cli.main", "utils", "docs", "--name", "isochrone"]
COMMANDS.write_text(
    subprocess.run([*_words, "--title", "Commands"], check=True, capture_output=True, text=True).stdout,
    encoding="utf-8",
)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _without_a_type, priority=1)


def _without_a_type(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """What is before a colon in the first line of a constant's docstring would be taken for its type."""
    if what in ("data", "attribute"):
        lines.insert(0, "")
