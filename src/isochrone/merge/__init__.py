# SPDX-License-Identifier: BSD-3-Clause
"""Surveys of one machine, added up to one: their trees (``tree``), their rules in the names and shapes of the
tree that these make (``rules``), and their measurements (``pairs``).
"""

from isochrone.merge.pairs import merged_measurements
from isochrone.merge.rules import Source, merged_rules
from isochrone.merge.tree import Merged, merged_topology

__all__ = ["Merged", "Source", "merged_measurements", "merged_rules", "merged_topology"]
