# SPDX-License-Identifier: BSD-3-Clause
"""Times in files of ours and of other programs: a file for each format, and one table of the foreign ones."""

from isochrone.models.readers.table import FORMATS, TimesFormat, read_foreign_times

__all__ = ["FORMATS", "TimesFormat", "read_foreign_times"]
