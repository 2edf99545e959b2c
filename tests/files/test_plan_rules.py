# SPDX-License-Identifier: BSD-3-Clause
"""Rules of a plan beside one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from surveyed import rule

from isochrone.errors import IsochroneError
from isochrone.files.plan import check_plan_rules, without

RULE = rule("4 ranks in one node", "binomial")
RANGES = st.tuples(st.integers(0, 20), st.integers(0, 6)).map(lambda found: (found[0], sum(found)))


@given(RANGES, st.lists(RANGES, max_size=4))
def test_what_others_leave_of_a_rule_is_what_no_other_is_for(
    own: tuple[int, int], others: list[tuple[int, int]]
) -> None:
    """Others may overlap one another, and lie anywhere: a plan may have nothing between two of its sizes."""
    kept = structs.replace(RULE, min_bytes=own[0], max_bytes=own[1])
    before = [structs.replace(RULE, min_bytes=low, max_bytes=high) for low, high in others]
    left = without(kept, before)
    assert all(piece.min_bytes <= piece.max_bytes for piece in left)
    assert [size for piece in left for size in range(piece.min_bytes, piece.max_bytes + 1)] == [
        size for size in range(own[0], own[1] + 1) if not any(low <= size <= high for low, high in others)
    ]
    assert {structs.replace(piece, min_bytes=0, max_bytes=0) for piece in left} <= {
        structs.replace(kept, min_bytes=0, max_bytes=0)
    }


def test_a_rule_for_a_collective_that_there_is_not_is_named() -> None:
    wrong = structs.replace(RULE, collective="brodcast", min_bytes=7, max_bytes=7)
    with pytest.raises(IsochroneError) as error:
        check_plan_rules([RULE, wrong], "plan.json")
    assert str(error.value).startswith("plan.json: rules[1]: there is no collective 'brodcast'; ")
