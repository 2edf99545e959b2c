# SPDX-License-Identifier: BSD-3-Clause
"""Topologies and plans in the formats of other programs."""
