# SPDX-License-Identifier: BSD-3-Clause
"""The steps, each from files to a file; `survey` is all of them in a row."""
