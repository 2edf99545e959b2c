# SPDX-License-Identifier: BSD-3-Clause
"""An error is one line: what, where, what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isochrone.errors import GateError, IsochroneError, UsageError
from isochrone.files import Place, distinct_places, format_members, parse_cpus, parse_members
from isochrone.files.text import kind_of


def test_an_error_says_where_what_and_what_to_do():
    assert (
        str(IsochroneError("it broke", where="plan.json:3", todo="mend it"))
        == "plan.json:3: it broke; mend it"
    )
    assert str(IsochroneError("it broke")) == "it broke"


def test_an_error_is_one_line_whatever_it_quotes():
    assert str(IsochroneError("bad\nname \x1b[31m\r\n'x'")) == "bad name  [31m 'x'"


def test_errors_know_their_exit_codes():
    assert [kind("x").exit_code for kind in (IsochroneError, UsageError, GateError)] == [1, 2, 3]


def test_lists_of_cpus_are_read():
    assert parse_cpus("0-3,8") == {0, 1, 2, 3, 8}


def test_lists_of_ranks_may_be_longer_than_those_of_cpus():
    assert format_members(range(70_000)) == "0-69999"
    assert parse_members("0-69999") == frozenset(range(70_000))
    with pytest.raises(IsochroneError):
        parse_members(f"0-{1 << 30}")


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3-1", "1,,2", "0-999999", "9" * 30, "1\n", "١"])
def test_what_is_no_list_of_cpus_is_refused(text):
    with pytest.raises(IsochroneError):
        parse_cpus(text)


def test_places_are_the_same_if_host_and_cpus_are():
    places = [Place("a", "0-1", "x"), Place("a", "0,1", "x"), Place("b", "0-1", "x"), Place("a", None, "x")]
    distinct, index = distinct_places(places)
    assert index == (0, 0, 1, 2)
    assert len(distinct) == 3


def test_a_pipe_in_the_place_of_an_output_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert kind_of(pipe) is None
