# SPDX-License-Identifier: BSD-3-Clause
"""Experiments of papers as commands: what each asks for, and what it makes of the times."""
