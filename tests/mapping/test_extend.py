# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded on few ranks, extended to more, is what would have been recorded on these."""

from __future__ import annotations

import json
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import Graph, Links, Place, Topology, write_graph, write_topology
from isochrone.files.graph import Calls, rows_of
from isochrone.files.topology import Level
from isochrone.mapping import extend
from isochrone.mapping.extend import extended, extended_system
from isochrone.mapping.system import System, system_of_tree

Grid = tuple[int, ...]


def stencil(grid: Grid, steps: list[tuple[Grid, int]], around: tuple[bool, ...]) -> list[list[int]]:
    """Each rank sends so many bytes by each step, to the border or around it: [row][phase, source, ...]."""
    rows = []
    for place in product(*map(range, grid)):
        for step, size in steps:
            to = [at + by for at, by in zip(place, step, strict=True)]
            inside = [0 <= at < n for at, n in zip(to, grid, strict=True)]
            if not all(i or a for i, a in zip(inside, around, strict=True)) or not any(step):
                continue
            to = [at % n for at, n in zip(to, grid, strict=True)]
            source, target = (int(np.ravel_multi_index(tuple(at), grid)) for at in (place, to))
            rows.append([1, source, target, 10, 10 * size])
    return rows


def collectives(grid: Grid, called: list[tuple[str, tuple[bool, ...], int]]) -> tuple[Calls, list[set[int]]]:
    """Each collective among all ranks along some axes, at all places of the others."""
    names, groups, volumes = [], [], []
    for name, spans, size in called:
        for place in product(*(range(1 if span else n) for span, n in zip(spans, grid, strict=True))):
            axes = [range(n) if s else [p] for p, s, n in zip(place, spans, grid, strict=True)]
            groups.append({int(np.ravel_multi_index(at, grid)) for at in product(*axes)})
            names.append(name)
            volumes.append(7 * size * (len(groups[-1]) if name == "allgatherv" else 1))
    count = len(names)
    ones = np.ones(count, np.int64)
    return Calls(
        ones, np.array(names, np.str_), np.arange(count), 0 * ones, 7 * ones, np.array(volumes, np.int64)
    ), groups


def recorded(
    grid: Grid,
    steps: list[tuple[Grid, int]],
    around: tuple[bool, ...],
    called: list[tuple[str, tuple[bool, ...], int]] = [],  # noqa: B006 - nobody changes it
) -> Graph:
    calls, groups = collectives(grid, called)
    runs = tuple(tuple((rank, 1, 1) for rank in sorted(group)) for group in groups)
    return Graph(prod(grid), rows_of(stencil(grid, steps, around)).merged(), calls=calls, groups=runs)


def told(graph: Graph) -> tuple[set[tuple[int, ...]], set[tuple[object, ...]]]:
    """Rows and calls, in no order."""
    rows = graph.rows.merged()
    calls = graph.calls
    return (
        set(
            zip(
                *(c.tolist() for c in (rows.sources, rows.targets, rows.messages, rows.volume_bytes)),
                strict=True,
            )
        ),
        {
            (
                str(calls.collectives[row]),
                tuple(graph.members(int(calls.groups[row])).tolist()),
                int(calls.calls[row]),
                int(calls.volume_bytes[row]),
            )
            for row in range(len(calls))
        },
    )


@given(st.data())
@settings(max_examples=60)
def test_a_regular_program_is_extended_to_what_it_is_on_the_larger_grid(data: st.DataObject) -> None:
    dimensions = data.draw(st.integers(1, 3))
    grid = tuple(data.draw(st.lists(st.integers(3, 5), min_size=dimensions, max_size=dimensions)))
    larger = tuple(n + data.draw(st.integers(0, 3)) for n in grid)
    around = tuple(data.draw(st.booleans()) for _ in grid)
    step = st.tuples(*(st.integers(-1, 1) for _ in grid))
    steps = data.draw(st.lists(step, min_size=1, max_size=4, unique=True))
    sized = [(each, 100 * 3**number) for number, each in enumerate(steps)]
    spans = st.tuples(*(st.booleans() for _ in grid)).filter(any)
    called = [
        (name, data.draw(spans), 50)
        for name in data.draw(st.sets(st.sampled_from(["alltoall", "allreduce", "allgatherv"])))
    ]
    small, large = (recorded(each, sized, around, sorted(called)) for each in (grid, larger))
    assert told(extended(small, grid, larger)) == told(large)


