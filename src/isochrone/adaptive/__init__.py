# SPDX-License-Identifier: BSD-3-Clause
"""Which pairs to measure: few that tell how the ranks are wired, chosen from what was measured before."""
