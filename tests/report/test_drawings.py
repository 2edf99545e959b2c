# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from msgspec import structs
from squares import without

from isochrone.report.boxes import draw
from isochrone.report.chartdata import chart_data
from isochrone.report.latencies import blocks, colour_range_s
from isochrone.report.mergetree import merge_tree
from isochrone.report.plots.collective import collective
from isochrone.report.structure import branches, nesting_words
from isochrone.report.ticks import time_ticks
from isochrone.units import format_time


def test_identical_groups_are_put_together_however_many_they_are(survey_of: Callable) -> None:
    facts = survey_of("large").facts()
    assert nesting_words(facts) == "4 nodes, each with 2 sockets, each with 16 L3 groups, each with 4 ranks"
    assert [box.level for box in draw(facts).boxes] == [0, 1, 2, 3]
    labels = [label.text for label in draw(facts).labels]
    assert "16 × L3 group" in labels
    assert "500 ns, 12.0 GB/s between ranks" in labels


def test_groups_of_different_sizes_are_drawn_each(survey_of: Callable) -> None:
    facts = survey_of("uneven").facts()
    assert nesting_words(facts) == "3 nodes, each with 1 to 5 ranks"
    assert [part.ranks for part, _ in branches(facts).parts] == [5, 3, 1]
    assert len(draw(facts).boxes) == 4
    assert len(draw(facts).dots) == 9


@pytest.mark.parametrize("machine", ["laptop", "cluster", "large", "uneven"])
def test_every_shape_of_the_drawing_is_inside_its_canvas(survey_of: Callable, machine: str) -> None:
    drawing = draw(survey_of(machine).facts())
    for box in drawing.boxes:
        behind = box.behind * drawing.stack
        assert 0 <= box.x <= box.x + box.width + behind <= drawing.width
        assert 0 <= box.y <= box.y + box.height + behind <= drawing.height
    for dot in drawing.dots:
        assert dot.radius <= dot.x <= drawing.width - dot.radius
        assert dot.radius <= dot.y <= drawing.height - dot.radius
    for label in drawing.labels:
        assert label.y <= drawing.height


def test_the_order_of_the_tree_keeps_every_group_of_every_level_together(survey_of: Callable) -> None:
    facts = survey_of("cluster").facts()
    assert sorted(facts.tree_order) == list(range(128))
    for level in facts.levels:
        labels = np.array(facts.topology.labels(level))[facts.tree_order]
        assert np.count_nonzero(np.diff(labels)) == len(level.groups) - 1
    assert [end - start for start, end in blocks(facts, 2)] == [32] * 4


def test_ranks_that_are_in_order_already_stay_in_order(survey_of: Callable) -> None:
    made = survey_of("uneven")
    level = structs.replace(made.topology.levels[1], groups=((0, 1, 2), (3, 4, 5, 6, 7), (8,)))
    topology = structs.replace(made.topology, levels=(made.topology.levels[0], level))
    facts = replace(made.facts(), topology=topology)
    assert facts.tree_order.tolist() == list(range(9))


def test_the_page_holds_every_pair_of_the_matrix_to_three_digits(survey_of: Callable) -> None:
    facts = survey_of("uneven").facts()
    latency_us = chart_data(facts)["latency_us"]
    pairs = [(a, b) for a in range(9) for b in range(a + 1, 9)]
    assert len(latency_us) == len(pairs)
    for (a, b), value in zip(pairs, latency_us, strict=True):
        assert value == pytest.approx(facts.matrix_s[a, b] * 1e6, rel=5e-3)


def test_each_latency_that_occurs_is_worded_once(survey_of: Callable) -> None:
    data = chart_data(survey_of("large").facts())
    words = dict(data["latency_words"])
    assert set(words) == set(data["latency_us"]) - {None}
    assert len(words) == len(data["latency_words"]) < len(data["latency_us"]) / 50
    assert all(text == format_time(value / 1e6) for value, text in words.items())


def test_a_pair_that_was_not_measured_is_a_gap(survey_of: Callable) -> None:
    facts = survey_of("laptop").facts()
    facts = replace(facts, measurements=without(facts.measurements, 0, 1))
    assert chart_data(facts)["latency_us"][0] is None


def test_one_disturbed_pair_does_not_wash_out_the_colours() -> None:
    matrix = np.random.default_rng(1).uniform(1e-6, 2e-6, (64, 64))
    matrix[3, 5] = 1.0
    scale = colour_range_s(matrix)
    assert scale is not None
    assert scale[1] < 3e-6


def test_noise_alone_spans_little_of_the_colours() -> None:
    scale = colour_range_s(np.random.default_rng(1).uniform(1.00e-6, 1.02e-6, (8, 8)))
    assert scale is not None
    assert scale[1] / scale[0] >= 1.5 * 0.999


