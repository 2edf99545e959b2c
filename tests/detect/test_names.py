# SPDX-License-Identifier: BSD-3-Clause
"""Names of levels: no two are alike, whatever is known of the machine."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from isochrone.detect.known import TRUTH, Known
from isochrone.detect.labels import level_names, with_outermost

INSIDE = [np.arange(16) // 8, np.arange(16) // 4, np.arange(16) // 2]


@pytest.mark.parametrize("known", list(itertools.permutations(["site", "machine", "node", "rack"], 3)))
@pytest.mark.parametrize("hosts", [0, 1, 8])
def test_no_two_levels_have_one_name(known: tuple[str, ...], hosts: int) -> None:
    parts = [Known(name, labels, TRUTH) for name, labels in zip(known, INSIDE, strict=True)]
    names = level_names([np.zeros(16, dtype=np.int64), *INSIDE], parts, hosts)
    assert len(set(names)) == len(names)
    kept = set(known) - {names[0]}
    assert kept <= set(names)
    assert names[0] == ("node" if hosts == 1 else "site" if "machine" in names[1:] else "machine")


@pytest.mark.parametrize(
    ("inside", "hosts", "names"),
    [
        (["node", "socket"], 4, ("machine", "node", "socket")),
        (["machine", "node"], 4, ("site", "machine", "node")),
        (["site", "machine"], 4, ("machine", "site", "group-2")),
        (["machine", "site"], 4, ("machine", "group-1", "site")),
        (["switch", "rack", "switch"], 4, ("machine", "switch", "rack", "group-3")),
        (["socket"], 1, ("node", "socket")),
    ],
)
def test_the_outermost_is_named_first(inside: list[str], hosts: int, names: tuple[str, ...]) -> None:
    assert with_outermost(inside, hosts) == names
