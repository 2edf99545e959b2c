# SPDX-License-Identifier: BSD-3-Clause
"""Figures of an evaluation: accuracy by method, and what repetitions and placement do to the distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from isochrone.detect.distance import Floats, distance_matrix_s
from isochrone.evaluate.cases import Case, cases
from isochrone.evaluate.noise import CLEAN, NOISY, disturb
from isochrone.evaluate.run import OURS, Outcome
from isochrone.evaluate.table import COLUMNS, accuracies
from isochrone.files import Measurements, read_measurements
from isochrone.report.plots.style import LEVELS, LINE, PLAN, SOFT, dress, new_figure, save
from isochrone.steps.folder import MEASUREMENTS

# One node with two sockets, as in the thesis's figures 5.1 to 5.3.
_SYSTEM = "fram-1x32"
_REPETITIONS = (1, 8, 32, 128)


def write_figures(outcomes: Sequence[Outcome], folder: Path, full: bool) -> list[Path]:
    """Writes the figures into the folder that has what was measured; gives their paths."""
    placed = [case for case in cases(full) if case.system.name == _SYSTEM and case.noise == CLEAN]
    measured = [(case, read_measurements(folder / case.name / MEASUREMENTS)) for case in placed]
    paths = []
    for name, figure in (
        ("accuracy", accuracy(outcomes)),
        ("repetitions", repetitions(measured[-1][1])),
        ("variance", variance(measured[-1][1])),
        ("placements", placements(measured)),
    ):
        paths += save(figure, folder, name)
    return paths


def accuracy(outcomes: Sequence[Outcome]) -> Figure:
    """Mean accuracy of each method at each level with noise, by number of repetitions; the thesis's figures
    7.1 to 7.5 for all clusters together.
    """
    noisy = [each for each in outcomes if each.case.noise != CLEAN]
    counts = sorted({each.repetitions for each in noisy})
    methods = list(dict.fromkeys(each.method for each in noisy))
    figure = new_figure(11, 2.3 * len(COLUMNS))
    panels = figure.subplots(len(COLUMNS), 1, sharex=True)
    for axes, (column, names) in zip(panels, COLUMNS.items(), strict=True):
        for number, count in enumerate(counts):
            values = [
                accuracies(
                    (each for each in noisy if (each.method, each.repetitions) == (method, count)), names
                )
                for method in methods
            ]
            width = 0.8 / len(counts)
            place = np.arange(len(methods)) - 0.4 + width * (number + 0.5)
            means = [float(np.mean(found)) if found else 0.0 for found in values]
            label = f"{count} round trips"
            axes.bar(place, means, width * 0.92, color=LEVELS[number % len(LEVELS)], label=label)
        dress(axes)
        axes.grid(False, axis="x")
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("accuracy")
        axes.set_title(column, fontsize=11, loc="left", fontweight="bold")
    told = {each.method for each in noisy if each.told}
    labels = [f"{method}\n(told)" if method in told else method for method in methods]
    panels[-1].set_xticks(range(len(methods)), labels, rotation=40, ha="right", fontsize=9)
    panels[-1].get_xticklabels()[methods.index(OURS)].set_fontweight("bold")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(counts), frameon=False
    )
    return figure


def repetitions(exact: Measurements) -> Figure:
    """Distances of one cluster after more and more round trips, beside each other."""
    found = disturb(exact, NOISY, _REPETITIONS)
    return _matrices(
        [distance_matrix_s(each) for each in found],
        ["one round trip", *(f"the least of {count}" for count in _REPETITIONS[1:])],
    )


def placements(measured: Sequence[tuple[Case, Measurements]]) -> Figure:
    """Distances of one cluster in each placement of its ranks, beside each other."""
    found = [disturb(exact, NOISY, [32])[0] for _, exact in measured]
    return _matrices(
        [distance_matrix_s(each) for each in found],
        [f"{case.system.placement} placement" for case, _ in measured],
    )


def variance(exact: Measurements) -> Figure:
    """Variance of the distances around those without noise, by number of round trips."""
    counts = [1, 2, 4, 8, 16, 32, 64, 128]
    pairs = np.triu_indices(exact.ranks, 1)
    clean_s = distance_matrix_s(exact)[pairs]
    found = [distance_matrix_s(each)[pairs] / clean_s for each in disturb(exact, NOISY, counts)]
    figure = new_figure(6, 3.6)
    axes = figure.subplots()
    axes.plot(counts, [1000 * float(np.var(ratio)) for ratio in found], color=PLAN, marker="o")
    dress(axes)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.set_xlabel("round trips of each pair, of which the least counts")
    axes.set_ylabel("1000 x variance of distance / true distance")
    return figure


def _matrices(matrices: Sequence[Floats], titles: Sequence[str]) -> Figure:
    """Heat maps on one scale, whose ends are the 1st and the 95th percentile of all."""
    figure = new_figure(3.1 * len(matrices) + 0.6, 3.5)
    panels = figure.subplots(1, len(matrices), squeeze=False)[0]
    pairs = np.triu_indices(len(matrices[0]), 1)
    low, high = np.percentile(np.concatenate([matrix[pairs] for matrix in matrices]), [1, 95]) * 1e6
    for axes, matrix, title in zip(panels, matrices, titles, strict=True):
        shown = np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix * 1e6)
        image = axes.imshow(shown, vmin=low, vmax=high, cmap="viridis", interpolation="nearest")
        axes.set_title(title, fontsize=10, loc="left", fontweight="bold")
        axes.tick_params(length=0, colors=SOFT, labelsize=8)
        axes.set_xlabel("rank", color=SOFT, fontsize=9)
        axes.set_facecolor("#eceded")
        for spine in axes.spines.values():
            spine.set_color(LINE)
    bar = figure.colorbar(image, ax=list(panels), shrink=0.75, pad=0.01, extend="both")
    bar.set_label("one-way latency, µs", color=SOFT)
    bar.outline.set_visible(False)
    return figure
