# SPDX-License-Identifier: BSD-3-Clause
"""Models of communication times: fitted to measurements, and judged by what they were not fitted to.

Models of messages are rows of ``table.MESSAGE_MODELS``; with the core's simulation each is a model of
collectives too. Models of collectives from covariates alone are rows of ``table.COVARIATE_MODELS``.
"""