@pytest.mark.parametrize("length", [5, 7])
def test_all_to_alls_are_no_neighbours(length: int) -> None:
    others = [((step,), 10) for step in range(1, length)]
    with pytest.raises(IsochroneError, match="all others along axis 1"):
        extended(recorded((length,), others, (True,)), (length,), (2 * length,))
    rows = [((0, step), 10) for step in range(1, length)]
    with pytest.raises(IsochroneError, match="all others along axis 2"):
        extended(recorded((3, length), rows, (False, True)), (3, length), (3, length + 1))
    # Along an axis that stays as it is all may be sent to, and near ones where the axis has a border.
    extended(recorded((3, length), rows, (False, True)), (3, length), (6, length))
    near = [((step,), 10) for step in (-2, -1, 1, 2)]
    extended(recorded((length,), near, (False,)), (length,), (2 * length,))


def test_what_does_not_tell_how_it_grows_is_refused() -> None:
    ring = recorded((6,), [((1,), 10)], (True,))
    extended(ring, (6,), (12,))
    cases = {
        "same neighbours": Graph(6, rows_of(stencil((6,), [((1,), 10)], (True,))[:-2])),
        "different amounts": Graph(6, rows_of([[1, a, (a + 1) % 6, 10, 640 + 50 * a] for a in range(6)])),
        "half way around": Graph(6, rows_of([[1, a, (a + 3) % 6, 1, 1] for a in range(6)])),
        "other ranks than": Graph(
            6,
            rows_of([]),
            calls=Calls(*(np.array(x) for x in ([1], ["bcast"], [0], [0], [1], [8]))),
            groups=(((0, 3, 2),),),
        ),
        "another root": Graph(
            6,
            rows_of([]),
            calls=Calls(*(np.array(x) for x in ([1], ["bcast"], [0], [2], [1], [8]))),
            groups=(((0, 6, 1),),),
        ),
    }
    for why, graph in cases.items():
        with pytest.raises(IsochroneError, match=why):
            extended(graph, (6,), (12,))
    with pytest.raises(IsochroneError, match="not called at all places"):
        extended(
            Graph(
                9,
                rows_of([]),
                calls=Calls(*(np.array(x) for x in ([1], ["bcast"], [0], [0], [1], [8]))),
                groups=(((0, 3, 1),),),
            ),
            (3, 3),
            (6, 3),
        )
    with pytest.raises(IsochroneError, match="axis 1 has 2 ranks"):
        extended(recorded((2, 3), [((1, 0), 10)], (False, False)), (2, 3), (4, 3))
    for larger in ((5,), (6, 2)):
        with pytest.raises(UsageError, match="no larger grid"):
            extended(ring, (6,), larger)
    with pytest.raises(UsageError, match="no grid of 6 ranks"):
        extended(ring, (7,), (12,))


def test_a_regular_machine_has_more_nodes_of_the_same_kind() -> None:
    tree = system_of_tree((2, 3, 4))
    named = System(("machine", "rack", "node"), tree.groups, tree.capacities, tree.links)
    more = extended_system(named, 36)
    assert [max(groups) + 1 for groups in more.groups] == [1, 6, 18]
    assert more.count == 36
    with pytest.raises(IsochroneError, match="do not fill groups of 6, as level 'rack'"):
        extended_system(named, 26)
    uneven = System(("machine", "node"), ((0,) * 5, (0, 0, 0, 1, 1)), (1,) * 5, (None, None))
    with pytest.raises(IsochroneError, match="different sizes"):
        extended_system(uneven, 10)
    with pytest.raises(IsochroneError, match="one node"):
        extended_system(System(("machine",), ((0,) * 4,), (1,) * 4, (None,)), 8)


