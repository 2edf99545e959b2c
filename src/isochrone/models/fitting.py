# SPDX-License-Identifier: BSD-3-Clause
"""Fits parameters that are positive, by least squares of log(predicted / measured).

Errors are ratios: a microsecond matters for a small message, and not for a large one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t

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


def fit_groups(which: Ints, times_s: Floats, clusters: Ints) -> tuple[Floats, Floats]:
    """What `fit_positive` comes to where each time is to be one of the parameters, without a matrix of all
    times and parameters: each is the mean of its own logarithms, and tells nothing of another.

    Args:
        which: [time], the group, from 0 on; none is empty.
        times_s: [time], measured.
        clusters: as in `fit_positive`.

    Returns:
        Parameters, [group], and their intervals, [group, 2].
    """
    logs = np.log(times_s)
    members = np.bincount(which)
    means = np.bincount(which, logs) / members
    residuals = logs - means[which]
    count, parameters = len(logs), len(means)
    different, cluster = np.unique(clusters, return_inverse=True)
    if count <= parameters:
        half = np.full(parameters, np.nan)
    elif _is_robust(len(different), parameters):
        # Of the residuals' sums in each group and cluster; allowing for few clusters, as statsmodels does.
        pairs, at = np.unique(np.stack([which, cluster]), axis=1, return_inverse=True)
        sums = np.bincount(at.ravel(), residuals)
        clustered = len(different)
        allowance = clustered / (clustered - 1) * (count - 1) / (count - parameters)
        variances = allowance * np.bincount(pairs[0], sums**2) / members**2
        half = t.ppf(0.5 + CONFIDENCE / 2, clustered - 1) * np.sqrt(variances)
    else:
        variance = np.sum(residuals**2) / (count - parameters)
        half = t.ppf(0.5 + CONFIDENCE / 2, count - parameters) * np.sqrt(variance / members)
    with np.errstate(over="ignore"):
        return np.exp(means), np.exp(means[:, None] + np.stack([-half, half], axis=1))


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
    robust = _is_robust(groups, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parameters that the data cannot tell apart
        result = OLS(residuals, jacobian).fit(
            **({"cov_type": "cluster", "cov_kwds": {"groups": clusters}, "use_t": True} if robust else {})
        )
        ends = np.asarray(result.conf_int(1 - CONFIDENCE))
    half: Floats = (ends[:, 1] - ends[:, 0]) / 2
    return half


def _is_robust(clusters: int, parameters: int) -> bool:
    """Whether there are enough clusters for intervals that allow for them."""
    return clusters >= max(_ENOUGH_CLUSTERS, parameters + 2)
