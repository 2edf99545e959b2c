# SPDX-License-Identifier: BSD-3-Clause
"""What PLogP parameters say: ``predict`` has the time of a message, ``checks`` whether they make sense."""
