# SPDX-License-Identifier: BSD-3-Clause
"""The dumps that fabrics are read from: a file for each format, and one table of them all."""

from isochrone.fabric.formats.table import FORMATS, DumpFormat

__all__ = ["FORMATS", "DumpFormat"]
