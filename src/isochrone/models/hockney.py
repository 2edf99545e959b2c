# SPDX-License-Identifier: BSD-3-Clause
"""Hockney's model: T(m) = alpha + beta m (Hockney, "The communication challenge for MPP", Parallel Computing
20, 1994).

In a collective a rank is busy for all of alpha + beta m with each message that it sends (Thakur, Rabenseifner
and Gropp, IJHPCA 19(1), 2005), so the whole of it is the gap.
"""

from __future__ import annotations

import numpy as np

from isochrone.files import Links
from isochrone.models.fitting import fit_line
from isochrone.models.messages import FittedMessages, Messages, Parameter, TooLittleError


def fit_hockney(messages: Messages) -> FittedMessages:
    """Raises TooLittleError for fewer than two sizes."""
    sizes = messages.sizes_bytes
    if len(np.unique(sizes)) < 2:
        raise TooLittleError("needs two message sizes")
    (alpha_s, beta_s), ends = fit_line(sizes, messages)
    nothing = ((0, 0.0),)
    return FittedMessages(
        (
            Parameter("alpha", "s", float(alpha_s), *ends[0].tolist()),
            Parameter("beta", "s/B", float(beta_s), *ends[1].tolist()),
        ),
        2,
        lambda at: alpha_s + beta_s * at,
        Links(0.0, nothing, nothing, ((0, float(alpha_s)), (1, float(alpha_s + beta_s)))),
    )
