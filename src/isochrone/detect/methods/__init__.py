# SPDX-License-Identifier: BSD-3-Clause
"""Clustering methods behind one interface, to be compared with Isochrone's own (``isochrone.detect.levels``).

A method is given objects (ranks, with their distances) and one setting, and returns partitions. Those that
are told the number of clusters have it as their setting. ``table`` has a row for each; ``search`` tries
settings, and chooses among what came out without knowing the truth; ``nest`` makes levels of what was
chosen.
"""
