# SPDX-License-Identifier: BSD-3-Clause
"""The report of a survey: one HTML page, complete in itself, and its figures as files.

`inputs` reads the survey's files into `facts`; `sections` and `assets` make the page of them, `plots` the
figures as PNG, SVG and PDF, `text` the summary for the terminal. `headline` is the language they share, with
`words` and `units` of the package.
"""

from isochrone.report.comparison import Comparison, compare, compare_all
from isochrone.report.document import collectives_document, survey_document
from isochrone.report.facts import Facts
from isochrone.report.inputs import read_facts, read_told
from isochrone.report.text import summary_lines
from isochrone.report.write import FILE_NAME, write_page

__all__ = [
    "FILE_NAME",
    "Comparison",
    "Facts",
    "collectives_document",
    "compare",
    "compare_all",
    "read_facts",
    "read_told",
    "summary_lines",
    "survey_document",
    "write_page",
]
