# SPDX-License-Identifier: BSD-3-Clause
"""The figure of coefficients: all of them, at what they multiply the time by; grey ones tell nothing."""

from __future__ import annotations

import numpy as np
import pytest
from timed import messages

from isochrone.models.coefficients import best_covariates, coefficients
from isochrone.models.observation import Found, Observation
from isochrone.models.subjects import Subject, subjects
from isochrone.report.plots.style import LEVELS, SOFT


def multiplied(algorithms: int = 2) -> Subject:
    """An algorithm's number is what multiplies the time; that of the mapping is none."""
    generator = np.random.default_rng(3)
    made = [
        Observation(
            "bcast",
            1 << bits,
            ranks,
            1e-6 * (1 + number) * ranks**0.5 * float(np.exp(0.05 * generator.normal())),
            f"own-{number:03d}",
            mapping,
        )
        for bits in range(0, 16, 3)
        for ranks in (2, 4, 8, 16, 32)
        for number in range(algorithms)
        for mapping in ("core", "node")
    ]
    (subject,) = subjects(Found(tuple(made)), 0.2)
    return subject


def test_each_coefficient_stands_where_it_multiplies_the_time() -> None:
    subject = multiplied()
    figure = coefficients(subject)
    best = best_covariates(subject)
    assert figure is not None
    assert best is not None
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[::-1] == [each.name for each in best.prediction.parameters if each.name != "constant"]
    middles = dict(zip(names, (line for line in axes.lines if line.get_marker() == "o"), strict=True))
    assert abs(float(middles["algorithm=own-001"].get_xdata()[0]) - 2.0) < 0.1
    assert middles["algorithm=own-001"].get_color() == LEVELS[0]
    assert middles["mapping=node"].get_color() == SOFT
    assert axes.get_xscale() == "log"


def test_of_very_many_the_surest_are_drawn_in_the_order_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("isochrone.models.coefficients._MOST", 4)
    subject = multiplied(6)
    figure = coefficients(subject)
    assert figure is not None
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()][::-1]
    assert len(names) == 4
    assert "the 4 that are surest" in figure.get_suptitle()
    best = best_covariates(subject)
    assert best is not None
    all_names = [each.name for each in best.prediction.parameters]
    assert names == sorted(names, key=all_names.index)
    # What multiplies most is the surest where all are measured alike.
    assert {"algorithm=own-005", "algorithm=own-004", "mapping=node"} & set(names) == {
        "algorithm=own-005",
        "algorithm=own-004",
    }


def test_messages_have_none() -> None:
    (subject,) = subjects(Found(tuple(messages(lambda size: 2e-6 + 1e-10 * size, 0.02, 1))), 0.2)
    assert coefficients(subject) is None
