# SPDX-License-Identifier: BSD-3-Clause
"""The sections of the page, one file each: a function from the survey's facts to markup."""
