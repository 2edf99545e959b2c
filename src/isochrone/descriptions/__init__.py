# SPDX-License-Identifier: BSD-3-Clause
"""What descriptions in YAML have in common: reading them with the line of every value, and quantities with
units.
"""