def _survey(folder: Path, nodes: int, cores: int) -> Path:
    count = nodes * cores

    def links(latency_s: float) -> Links:
        return Links(latency_s, ((0, 0.0),), ((0, 0.0),), ((0, 0.0), (100_000, 1e-4)))

    write_topology(
        folder / "topology.json",
        Topology(
            places=tuple(Place(f"n{i // cores}", str(i % cores), "1x1") for i in range(count)),
            ranks=tuple(range(count)),
            levels=(
                Level("machine", (tuple(range(count)),), None, links(50e-6)),
                Level(
                    "node",
                    tuple(tuple(range(n * cores, (n + 1) * cores)) for n in range(nodes)),
                    None,
                    links(1e-6),
                ),
            ),
        ),
    )
    return folder / "topology.json"


def test_the_command_predicts_for_a_larger_grid_or_says_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    survey = _survey(tmp_path, 4, 4)
    # Columns of four talk, and the launcher puts rows on nodes.
    steps = [((1, 0), 50_000), ((-1, 0), 50_000)]
    write_graph(tmp_path / "graph.json", recorded((4, 4), steps, (True, False)))
    line = ["map", str(tmp_path / "graph.json"), "--topology", str(survey), "--grid", "4x4"]
    line += ["-o", str(tmp_path / "mapping.json")]
    assert main([*line, "--extend", "4x12", "--json"]) == 0
    more = json.loads(capsys.readouterr().out)["more"]
    assert (more["grid"], more["ranks"], more["unpredicted"]) == ([4, 12], 48, None)
    assert more["prediction"]["mapped_s"] < more["prediction"]["identity_s"] / 3
    assert main([*line, "--extend", "4x12"]) == 0
    assert "Predicted for 48 ranks, messages alone: " in capsys.readouterr().out
    write_graph(tmp_path / "graph.json", recorded((4, 4), [((1, 0), 50_000)], (False, False)))
    assert main([*line, "--extend", "5x4"]) == 0
    assert "Predicted for 20 ranks" in capsys.readouterr().out
    assert main([*line, "--extend", "5x5"]) == 0
    assert "Nothing is predicted for 25 ranks: 25 ranks do not fill groups of 4" in capsys.readouterr().out
    assert main([*line, "--extend", "4"]) == 2
    assert main([*line, "--extend", "4xx"]) == 2
    assert main([*line[:4], "--extend", "4x12"]) == 2


def test_more_than_can_be_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("made")

    monkeypatch.setattr(extend._Steps, "ends", never)
    monkeypatch.setattr(extend, "_runs", never)
    around = [((0, 1), 1), ((0, -1), 1), ((1, 0), 1), ((-1, 0), 1), ((1, 1), 1)]
    with pytest.raises(IsochroneError, match="4,194,304 rows are too many"):
        extended(recorded((4, 4), around, (True, True)), (4, 4), (1024, 1024))
    allreduces = [("allreduce", (True, True), 4**size) for size in range(9)]
    names = [("bcast", (True, True), 4**size) for size in range(9)]
    with pytest.raises(IsochroneError, match="groups of more than 16,777,216 ranks"):
        extended(recorded((4, 4), [], (True, True), [*allreduces, *names]), (4, 4), (1024, 1024))
    with pytest.raises(UsageError, match="a grid of 16,000,000 ranks is too large"):
        extended(recorded((4, 4), around, (True, True)), (4, 4), (4000, 4000))


def test_a_larger_machine_has_the_cores_of_the_smaller_one() -> None:
    nodes = System(("machine", "node"), ((0,) * 4, (0, 0, 1, 1)), (1,) * 4, (None, None), cores=2)
    assert extended_system(nodes, 8).cores == 2
