# SPDX-License-Identifier: BSD-3-Clause
"""Parameters as they would be measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from isochrone.files import PairParameters


def parameters(
    rtt_s: Sequence[float],
    sizes: Sequence[int],
    gap_s: Sequence[float],
    sender: int = 0,
    receiver: int = 1,
    overhead_s: float = 1e-7,
) -> PairParameters:
    return PairParameters(
        sender,
        receiver,
        tuple(sizes),
        np.repeat(np.array(rtt_s)[:, None], 4, axis=1),
        np.full(len(sizes), overhead_s),
        np.full(len(sizes), overhead_s),
        np.array(gap_s),
    )


@pytest.fixture
def make_parameters() -> Callable[..., PairParameters]:
    return parameters
