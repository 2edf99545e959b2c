# SPDX-License-Identifier: BSD-3-Clause
"""How well clustering methods, Isochrone's own among them, find the levels of simulated clusters.

``cases`` says which clusters, ``noise`` disturbs what was measured on them, ``scores`` compares with the
truth, and ``run`` goes through all of it.
"""
