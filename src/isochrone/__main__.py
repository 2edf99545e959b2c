# SPDX-License-Identifier: BSD-3-Clause
"""``python -m isochrone``."""

from isochrone.cli.main import process

process()
