# SPDX-License-Identifier: BSD-3-Clause
"""Isochrone maps a cluster by timing messages, and makes unmodified MPI programs follow the map."""

__version__ = "0.1.0"
