# SPDX-License-Identifier: BSD-3-Clause
"""Fits parameters that are positive, by least squares of log(predicted / measured).

Errors are ratios: a microsecond matters for a small message, and not for a large one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares

from isochrone.detect.distance import Floats, Ints
from isochrone.models.messages import Messages, TooLittleError

CONFIDENCE = 0.95
_FAR = 35.0
_ENOUGH_CLUSTERS = 10


def fit_positive(
    predict: Callable[[Floats], Floats], start: Floats, times_s: Floats, clusters: Ints
) -> tuple[Floats, Floats]:
    """Parameters, [parameter], and their intervals, [parameter, 2]; NaN where nothing is left to tell them
    from.

    Args:
        predict: [time] in seconds, all above 0, for parameters.
        start: where to begin, all above 0.
        times_s: [time], measured.
        clusters: [time], what was disturbed alike: of enough of these the intervals allow for it.

    Raises:
        TooLittleError: there are more parameters than times.
    """
    if len(times_s) < len(start):
        raise TooLittleError(f"{len(start)} parameters cannot be told from {len(times_s)} times")
    begin = np.log(start)
    logs = np.log(times_s)
    found = least_squares(
        lambda values: np.log(predict(np.exp(values))) - logs,
        begin,
        bounds=(begin - _FAR, begin + _FAR),
        x_scale="jac",
    )
    half = intervals(-found.fun, found.jac, clusters)
    with np.errstate(over="ignore"):
        return np.exp(found.x), np.exp(found.x[:, None] + np.stack([-half, half], axis=1))


def fit_line(steps: Floats, messages: Messages) -> tuple[Floats, Floats]:
    """The parameters of T = a + b x, a in seconds and b in seconds a step, [2], and their intervals, [2, 2].

    Args:
        steps: [message], x, none below 0 and not all 0.
        messages: with the times.
    """
    times_s = messages.times_s
    largest = steps.argmax()
    start = np.array([times_s.min(), times_s[largest] / steps[largest]])
    return fit_positive(lambda each: each[0] + each[1] * steps, start, times_s, messages.pairs)


def intervals(residuals: Floats, jacobian: Floats, clusters: Ints) -> Floats:
    """[parameter], half the width of the interval of each, of a model that is linear near what was fitted:
    Student's t with one variance for all, or with standard errors that are robust against clusters.
    """
    from statsmodels.regression.linear_model import OLS

    count, parameters = jacobian.shape
    if count <= parameters:
        return np.full(parameters, np.nan)
    groups = len(np.unique(clusters))
    robust = groups >= max(_ENOUGH_CLUSTERS, parameters + 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parameters that the data cannot tell apart
        result = OLS(residuals, jacobian).fit(
            **({"cov_type": "cluster", "cov_kwds": {"groups": clusters}, "use_t": True} if robust else {})
        )
        ends = np.asarray(result.conf_int(1 - CONFIDENCE))
    half: Floats = (ends[:, 1] - ends[:, 0]) / 2
    return half
