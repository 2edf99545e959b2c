# SPDX-License-Identifier: BSD-3-Clause
"""Lists of hosts, in the forms that people and launchers write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile import all_of
from hypothesis import given
from hypothesis import strategies as st
from mutations import mutate_text

from isochrone.errors import IsochroneError
from isochrone.mapping.hosts import read_hosts

ALL_FORMS = """\
# nodes of a job
node400 12
node402\t6     # half of it
node-1.cluster:8
node2 slots=4 max_slots=8
node3 slots = 2
alone
"""
FOUND = [("node400", 12), ("node402", 6), ("node-1.cluster", 8), ("node2", 4), ("node3", 2), ("alone", 1)]


def test_all_forms_are_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_bytes(ALL_FORMS.replace("\n", "\r\n").encode())
    assert read_hosts(path) == FOUND


def test_lines_of_one_host_add_up(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("b\nb\na:2\nb 3\n", encoding="ascii")
    assert read_hosts(path) == [("b", 5), ("a", 2)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "hosts: has no hosts; write one host a line, such as: node400 12"),
        ("# none\n", "hosts: has no hosts"),
        ("a 1\nb twelve\n", "hosts:2: 'twelve' is no number of cores"),
        ("a 0\n", "hosts:1: '0' is no number of cores"),
        ("a -3\n", "hosts:1: '-3' is no number of cores"),
        ("a:\n", "hosts:1: '' is no number of cores"),
        ("a:1e3\n", "hosts:1: '1e3' is no number of cores"),
        ("a 99999999999\n", "hosts:1: '99999999999' is no number"),
        ("a 1048576\nb 1\n", "hosts:2: there are more than 1,048,576 cores"),
        ("a 1 2\n", "hosts:1: 'a 1 2' is no host with its cores"),
        ("a cores=4\n", "hosts:1: 'a cores=4' is no host"),
        ("-rf 1\n", "hosts:1: '-rf 1' is no host"),
        ("fe80::1\n", "hosts:1: ':1' is no number of cores"),
        ("a\xe9 2\n", "hosts:1: 'aé 2' is no host"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IsochroneError) as caught:
        read_hosts(path)
    assert str(caught.value).startswith(f"{tmp_path}/{says}")


def test_damaged_lists_are_read_or_refused(tmp_path: Path) -> None:
    for hosts in all_of(tmp_path / "hosts", ALL_FORMS.encode(), mutate_text, read_hosts, range(200)):
        assert all(host and cores >= 1 for host, cores in hosts)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9][a-z0-9.-]{0,8}", fullmatch=True), st.integers(1, 999), min_size=1
    )
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, hosts: dict[str, int]
) -> None:
    path = tmp_path_factory.mktemp("hosts") / "hosts"
    for form in ("{} {}\n", "{}:{}\n", "{} slots={}\n"):
        path.write_text("".join(form.format(*pair) for pair in hosts.items()), encoding="ascii")
        assert read_hosts(path) == list(hosts.items())
