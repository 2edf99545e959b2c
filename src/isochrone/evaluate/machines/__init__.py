# SPDX-License-Identifier: BSD-3-Clause
"""Made machines. ``table`` has a row for each class; ``machine`` is what they are built of."""
