# SPDX-License-Identifier: BSD-3-Clause
"""Launchers, the MPI libraries at hand, and building and running the native programs for one of them."""
