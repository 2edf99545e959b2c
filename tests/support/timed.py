# SPDX-License-Identifier: BSD-3-Clause
"""Times that nobody measured, for models: messages with known parameters, and collectives simulated with
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from isochrone import _core
from isochrone.models.observation import MESSAGE, Observation

SIZES = (0, *(1 << bits for bits in range(23)))
NOTHING = ((0, 0.0),)


def messages(
    time_s: Callable[[int], float], noise: float, seed: int, pairs: int = 1, sizes: Sequence[int] = SIZES
) -> list[Observation]:
    """Of each pair one message of each size, disturbed by so much of its time."""
    generator = np.random.default_rng(seed)
    return [
        Observation(
            MESSAGE,
            size,
            2,
            time_s(size) * float(np.exp(noise * generator.normal())),
            source=f"ranks 0 and {pair + 1}",
        )
        for pair in range(pairs)
        for size in sizes
    ]


def hockney_layout(ranks: int, alpha_s: float, beta_s: float) -> _core.Layout:
    """Ranks in one group, each busy for all of alpha + beta m with a message."""
    gap = ((0, alpha_s), (1, alpha_s + beta_s))
    return _core.layout(["machine"], [[0] * ranks], [(0.0, NOTHING, NOTHING, gap, None)])


def collectives(
    operation: str,
    algorithms: Iterable[str],
    ranks: Iterable[int],
    sizes: Sequence[int],
    noise: float,
    seed: int = 1,
    alpha_s: float = 2e-6,
    beta_s: float = 1e-10,
) -> list[Observation]:
    """What Hockney's model says of them, disturbed."""
    generator = np.random.default_rng(seed)
    return [
        Observation(
            operation,
            size,
            count,
            _core.predict(operation, hockney_layout(count, alpha_s, beta_s), algorithm, 0, size)
            * float(np.exp(noise * generator.normal())),
            algorithm,
            source=f"made:{size}",
        )
        for algorithm in algorithms
        for count in ranks
        for size in sizes
    ]
