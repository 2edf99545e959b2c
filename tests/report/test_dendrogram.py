# SPDX-License-Identifier: BSD-3-Clause
"""The printed merge tree: what is put together, and that its names can be read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from isochrone.report.facts import Facts
from isochrone.report.fold import fold
from isochrone.report.mergetree import MergeTree
from isochrone.report.plots import write_figures
from isochrone.report.plots.dendrogram import dendrogram

ISLANDS = [
    ("machine", 1, 1.8e-6),
    ("switch", 8, 1.2e-6),
    ("node", 8, 6e-7),
    ("socket", 2, 3e-7),
    ("core", 8, 0),
]
NEAR = [
    ("site", 1, 8e-6),
    ("rack", 2, 2.2e-6),
    ("switch", 2, 2.0e-6),
    ("node", 2, 1.8e-6),
    ("socket", 2, 6e-7),
    ("core", 2, 0),
]
PAIRS = [("machine", 1, 1.5e-6), ("node", 200, 5e-7), ("core", 2, 0)]
FLAT = [("machine", 1, 1.5e-6), ("core", 200, 0)]


def tree_of(facts: Facts) -> MergeTree:
    assert facts.tree is not None
    return facts.tree


def test_a_tree_with_few_leaves_is_drawn_in_full(survey_of: Callable) -> None:
    tree = tree_of(survey_of("cluster").facts())
    folded = fold(tree, 128)
    assert folded.level is None
    assert (folded.merges, folded.branches, folded.cuts) == (tree.merges, (), tree.cuts)


@pytest.mark.parametrize(("most", "level", "boxes"), [(300, 3, 128), (128, 3, 128), (100, 2, 8), (5, 1, 4)])
def test_branches_are_put_together_at_the_innermost_level_that_has_few_enough(
    survey_of: Callable, most: int, level: int, boxes: int
) -> None:
    tree = tree_of(survey_of("large").facts())
    folded = fold(tree, most)
    assert (folded.level, len(folded.branches)) == (level, boxes)
    leaves = [leaf for box in folded.branches for leaf in range(box.first, box.last + 1)]
    assert leaves == list(range(512))
    assert len(folded.merges) == boxes - 1
    assert [cut.level for cut in folded.cuts] == list(range(1, level + 1))


def test_more_groups_than_fit_are_put_together_all_the_same_and_a_flat_tree_is_not(
    survey_of: Callable, machine_of: Callable
) -> None:
    assert len(fold(tree_of(survey_of(machine_of(PAIRS)).facts()), 128).branches) == 200
    assert fold(tree_of(survey_of(machine_of(FLAT)).facts()), 128).level is None


def test_the_leaves_are_named_in_their_order(survey_of: Callable) -> None:
    facts = survey_of("uneven").facts()
    tree = tree_of(facts)
    assert sorted(tree.ranks) == list(range(9))
    nodes = [facts.topology.labels(facts.levels[1])[rank] for rank in tree.ranks]
    assert sum(a != b for a, b in pairwise(nodes)) == 2
    whole = max(tree.merges, key=lambda merge: merge.height_s)
    assert (whole.first, whole.last) == (0, 8)
    figure = dendrogram(facts)
    assert figure is not None
    axes = figure.axes[0]
    assert axes.xaxis.get_major_formatter().format_ticks(range(9)) == [str(rank) for rank in tree.ranks]


def drawn(figure: Figure) -> tuple[list[Text], list[Text]]:
    """Names of the cuts, and names below the axis, at their places."""
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    return list(axes.texts), [label for label in axes.get_xticklabels() if label.get_text()]


def overlaps(names: Sequence[Text]) -> list[tuple[str, str]]:
    # Without the line that leads from a cut to its name.
    boxes = [(name.get_text(), Text.get_window_extent(name)) for name in names]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]


@pytest.mark.parametrize(
    ("machine", "cuts", "below"),
    [
        ("laptop", 0, 4),
        ("uneven", 1, 9),
        ("cluster", 3, 4),
        ("large", 3, 4),
        (ISLANDS, 3, 64),
        (NEAR, 4, 32),
        (PAIRS, 1, 0),
        (FLAT, 0, 0),
    ],
)
def test_names_do_not_overlap_and_are_all_on_the_paper(
    survey_of: Callable, machine_of: Callable, machine: str | list, cuts: int, below: int
) -> None:
    figure = dendrogram(survey_of(machine if isinstance(machine, str) else machine_of(machine)).facts())
    assert figure is not None
    beside, under = drawn(figure)
    assert (len(beside), len(under)) == (cuts, below)
    assert overlaps(beside) == []
    assert overlaps(under) == []
    for name in (*beside, *under, figure.axes[0].xaxis.label, *figure.legends[0].get_texts()):
        box = name.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, name
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, name


def test_the_printed_tree_says_which_groups_and_hosts_it_has(survey_of: Callable, tmp_path: Path) -> None:
    facts = replace(survey_of("large").facts(), comparisons=())
    write_figures(facts, tmp_path)
    text = (tmp_path / "dendrogram.svg").read_text()
    for words in ("4 nodes", "8 sockets", "128 L3 groups", "within one L3 group", "within the machine"):
        assert f">{words}<" in text
    assert "512 ranks by host; a box is the 4 ranks of one L3 group" in text
    assert all(f">n{host}<" in text for host in range(4))
    assert (tmp_path / "dendrogram.pdf").read_bytes().startswith(b"%PDF")


def test_names_of_hosts_are_no_formulae(survey_of: Callable, machine_of: Callable, tmp_path: Path) -> None:
    levels = [("machine", 1, 2e-6), ("node", 10, 1e-6), ("core", 8, 0)]
    write_figures(survey_of(machine_of(levels, host="$\\bad{}$")).facts(), tmp_path)
    assert ">$\\bad0$<" in (tmp_path / "dendrogram.svg").read_text()
