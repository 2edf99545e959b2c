# SPDX-License-Identifier: BSD-3-Clause
"""Files that tell MPI libraries and programs what is best: a file for each form, one table of them all."""

from isochrone.export.tuning.material import Exported, Material, read_material
from isochrone.export.tuning.table import FORMS, Form, can_be_told, find_form, told_forms, told_rules

__all__ = [
    "FORMS",
    "Exported",
    "Form",
    "Material",
    "can_be_told",
    "find_form",
    "read_material",
    "told_forms",
    "told_rules",
]
