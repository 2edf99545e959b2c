# SPDX-License-Identifier: BSD-3-Clause
import pytest

from isochrone.report.units import (
    format_bytes,
    format_percent,
    format_rate,
    format_ratio,
    format_time,
    significant,
)
from isochrone.report.words import (
    describe_range,
    describe_recipe,
    describe_shape,
    join_words,
    level_noun,
    number_of,
)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("native", "the library's own"),
        ("native:scatter_LR_allgather", "the library told to use its “scatter_LR_allgather”"),
        ("binomial", "a binomial tree"),
        ("knomial/4", "a k-nomial tree (k = 4)"),
        ("pipeline@65536", "a pipeline, in segments of 64 KiB"),
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
        ("hierarchical(machine=flat)", "over all ranks of the machine a flat tree"),
    ],
)
def test_a_recipe_is_said_in_plain_words(recipe: str, words: str) -> None:
    assert describe_recipe(recipe) == words


@pytest.mark.parametrize("recipe", ["", "hierarchical()", "a b(", "<b>", "chain@", "chain@1@2"])
def test_a_recipe_that_follows_no_grammar_is_shown_as_it_stands(recipe: str) -> None:
    assert describe_recipe(recipe) == f"the recipe “{recipe}”"


def test_an_unknown_algorithm_keeps_its_name() -> None:
    assert describe_recipe("wavefront/3") == "the algorithm “wavefront” (3)"


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
    assert describe_shape("12 ranks; node 3x3-5; root in 3") == "12 ranks, 3 nodes of 3 to 5"
    assert describe_shape("anything else") == "anything else"


def test_levels_have_the_fields_names() -> None:
    assert level_noun("numa", 2) == "NUMA domains"
    assert level_noun("switch", 2) == "switches"
    assert level_noun("group-2") == "level-2 group"
    assert join_words(["a", "b", "c"]) == "a, b and c"


def test_numbers_have_three_digits_and_the_unit_that_fits() -> None:
    assert [format_time(value) for value in (1.8e-6, 4.5e-7, 0.01234, 9.999e-7, 0, 62.0)] == [
        "1.80 µs",
        "450 ns",
        "12.3 ms",
        "1.00 µs",
        "0 s",
        "62.0 s",
    ]
    assert format_rate(1.25e10) == "12.5 GB/s"
    assert significant(999.6) == "1000"
    assert format_ratio(1.834) == "1.83×"


def test_sizes_are_exact() -> None:
    assert [format_bytes(size) for size in (0, 7, 1024, 1536, 65537, 4194304)] == [
        "0 B",
        "7 B",
        "1 KiB",
        "1.5 KiB",
        "65,537 B",
        "4 MiB",
    ]


def test_only_the_whole_is_a_hundred_percent() -> None:
    assert format_percent(1.0) == "100 %"
    assert format_percent(0.9999) == "99.9 %"


def test_one_thing_has_no_s() -> None:
    assert [number_of(count, "round trip") for count in (0, 1, 2000)] == [
        "0 round trips",
        "1 round trip",
        "2,000 round trips",
    ]
