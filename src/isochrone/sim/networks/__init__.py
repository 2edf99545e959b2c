# SPDX-License-Identifier: BSD-3-Clause
"""Networks between the nodes of a simulated cluster: what a pair of nodes sees, and which links it shares.

Every network is a frozen dataclass in a file of its own with the functions of ``base.Network``; only
``reader.py`` asks which one it is.
"""
