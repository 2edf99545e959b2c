# SPDX-License-Identifier: BSD-3-Clause
"""Which recipe for which size: candidates by model, the choice by measurement, rules with their evidence."""
