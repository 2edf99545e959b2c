# SPDX-License-Identifier: BSD-3-Clause
"""``python -m isochrone``."""

import sys

from isochrone.cli.main import main

sys.exit(main())
