# SPDX-License-Identifier: BSD-3-Clause
"""LogGP: T(m) = L + 2 o + (m - 1) G, and g between two messages (Alexandrov, Ionescu, Schauser and Scheiman,
SPAA '95).

L and o are told apart where overheads were measured, and g is known where gaps were. Of single messages it
says what Hockney's model says; they differ in collectives, where a rank that sends many pays L but once.
"""

from __future__ import annotations

import numpy as np

from isochrone.models.fitting import fit_line
from isochrone.models.logp import base_parameters, links_in_packets
from isochrone.models.messages import FittedMessages, Messages, Parameter, TooLittleError


def fit_loggp(messages: Messages) -> FittedMessages:
    """Raises TooLittleError for fewer than two sizes."""
    more = np.maximum(messages.sizes_bytes - 1, 0.0)
    if len(np.unique(more)) < 2:
        raise TooLittleError("needs two message sizes above 0")
    (base_s, byte_s), ends = fit_line(more, messages)
    gap_s, overhead_s = messages.cost_s("gap"), messages.overhead_s
    return FittedMessages(
        (
            *base_parameters(float(base_s), ends[0], overhead_s),
            Parameter("G", "s/B", float(byte_s), *ends[1].tolist()),
            *(() if gap_s is None else (Parameter("g", "s", gap_s),)),
        ),
        2,
        lambda at: base_s + byte_s * np.maximum(at - 1, 0.0),
        links_in_packets(float(base_s), overhead_s or 0.0, gap_s or 0.0, 1, float(byte_s)),
    )
