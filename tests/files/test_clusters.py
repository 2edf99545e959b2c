# SPDX-License-Identifier: BSD-3-Clause
"""Trees of clusters are read as they were written, and every other text is refused in one line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.cli.main import main
from isochrone.errors import IsochroneError
from isochrone.files import Clusters, Level, Place, Topology, clusters_of, read_clusters, write_clusters

# Reinfjell 2023, figure 3.4.
LGATE = """\
cluster {
 cluster {
  cluster { group { 0-7 } }
  cluster { group { 8-15 } }
 }
 cluster {
  cluster { group { 16-23 } }
  cluster { group { 24-31 } }
 }
}
"""


def read(folder: Path, text: str) -> Clusters:
    path = folder / "clusters.txt"
    path.write_bytes(text.encode())
    return read_clusters(path)


def group(*ranks: int) -> Clusters:
    return Clusters(ranks=ranks)


def test_the_file_of_the_thesis_is_read_and_written_as_it_is(tmp_path: Path) -> None:
    clusters = read(tmp_path, LGATE)
    assert [list(ranks) for ranks in clusters.groups()] == [list(range(i, i + 8)) for i in (0, 8, 16, 24)]
    assert [len(part.parts) for part in clusters.parts] == [2, 2]
    assert clusters.expression() == "(((0-7)(8-15))((16-23)(24-31)))"
    write_clusters(tmp_path / "again.txt", clusters)
    assert (tmp_path / "again.txt").read_text() == LGATE


@pytest.mark.parametrize(
    "text",
    [
        "cluster{cluster{group{0-2,5}}cluster{group{3 4}}}",
        "cluster { # all\r\n cluster { group { 0 1,2 , 5, } }\r\n cluster { group {\n3 # one\n4-4 } } }",
        "#\n\ncluster\n{\ncluster\n{\ngroup\n{\n0\n1-1,\n,2 5}} cluster{group{3-4}}} # end",
    ],
)
def test_blanks_commas_and_comments_are_free(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == Clusters(parts=(group(0, 1, 2, 5), group(3, 4)))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "holds no cluster"),
        ("# cluster { group { 0 } }\n", None, "holds no cluster"),
        ("group { 0 }", 1, "a group is in no cluster"),
        ("\nclusters { group { 0 } }", 2, "expected 'cluster', not 'clusters'"),
        ("cluster group { 0 } }", 1, "expected '{' after cluster, not 'group'"),
        ("cluster { group { 0 }", 1, "this cluster is not closed"),
        ("cluster {\n group {\n 0\n", 2, "this group is not closed"),
        ("cluster { group { 0 } } }", 1, "'}' follows after the outermost cluster"),
        ("cluster { group { 0 } }\ncluster { group { 1 } }", 2, "'cluster' follows after"),
        ("cluster { }", 1, "a cluster is empty"),
        ("cluster { group { , } }", 1, "a group is empty"),
        ("cluster { 0-7 }", 1, "expected 'cluster', 'group' or '}' in a cluster, not '0-7'"),
        ("cluster { , group { 0 } }", 1, "expected 'cluster', 'group' or '}'"),
        ("cluster { group { 0 } group { 1 } }", 1, "a group and something else"),
        ("cluster { group { 0 }\n cluster { group { 1 } } }", 2, "a group and something else"),
        ("cluster { cluster { group { 1 } } group { 0 } }", 1, "a group and something else"),
        ("cluster { group { cluster { group { 0 } } } }", 1, "a cluster is in a group"),
        ("cluster { group { group { 0 } } }", 1, "a group is in a group"),
        ("cluster { group { { 0 } } }", 1, "'{' is no rank"),
        ("cluster { group { 0 -7 } }", 1, "'-7' is no rank or range of ranks"),
        ("cluster { group { 0x1 } }", 1, "'0x1' is no rank"),
        ("cluster { group { ٣ } }", 1, "is no rank"),
        ("cluster { group { 7-0 } }", 1, "'7-0' ends before it starts"),
        ("cluster { group { 0-9999999 } }", 1, "there is no rank 9999999"),
        ("cluster { group { 0-99999999999 } }", 1, "is no rank or range"),
        ("cluster { group { 0-3\n2 } }", 2, "rank 2 has a group already"),
        ("cluster { cluster { group { 0 } }\ncluster { group { 0 } } }", 2, "rank 0 has a group already"),
        ("cluster { group { 1-3 } }", None, "rank 0 has no group, but rank 3 has one"),
        ("cluster { group { 0,1,7 } }", None, "rank 2 has no group, but rank 7 has one"),
        ("cluster {\n" * 200, 101, "nested more than 100 deep"),
        ("cluster {" * 1_000_000, 1, "nested more than 100 deep"),
        ("cluster { group { 0\x00 } }", 1, "is no rank"),
        ("x" * 20_000_000, None, "too large"),
    ],
)
def test_what_is_no_tree_is_refused_in_one_line(
    tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    with pytest.raises(IsochroneError) as caught:
        read(tmp_path, text)
    where = f"{tmp_path / 'clusters.txt'}" + (f":{line}" if line else "")
    assert str(caught.value).startswith(f"{where}: ")
    assert said in str(caught.value)
    assert caught.value.todo
    assert len(str(caught.value)) < 300 + len(where)


def test_a_file_that_is_no_text_or_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "clusters.txt"
    path.write_bytes(b"cluster {\n group { 0 \xff } }")
    with pytest.raises(IsochroneError, match=r"clusters\.txt:2: is not UTF-8"):
        read_clusters(path)
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(IsochroneError, match="cannot read"):
            read_clusters(missing)
    with pytest.raises(IsochroneError, match="too large"):
        read_clusters("/dev/zero")


@st.composite
def trees(draw: st.DrawFn) -> Clusters:
    ranks = draw(st.permutations(range(draw(st.integers(1, 24)))))

    def divide(some: list[int], depth: int) -> Clusters:
        if depth == 4 or draw(st.booleans()):
            return Clusters(ranks=tuple(some))
        parts = []
        while some:
            size = draw(st.integers(1, len(some)))
            parts.append(divide(some[:size], depth + 1))
            some = some[size:]
        return Clusters(parts=tuple(parts))

    return divide(ranks, 0)


@given(trees())
def test_every_tree_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, clusters: Clusters
) -> None:
    path = tmp_path_factory.getbasetemp() / "clusters.txt"
    write_clusters(path, clusters)
    assert read_clusters(path) == clusters
    expression = clusters.expression()
    assert set(expression) <= set("0123456789-,()")
    assert expression.count("(") == path.read_text().count("cluster")


@given(st.text(st.sampled_from("clustergroup{}{}{} \n,-#0123456789")))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    read_or_refused(tmp_path_factory.getbasetemp(), text)


def test_damaged_trees_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    chance = random.Random(1)
    words = [*LGATE.split(), "#", "\n", ",", "-", "0", "32"]
    for _ in range(2000):
        text = LGATE.split(" ")
        for _ in range(chance.randrange(1, 4)):
            text[chance.randrange(len(text))] = " ".join(chance.choices(words, k=chance.randrange(4)))
        read_or_refused(tmp_path, " ".join(text))


def read_or_refused(folder: Path, text: str) -> None:
    refusal = None
    ranks: list[int] = []
    try:
        ranks = sorted(rank for group in read(folder, text).groups() for rank in group)
    except IsochroneError as error:
        refusal = error
    assert ranks == list(range(len(ranks)))
    assert bool(ranks) == (refusal is None)
    assert refusal is None or (refusal.todo and len(str(refusal).splitlines()) == 1)


def test_a_tree_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    for clusters in (Clusters(), group(1), group(0, 0), Clusters(parts=(group(0), group(0)))):
        with pytest.raises(IsochroneError):
            write_clusters(tmp_path / "clusters.txt", clusters)
    assert list(tmp_path.iterdir()) == []


def topology(ranks: tuple[int, ...], *levels: tuple[tuple[int, ...], ...]) -> Topology:
    places = tuple(Place(f"n{place}", None, "s") for place in range(1 + max(ranks)))
    return Topology(
        places,
        ranks,
        tuple(Level(f"group-{depth}", groups, None, None) for depth, groups in enumerate(levels)),
    )


def test_the_levels_of_a_topology_become_clusters() -> None:
    # Places 0 and 1 have two ranks each; the last level divides only one group of the one before.
    ranks = (0, 2, 1, 3, 0, 1)
    whole = ((0, 1, 2, 3),)
    halves = ((2, 3), (0, 1))
    assert clusters_of(topology(ranks, whole)) == group(0, 1, 2, 3, 4, 5)
    assert clusters_of(topology(ranks, whole, halves)) == Clusters((group(0, 2, 4, 5), group(1, 3)))
    assert clusters_of(topology(ranks, whole, halves, ((0,), (1,), (2,), (3,)))) == Clusters(
        (Clusters((group(0, 4), group(2, 5))), group(1, 3))
    )
    assert clusters_of(topology((0, 1), ((0, 1),), ((0,), (1,)))) == group(0, 1)


def test_detect_writes_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text(
        "\n".join(
            ",".join("0" if i == j else "100" if i // 4 == j // 4 else "900" for j in range(8))
            for i in range(8)
        )
    )
    clusters = tmp_path / "clusters.txt"
    assert main(["detect", str(matrix), "-o", str(tmp_path / "t.json"), "--clusters", str(clusters)]) == 0
    assert f"Clusters: {clusters}" in capsys.readouterr().out
    assert read_clusters(clusters) == Clusters((group(0, 1, 2, 3), group(4, 5, 6, 7)))
