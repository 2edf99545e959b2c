# SPDX-License-Identifier: BSD-3-Clause
"""Recipes, rules and levels in plain words.

What is no recipe to the core (a newer version's, or of a damaged file) is shown as it stands rather than
guessed at: the report describes plans, it does not judge them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from isochrone import _core
from isochrone.units import format_bytes

_LEVEL_NOUNS = {
    "site": ("site", "sites"),
    "rack": ("rack", "racks"),
    "switch": ("switch", "switches"),
    "machine": ("machine", "machines"),
    "node": ("node", "nodes"),
    "socket": ("socket", "sockets"),
    "numa": ("NUMA domain", "NUMA domains"),
    "l3": ("L3 group", "L3 groups"),
    "l2": ("L2 group", "L2 groups"),
    "core": ("core", "cores"),
    "rank": ("rank", "ranks"),
    "place": ("place", "places"),
}

_ORDERS = {
    "ordered": "over the ranks in the order of the map",
    "depth_first": "laid over the map, its longest paths on the shortest links",
    "breadth_first": "laid over the map, what the root sends on the shortest links",
    "longest_first": "laid over the map, what most others wait for on the shortest links",
}
_DIVISION = re.compile(r"([\w-]+) (\d+x\d+(?:\+\d+x\d+)*)")
_NESTED = re.compile(r"nested ([0-9a-f]{4})[0-9a-f]{12}")
_ROOT = "root in "
_ROOT_PLACE = re.compile(r"root in (\d+(?:/\d+)*)(?: of ([0-9a-f]{4})[0-9a-f]{12})?")


def level_noun(name: str, count: int = 1) -> str:
    """What one group (or `count` of them) of a level is called: "NUMA domains", "switch"; `switch-2`: "tier-2
    switch", `group-2`: "level-2 group".
    """
    if name in _LEVEL_NOUNS:
        return _LEVEL_NOUNS[name][0 if count == 1 else 1]
    tier = re.fullmatch(r"switch-(\d+)", name)
    if tier:
        return f"tier-{tier[1]} {level_noun('switch', count)}"
    number = re.fullmatch(r"(?:group|level)-(\d+)", name)
    noun = f"level-{number[1]} group" if number else f"“{name}” group"
    return noun if count == 1 else noun + "s"


def counted(count: int, name: str) -> str:
    """A number of groups of a level: "4 nodes", "1 socket"."""
    return f"{count:,} {level_noun(name, count)}"


def describe_algorithm(algorithm: str) -> str:
    """An algorithm's text form in words: `knomial/4` is "a k-nomial tree (k = 4)"."""
    name, _, number = algorithm.partition("/")
    words = _algorithms().get(name.replace("-", "_"), f"the algorithm “{name}”")
    return f"{words} (k = {number})" if number else words


def describe_recipe(recipe: str) -> str:
    """A recipe in one clause: "between nodes a chain, inside each node the library's own, in segments of 64
    KiB".
    """
    library, separator, told = recipe.partition(":")
    if library == "native" and separator:
        return f"the library told to use its “{told}”"
    try:
        parts = _core.recipe_parts(recipe)
    except ValueError:
        return f"the recipe “{recipe}”"
    ways = [
        " up and ".join(map(describe_algorithm, names)) + (" down" if len(names) > 1 else "")
        for names in parts["algorithms"] or [["native"]]
    ]
    if parts["order"]:
        ways[0] += f" {_ORDERS[parts['order']]}"
    words = _step_words(parts["levels"], ways) if parts["levels"] else ways[0]
    segment_bytes = parts["segment_bytes"]
    return f"{words}, in segments of {format_bytes(segment_bytes)}" if segment_bytes else words


