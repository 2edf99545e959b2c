# SPDX-License-Identifier: BSD-3-Clause
"""examples/groups.c: who sends what to whom, and a checksum that says that it arrived."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from recorded import RANKS, Library, rows

from isochrone.files import read_graph

EXAMPLE = Path(__file__).parents[2] / "examples" / "groups.c"
ITERATIONS, INTRA, INTER = 7, 300, 20


@pytest.fixture(scope="module")
def groups(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library.compiled(tmp_path_factory.mktemp("groups") / "groups", EXAMPLE)


def pairs(count: int, ranks: int) -> dict[tuple[int, int], int]:
    """Doubles that the first of a pair of ranks sends the other in an iteration."""
    found = {}
    for rank in range(ranks):
        group, number = rank % count, rank // count
        for other in range(ranks):
            if other == rank:
                continue
            if other % count == group:
                found[rank, other] = INTRA
            elif other // count == number and other % count in ((group + 1) % count, (group - 1) % count):
                found[rank, other] = INTER
    return found


@pytest.mark.parametrize(("count", "ranks"), [(1, RANKS), (2, RANKS), (3, RANKS), (4, RANKS), (3, 5)])
def test_groups_exchange_much_inside_and_little_outside(
    library: Library, groups: Path, tmp_path: Path, count: int, ranks: int
) -> None:
    words = (groups, *map(str, (count, ITERATIONS, INTRA, INTER)))
    done = library.record(tmp_path / "graph.json", *words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    expected = pairs(count, ranks)
    assert rows(read_graph(tmp_path / "graph.json")) == {
        pair: [(ITERATIONS, ITERATIONS * doubles * 8)] for pair, doubles in expected.items()
    }
    # Both ends of what the first of a pair sends are its rank and the number of the iteration together.
    checksum = sum((to + 1) * 2 * (sent + i) for sent, to in expected for i in range(ITERATIONS))
    assert re.fullmatch(rf"\d+\.\d+ s\nchecksum {checksum}\n", said(done.stdout)), done.stdout


@pytest.mark.parametrize("words", [("5",), ("2", "0"), ("2", "1", "x"), ("2", "1", "1", "-1"), ("1",) * 5])
def test_what_is_no_usage_is_said_in_one_line(library: Library, groups: Path, words: tuple[str, ...]) -> None:
    done = library.run(library.line(groups, *words))
    assert done.returncode == 2
    assert re.findall(r"^usage: .*", done.stderr + done.stdout, re.MULTILINE) == [
        "usage: groups [GROUPS [ITERATIONS [INTRA [INTER]]]], whole numbers from 1 to 134217728, "
        "and at most as many groups as ranks"
    ]


def said(out: str) -> str:
    """The program's own lines."""
    return "".join(
        line for line in out.splitlines(keepends=True) if line.startswith("checksum") or " s\n" in line
    )
