# SPDX-License-Identifier: BSD-3-Clause
"""Which rank belongs where: what ranks send one another, what that costs between places, and who writes the
launcher's files for it.
"""