def test_brackets_have_the_level_at_which_their_ranks_meet_and_cuts_lie_between(survey_of: Callable) -> None:
    facts = survey_of("cluster").facts()
    assert facts.tree is not None
    assert [sum(merge.level == level for merge in facts.tree.merges) for level in range(4)] == [1, 2, 4, 120]
    assert [cut.level for cut in facts.tree.cuts] == [1, 2, 3]
    for cut in facts.tree.cuts:
        assert all(
            (merge.height_s > cut.height_s) == (merge.level < cut.level) for merge in facts.tree.merges
        )


def test_a_tree_as_deep_as_it_has_leaves_is_laid_out(survey_of: Callable, machine_of: Callable) -> None:
    ranks = 3000
    topology = survey_of("laptop").topology
    flat = structs.replace(topology.levels[0], groups=(tuple(range(ranks)),))
    place = topology.places[0]
    places = tuple(structs.replace(place, cpus=str(rank)) for rank in range(ranks))
    topology = structs.replace(topology, places=places, ranks=tuple(range(ranks)), levels=(flat,))
    rows = [[ranks + i - 1 if i else 0, i + 1, 1e-6 * (i + 1), i + 2] for i in range(ranks - 1)]
    tree = merge_tree(np.array(rows, dtype=float), topology)
    assert tree is not None
    assert tree.cuts == ()
    assert sorted({merge.right_x for merge in tree.merges}) == list(range(1, ranks))


@given(st.floats(1e-9, 1e2), st.floats(1.05, 1e7))
def test_axes_of_times_have_a_few_ticks_inside_their_range(low_s: float, ratio: float) -> None:
    values, names = time_ticks(low_s, low_s * ratio)
    assert 2 <= len(values) <= 18
    assert all(low_s * 0.999 <= value <= low_s * ratio * 1.001 for value in values)
    assert len(set(names)) == len(names)


@given(st.floats(1e-9, 1e2), st.floats(1.0, 1.05))
@example(1e-3, 1.0)
def test_axes_of_times_that_are_all_alike_have_a_tick_too(low_s: float, ratio: float) -> None:
    values, names = time_ticks(low_s, low_s * ratio)
    assert 1 <= len(values) <= 18
    assert all(low_s * 0.999 <= value <= low_s * ratio * 1.001 for value in values)
    assert len(set(names)) == len(names)


def test_no_line_is_drawn_over_sizes_that_were_not_measured(survey_of: Callable) -> None:
    made = survey_of("cluster")
    sizes = sorted({key.size_bytes for key in made.bench.slowest_s})
    told = {sizes[1], sizes[2], sizes[6]}
    times = {
        key: values
        for key, values in made.bench.slowest_s.items()
        if not key.recipe.startswith("native:") or key.size_bytes in told
    }
    facts = replace(made, bench=replace(made.bench, slowest_s=times)).facts()
    lines = chart_data(facts)["collectives"]["broadcast"]["times"]["lines"]
    (times_us,) = [line["values"] for line in lines if line["kind"] == "rival"]
    assert [size for size, time in zip(sizes, times_us, strict=True) if time] == sorted(told)
    figure = collective(facts.comparisons[0])
    assert figure is not None
    (line,) = [line for line in figure.axes[0].get_lines() if line.get_label() == "Best selectable"]
    drawn = np.isfinite(np.asarray(line.get_ydata(), dtype=float))
    assert [size for size, there in zip(line.get_xdata(), drawn, strict=True) if there] == sorted(told)
    assert len(drawn) == len(sizes)


def test_the_page_and_the_file_of_a_figure_have_the_same_axes(survey_of: Callable) -> None:
    facts = survey_of("cluster").facts()
    figure = collective(facts.comparisons[0])
    assert figure is not None
    data = chart_data(facts)["collectives"]["broadcast"]
    for axes, panel, factor in zip(figure.axes, (data["times"], data["speedups"]), (1e6, 1.0), strict=True):
        assert np.log10(np.array(axes.get_ylim()) * factor) == pytest.approx(panel["range"])
        assert [line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")] == [
            line["name"] for line in panel["lines"]
        ]
        assert axes.get_yticks() * factor == pytest.approx(panel["tickvals"])
        assert [label.get_text() for label in axes.get_yticklabels()] == panel["ticktext"]


def test_no_line_of_the_broadcast_figure_runs_through_a_legend(survey_of: Callable) -> None:
    figure = collective(survey_of("cluster").facts().comparisons[0])
    assert figure is not None
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes:
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_window_extent().y0 >= axes.bbox.y1