def describe_range(min_bytes: int, max_bytes: int) -> str:
    """The sizes of a rule: "up to 4 KiB", "from 64 KiB to 1 MiB", "from 256 KiB"."""
    endless = max_bytes >= 1 << 40
    if min_bytes == max_bytes:
        return f"at {format_bytes(min_bytes)}"
    if min_bytes <= 1:
        return "at any size" if endless else f"up to {format_bytes(max_bytes)}"
    # A rule that takes over where another ended starts one byte after a round size.
    after_round = (min_bytes - 1) % 1024 == 0
    start = f"above {format_bytes(min_bytes - 1)}" if after_round else f"from {format_bytes(min_bytes)}"
    return start + ("" if endless else f" to {format_bytes(max_bytes)}")


def describe_shape(shape: str) -> str:
    """A communicator's shape: "16 ranks; node 4x4; root in 4" is "16 ranks, 4 nodes of 4"; else as it
    stands.
    """
    words = []
    for part in _shape_parts(shape):
        level = _DIVISION.fullmatch(part)
        if level:
            (count, size), *others = (each.split("x") for each in level[2].split("+"))
            sizes = [f"{counted(int(count), level[1])} of {size}"]
            words.append(join_words(sizes + [f"{number} of {other}" for number, other in others]))
        elif nested := _NESTED.fullmatch(part):
            words.append(f"unevenly in each other (way {nested[1]})")
        elif not part.startswith(_ROOT):
            words.append(part)
    return ", ".join(words) if words else shape


def describe_shapes(shapes: Sequence[str]) -> list[str]:
    """Each of several different shapes, with where the root is if they differ in that only: "14 ranks, 3
    nodes of 4 and 1 of 2, where the root's node has 4".
    """
    roots = [_root_words(shape) for shape in shapes]
    words = []
    for shape, root in zip(shapes, roots, strict=True):
        described = describe_shape(shape)
        alike = [of for other, of in zip(shapes, roots, strict=True) if describe_shape(other) == described]
        telling = [
            word
            for position, word in enumerate(root)
            if len({of[position : position + 1] for of in alike}) > 1
        ]
        words.append(f"{described}, where the root's {join_words(telling)}" if telling else described)
    return words


def join_words(items: Sequence[str]) -> str:
    """A list as a sentence has it: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def capitalised(sentence: str) -> str:
    """`sentence` with its first letter as a capital, the rest untouched."""
    return sentence[:1].upper() + sentence[1:]


def _shape_parts(shape: str) -> list[str]:
    return [part.strip() for part in shape.split(";")]


def _root_words(shape: str) -> tuple[str, ...]:
    """How many ranks the root's group of each level has: "node has 8"; a root of another form as it
    stands.
    """
    parts = _shape_parts(shape)
    divisions = [level_noun(level[1]) for part in parts if (level := _DIVISION.fullmatch(part))]
    for part in parts:
        if part.startswith(_ROOT):
            found = _ROOT_PLACE.fullmatch(part)
            sizes = found[1].split("/") if found else []
            if found is None or len(sizes) != len(divisions):
                return (f"place is “{part}”",)
            words = [f"{noun} has {size}" for noun, size in zip(divisions, sizes, strict=True)]
            return (*words, f"place is of kind {found[2]}") if found[2] else tuple(words)
    return ()


@cache
def _algorithms() -> dict[str, str]:
    """What a sentence calls each algorithm, as the tables of the core say."""
    return {"native": "the library's own"} | {row["name"]: row["words"] for row in _core.algorithms()}


def _step_words(levels: Sequence[str], ways: Sequence[str]) -> str:
    """Each step among the leaders of the next named level's groups; the last among all ranks of its group."""
    clauses = []
    for position, (level, way) in enumerate(zip(levels, ways, strict=True)):
        place = f"inside each {level_noun(level)}"
        if position + 1 < len(levels):
            parts = level_noun(levels[position + 1], 2)
            place = f"between {parts}" if position == 0 else f"{place}, between its {parts},"
        elif position == 0:
            place = f"over all ranks of the {level_noun(level)}"
        clauses.append(f"{place} {way}")
    return ", ".join(clauses) if len(clauses) < 3 else "; ".join(clauses)
