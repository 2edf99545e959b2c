# SPDX-License-Identifier: BSD-3-Clause
"""Files that tell launchers which rank runs where: a file for each form, and one table of them all."""

from isochrone.mapping.emitters.job import Job
from isochrone.mapping.emitters.table import FORMS, Form, check_words, emit, find_form, forms_of

__all__ = ["FORMS", "Form", "Job", "check_words", "emit", "find_form", "forms_of"]
