# SPDX-License-Identifier: BSD-3-Clause
"""Two benchmarks side by side: what changed beyond noise, and whether they are of the same."""
