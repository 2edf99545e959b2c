# SPDX-License-Identifier: BSD-3-Clause
"""LogP: T = L + 2 o for a small message of one packet (Culler et al., PPoPP '93). A larger one goes as
ceil(m / w) packets of w bytes, one every g: T(m) = L + 2 o + (ceil(m / w) - 1) g, as Alexandrov et al. state
it (SPAA '95).

L and o are told apart where overheads were measured. Of the measured sizes, or of some of very many, w is the
one that fits best.
"""

from __future__ import annotations

import numpy as np

from isochrone.detect.distance import Floats
from isochrone.files import Links
from isochrone.models.fitting import fit_line
from isochrone.models.messages import FittedMessages, Messages, Parameter, TooLittleError

_MOST_PACKETS = 32
"""Sizes of packets that are tried."""


def fit_logp(messages: Messages) -> FittedMessages:
    """Raises TooLittleError for fewer than two sizes above 0: w is one of them, but not the largest."""
    sizes, times_s = messages.sizes_bytes, messages.times_s
    known = np.unique(sizes[sizes > 0])[:-1]
    if len(known) == 0:
        raise TooLittleError("needs two message sizes above 0")
    # Each is a fit, and each model is fitted once more for each size that is left out.
    some = np.linspace(0, len(known) - 1, min(len(known), _MOST_PACKETS)).round().astype(int)
    packets = [float(size) for size in known[some]]

    def fitted(packet: float) -> tuple[float, Floats, Floats]:
        """The squared error, parameters, and intervals."""
        more = _more_packets(sizes, packet)
        found, ends = fit_line(more, messages)
        return float(np.sum(np.log((found[0] + found[1] * more) / times_s) ** 2)), found, ends

    tried = {packet: fitted(packet) for packet in packets}
    packet = min(tried, key=lambda each: tried[each][0])
    _, (base_s, gap_s), ends = tried[packet]
    overhead_s = messages.overhead_s
    return FittedMessages(
        (
            *base_parameters(float(base_s), ends[0], overhead_s),
            Parameter("g", "s", float(gap_s), *ends[1].tolist()),
            Parameter("w", "B", packet),
        ),
        3,
        lambda at: base_s + gap_s * _more_packets(at, packet),
        links_in_packets(float(base_s), overhead_s or 0.0, float(gap_s), int(packet), float(gap_s)),
    )


def base_parameters(base_s: float, ends: Floats, overhead_s: float | None) -> tuple[Parameter, ...]:
    """L and o of L + 2 o, or that as one, with its interval, where overheads were not measured."""
    low_s, high_s = ends.tolist()
    if overhead_s is None:
        return (Parameter("L+2o", "s", base_s, low_s, high_s),)
    both_s = 2 * overhead_s
    return (
        Parameter("L", "s", base_s - both_s, low_s - both_s, high_s - both_s),
        Parameter("o", "s", overhead_s),
    )


def _more_packets(sizes_bytes: Floats, packet: float) -> Floats:
    """Beyond the first."""
    more: Floats = np.maximum(np.ceil(sizes_bytes / packet), 1.0) - 1.0
    return more


def links_in_packets(
    base_s: float, overhead_s: float, gap_s: float, packet_bytes: int, packet_s: float
) -> Links:
    """For the core: the way is busy for max(g, o) with the first packet, since a processor that sends or
    receives two in a row is busy for o with each, and `packet_s` longer with each one more; between whole
    packets a straight line.

    Args:
        base_s: L + 2 o, which the parts never exceed.
        gap_s: g; 0 where it is not known.
    """
    overhead_s = min(overhead_s, base_s / 2)
    first_s = min(max(gap_s, overhead_s), base_s - overhead_s)
    return Links(
        base_s - first_s,
        ((0, overhead_s),),
        ((0, overhead_s),),
        ((0, first_s), (packet_bytes, first_s), (2 * packet_bytes, first_s + packet_s)),
    )
