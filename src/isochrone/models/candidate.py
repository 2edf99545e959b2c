# SPDX-License-Identifier: BSD-3-Clause
"""What competes: anything that can be fitted to observations, and then says how long others take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isochrone.detect.distance import Floats
from isochrone.models.messages import Parameter
from isochrone.models.observation import Observation


@dataclass(frozen=True)
class Prediction:
    """A fitted model.

    Attributes:
        parameters: for people.
        fitted: how many of them were fitted to the observations.
        times_s: seconds of observations, [n]; NaN where it has no answer. A linear model may say less than 0.
    """

    parameters: tuple[Parameter, ...]
    fitted: int
    times_s: Callable[[Sequence[Observation]], Floats]


@dataclass(frozen=True)
class Candidate:
    """A model that is to be judged.

    Attributes:
        name: of its row.
        formula: what it says.
        fit: raises TooLittleError where the observations do not tell its parameters.
    """

    name: str
    formula: str
    fit: Callable[[Sequence[Observation]], Prediction]
