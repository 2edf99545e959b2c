# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Sequence
from pathlib import Path

import pytest
from planned import LINKS

from isochrone import _core
from isochrone.files import Level, Place, Topology, write_topology
from isochrone.words import (
    describe_range,
    describe_recipe,
    describe_shape,
    describe_shapes,
    join_words,
    level_noun,
)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("native", "the library's own"),
        ("native:scatter_LR_allgather", "the library told to use its “scatter_LR_allgather”"),
        ("binomial", "a binomial tree"),
        ("knomial/4", "a k-nomial tree (k = 4)"),
        ("pipeline@65536", "a pipeline, in segments of 64 KiB"),
        (
            "depth_first(knomial/4)",
            "a k-nomial tree (k = 4) laid over the map, its longest paths on the shortest links",
        ),
        (
            "breadth_first(binary)@8",
            "a binary tree laid over the map, what the root sends on the shortest links, in segments of 8 B",
        ),
        ("ordered(chain)@8192", "a chain over the ranks in the order of the map, in segments of 8 KiB"),
        (
            "hierarchical(machine=chain,node=native)@65536",
            "between nodes a chain, inside each node the library's own, in segments of 64 KiB",
        ),
        (
            "hierarchical(machine=flat,node=binary,l3=native)",
            "between nodes a flat tree; inside each node, between its L3 groups, a binary tree; "
            "inside each L3 group the library's own",
        ),
        (
            "hierarchical(machine=depth_first(knomial/4),node=native)@8",
            "between nodes a k-nomial tree (k = 4) laid over the map, its longest paths on the shortest "
            "links, inside each node the library's own, in segments of 8 B",
        ),
        (
            "hierarchical(machine=binomial,node=binomial+flat)",
            "between nodes a binomial tree, inside each node a binomial tree up and a flat tree down",
        ),
        ("hierarchical(machine=flat)", "over all ranks of the machine a flat tree"),
    ],
)
def test_a_recipe_is_said_in_plain_words(recipe: str, words: str) -> None:
    assert describe_recipe(recipe) == words


@pytest.mark.parametrize("recipe", ["", "hierarchical()", "a b(", "<b>", "chain@", "chain@1@2"])
def test_a_recipe_that_follows_no_grammar_is_shown_as_it_stands(recipe: str) -> None:
    assert describe_recipe(recipe) == f"the recipe “{recipe}”"


def test_an_unknown_algorithm_keeps_its_name() -> None:
    assert describe_recipe("wavefront/3") == "the algorithm “wavefront” (k = 3)"


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (1, 4096, "up to 4 KiB"),
        (4097, 65536, "above 4 KiB to 64 KiB"),
        (65536, 1 << 20, "from 64 KiB to 1 MiB"),
        (1 << 18, 1 << 53, "from 256 KiB"),
        (0, 1 << 53, "at any size"),
        (7, 7, "at 7 B"),
    ],
)
def test_a_range_of_sizes_is_said_by_its_round_ends(least: int, most: int, words: str) -> None:
    assert describe_range(least, most) == words


def test_a_shape_is_said_by_its_levels_and_an_unknown_one_as_it_stands() -> None:
    assert describe_shape("16 ranks; node 4x4; root in 4") == "16 ranks, 4 nodes of 4"
    assert (
        describe_shape("13 ranks; node 1x5+1x4+2x2; root in 5") == "13 ranks, 1 node of 5, 1 of 4 and 2 of 2"
    )
    assert describe_shape("anything else") == "anything else"


def test_levels_have_the_fields_names() -> None:
    assert level_noun("numa", 2) == "NUMA domains"
    assert level_noun("switch", 2) == "switches"
    assert level_noun("group-2") == "level-2 group"
    assert join_words(["a", "b", "c"]) == "a, b and c"


def layout_of_racks(folder: Path, racks: Sequence[Sequence[int]]) -> _core.Layout:
    """Ranks on nodes of these sizes in racks."""
    nodes = [(rack, ranks) for rack, sizes in enumerate(racks) for ranks in sizes]
    places = tuple(
        Place(f"n{node}", str(cpu), "") for node, (_, ranks) in enumerate(nodes) for cpu in range(ranks)
    )
    rack_of = [rack for rack, ranks in nodes for _ in range(ranks)]
    node_of = [node for node, (_, ranks) in enumerate(nodes) for _ in range(ranks)]
    levels = tuple(
        Level(name, _groups(labels), 1.0, LINKS)
        for name, labels in (("machine", [0] * len(places)), ("rack", rack_of), ("node", node_of))
    )
    write_topology(folder / "topology.json", Topology(places, tuple(range(len(places))), levels))
    text = (folder / "topology.json").read_text(encoding="utf-8")
    return _core.match(text, [(place.host, place.cpus, place.signature) for place in places])


def _groups(labels: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(place for place, own in enumerate(labels) if own == label) for label in dict.fromkeys(labels)
    )


def test_what_sizes_do_not_say_of_a_shape_has_words_too(tmp_path: Path) -> None:
    even = layout_of_racks(tmp_path, [[2, 1, 1], [2, 1, 1]])
    odd = layout_of_racks(tmp_path, [[2, 2], [1, 1, 1, 1]])
    said = describe_shape(even.shape())
    assert said == "8 ranks in one machine, 2 racks of 4, 2 nodes of 2 and 4 of 1"
    assert describe_shape(odd.shape()).startswith(said + ", unevenly in each other (way ")
    # A node of one may be beside the node of two, or in the other rack.
    unlike = layout_of_racks(tmp_path, [[2, 1, 1], [1, 1, 1, 1]])
    words = describe_shapes([unlike.shape(2), unlike.shape(4)])
    assert len(set(words)) == 2
    assert all(", where the root's place is of kind " in each for each in words)
    assert unlike.shapes() == [unlike.shape(root) for root in range(unlike.size)]
