# SPDX-License-Identifier: BSD-3-Clause
"""Task graphs in the files of other programs: a file for each format, and one table of them all."""

from isochrone.mapping.readers.table import FORMATS, GraphFormat, read_foreign_graph

__all__ = ["FORMATS", "GraphFormat", "read_foreign_graph"]
