# SPDX-License-Identifier: BSD-3-Clause
"""What is slower than its like.

``residuals`` says how far each pair is off its level, ``suspects`` which parts of the machine could be behind
several pairs, and ``findings`` which of them are. ``asymmetric`` compares the two directions of a pair.
"""
