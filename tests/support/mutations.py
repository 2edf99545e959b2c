# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of files: of bytes, of lines, of the text of numbers, of parsed documents."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Mutate = Callable[[random.Random, bytes], bytes]

# In place of a number, as text: some of them are no JSON.
NUMBERS = (
    *(
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "1e308",
        "1e-320",
        "-0.0",
        "-1",
        "0",
        "1",
        "1.0",
        "2",
    ),
    *(
        "9007199254740993",
        "18446744073709551616",
        "1" * 400,
        "1" * 5000,
        "-" + "9" * 4000,
        "0x10",
        "1_0",
        "+1",
    ),
    *("null", "true", '"1"', '""', "[]", "{}", "[[0]]", "[1,2]", '{"a":1}', "0-65535", ".5", "١"),
)
# In place of any value.
VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 0.5, 1.0, 1e308, 5e-324, 10**18, 10**30, float("nan"), float("inf")),
    *("", "x", "0", "0-3", "0-65535", "3-0", "\n", "\ud800", "\x00\x1b[31m", "é" * 3000, "9" * 70_000),
    *([], {}, [[]], [None], [0] * 300, {"x": 1}, {"end": True}, [[1, [2, [3]]]]),
)
KEYS = ("", "x", "end", "pair", "plogp", "isochrone", "\ud800", "k" * 5000)
BRACKETS = (b"[", b'{"a":', b"]", b"}", b"[[],")


def mutate_bytes(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 30))):
        at = chance.randrange(len(changed))
        changed[at] = chance.choice((changed[at] ^ 1 << chance.randrange(8), chance.randrange(256)))
    return bytes(changed)


def truncate(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def insert(chance: random.Random, data: bytes) -> bytes:
    """Something foreign anywhere, at times very much of it."""
    at = chance.randrange(len(data) + 1)
    much = chance.choice((1, 5, 60, 70, 500, 990, 1100, 20_000))
    piece = chance.choice((*BRACKETS, b" ", b"0", b"\n", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b",", b'"'))
    return data[:at] + piece * much + data[at:]


def nest(chance: random.Random, data: bytes) -> bytes:
    """A value within many lists or objects, as deep as parsers can and cannot go."""
    values = list(re.finditer(rb'(?<=[:,\[])("[^"]*"|[-+.\w]+)(?=[,\]}])', data))
    at = chance.choice(values)
    depth = chance.choice((1, 2, 30, 63, 64, 65, 200, 500, 800, 900, 950, 980, 990, 995, 1000, 2000))
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[0,", b"]")))
    return data[: at.start()] + opening * depth + at.group() + closing * depth + data[at.end() :]


def replace_numbers(chance: random.Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 3))):
        found = chance.choice(list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data)))
        data = data[: found.start()] + chance.choice(NUMBERS).encode() + data[found.end() :]
    return data


def mutate_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(5):
            case 0:
                lines[at] = b""
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = lines[at].rstrip(b"\n")
            case _:
                lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)] + lines[other]
    return b"".join(lines)


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with each of its keys or indices."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, part in entries:
        yield value, key
        yield from _slots(part)


def _change(chance: random.Random, document: Any) -> None:
    slots = list(_slots(document))
    if not slots:
        return
    container, key = chance.choice(slots)
    other, other_key = chance.choice(slots)
    match chance.randrange(6):
        case 0:
            del container[key]
        case 1 if isinstance(container, dict):
            container[chance.choice(KEYS)] = container.pop(key)
        case 1 | 2 if isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        case 3:
            container[key] = copy.deepcopy(other[other_key])
        case 4:
            container[key] = [copy.deepcopy(container[key])] * chance.choice((1, 2, 300))
        case _:
            container[key] = copy.deepcopy(chance.choice(VALUES))


def mutate_documents(chance: random.Random, data: bytes) -> bytes:
    """Values of another kind, keys dropped, renamed or moved: valid JSON of the wrong form, mostly."""
    documents = [json.loads(line) for line in data.splitlines()]
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        _change(chance, chance.choice(documents))
    return "".join(json.dumps(d, ensure_ascii=True) + "\n" for d in documents).encode()


def mutate_json(chance: random.Random, data: bytes) -> bytes:
    kinds: tuple[Mutate, ...] = (mutate_bytes, truncate, insert, nest, replace_numbers, mutate_lines)
    return chance.choice((*kinds, mutate_documents, mutate_documents, mutate_documents))(chance, data)


def mutate_text(chance: random.Random, data: bytes) -> bytes:
    return chance.choice((mutate_bytes, truncate, insert, replace_numbers, mutate_lines))(chance, data)
