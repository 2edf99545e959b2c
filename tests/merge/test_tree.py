# SPDX-License-Identifier: BSD-3-Clause
"""Trees of several surveys of one machine, as one; and those that contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jobs import CLASSES, DISJOINT, RACKS, Job, chosen, hosts, parts, written
from msgspec import structs
from surveyed import layout, places, topology, write

from isochrone.errors import IsochroneError
from isochrone.files import (
    Place,
    read_topology,
)
from isochrone.merge import merged_topology
from isochrone.merge.chain import Step
from isochrone.merge.tree import _titles
from isochrone.steps.merge import merge


@pytest.mark.parametrize("name", CLASSES)
def test_the_tree_of_all_divides_the_ranks_of_each_as_it_was_measured(tmp_path: Path, name: str) -> None:
    jobs = CLASSES[name]
    of = [topology(job.ranks, RACKS) for job in jobs]
    merged = merged_topology(of, [str(number) for number in range(len(of))])
    whole = merged.topology
    assert bool(merged.unknown) == (name in DISJOINT)
    assert {(p.host, p.cpus) for p in whole.places} == {(p.host, p.cpus) for job in jobs for p in job.ranks}
    for job, own, ranks in zip(jobs, of, merged.rank_of, strict=True):
        measured = parts(own, job.ranks)
        assert all(groups in parts(whole, job.ranks) for groups in measured)
        assert [whole.places[whole.ranks[rank]] for rank in ranks] == list(job.ranks)
    if name not in DISJOINT:
        everything = topology(whole.places, RACKS)
        # Racks of hosts that no survey had together in one are not known.
        known = parts(everything, whole.places)
        assert parts(whole, whole.places)[-1] == known[-1]


def test_hosts_without_a_measured_way_are_alike_to_none_and_it_is_said(tmp_path: Path) -> None:
    found = merge(written(tmp_path, CLASSES["disjoint"]), tmp_path / "all")
    assert [level.name for level in found.topology.levels] == ["machine", "group-1", "node", "socket"]
    assert "nothing was measured between hosts of different surveys" in found.notes[0]
    # More of them than any survey had: nothing was measured.
    recipe, reason = chosen(tmp_path / "all", places(hosts(0, 1, 2), 4), "bcast", 4096)
    assert recipe == "native"
    assert not reason.startswith("measured")
    links = found.topology.levels[0].links
    assert links is not None
    assert links.pairs is None
    assert links.latency_s == max(level.links.latency_s for level in found.topology.levels if level.links)


@pytest.mark.parametrize("inside", [["site", "machine"], ["machine", "site"], ["switch", "switch"]])
def test_no_two_levels_have_one_name(inside: list[str]) -> None:
    of = places(hosts(0, 1, 2, 3), 2)
    steps = [
        Step(name, {}, {place.key: at // each for at, place in enumerate(of)})
        for name, each in zip(["", *inside], (8, 4, 2), strict=True)
    ]
    titles = _titles(steps, of)
    assert len(set(titles)) == len(titles)
    assert titles[0] == "machine"


def test_levels_of_two_names_are_one_where_they_divide_hosts_alike(tmp_path: Path) -> None:
    jobs = (Job(hosts(0, 1, 2, 3), 2), Job(hosts(0, 1, 2, 3), 4))
    first = written(tmp_path / "a", jobs[:1], "switch")
    second = written(tmp_path / "b", jobs[1:], "rack")
    found = merge([*first, *second], tmp_path / "all")
    assert [level.name for level in found.topology.levels] == ["machine", "switch", "node", "socket"]
    assert {rule.shape for rule in found.plan.rules if rule.collective == "bcast"} == {
        "8 ranks in one machine; switch 2x4; node 4x2; root in 4/2",
        "16 ranks in one machine; switch 2x8; node 4x4; socket 8x2; root in 8/4/2",
    }


@pytest.mark.parametrize(
    "racks",
    [
        {"a": hosts(0, 2), "b": hosts(1, 3)},
        {"a": hosts(0, 1, 2), "b": hosts(3)},
        {"a": hosts(0), "b": hosts(1), "c": hosts(2, 3)},
    ],
)
def test_what_is_together_in_one_survey_and_apart_in_another_is_named(
    tmp_path: Path, racks: dict[str, list[str]]
) -> None:
    ranks = places(hosts(0, 1, 2, 3), 2)
    one = write(tmp_path / "one", topology(ranks, RACKS), [])
    two = write(tmp_path / "two", topology(ranks, racks), [])
    with pytest.raises(
        IsochroneError, match=r"n\d and n\d are in one group of level 'rack' of .*apart in level"
    ):
        merge([one, two], tmp_path / "all")


def test_hosts_that_are_together_by_way_of_a_third_and_apart_in_a_level_around_are_named(
    tmp_path: Path,
) -> None:
    jobs = [
        (hosts(0, 2, 3), "rack", {"a": hosts(0, 3), "b": hosts(2)}),
        (hosts(0, 1, 4), "switch", {"a": hosts(0, 1), "b": hosts(4)}),
        (hosts(1, 2, 5), "switch", {"a": hosts(1, 2), "b": hosts(5)}),
    ]
    folders = []
    for number, (here, name, groups) in enumerate(jobs):
        of = topology(places(here, 2), groups)
        levels = tuple(
            structs.replace(level, name=name) if level.name == "rack" else level for level in of.levels
        )
        folders.append(write(tmp_path / str(number), structs.replace(of, levels=levels), []))
    with pytest.raises(IsochroneError, match=r"n\d and n\d are .*apart in level 'rack'"):
        merge(folders, tmp_path / "all")


def test_a_host_with_other_hardware_is_refused(tmp_path: Path) -> None:
    ranks = places(hosts(0, 1), 2)
    other = tuple(structs.replace(place, signature="another node") for place in ranks)
    folders = [write(tmp_path / str(k), topology(each, {}), []) for k, each in enumerate((ranks, other))]
    with pytest.raises(IsochroneError, match="host n0 is 'another node' here"):
        merge(folders, tmp_path / "all")


def test_a_host_like_others_gets_the_inner_tree_of_the_one_with_most_ranks(tmp_path: Path) -> None:
    merge(written(tmp_path, [Job(hosts(0, 1, 2, 3), 1), Job(hosts(2, 3), 4)]), tmp_path / "all")
    strangers = places(["x8", "x9"], 4)
    there = layout(read_topology(tmp_path / "all" / "topology.json"), strangers)
    assert there.shape().endswith(" 2x4; socket 4x2")


@st.composite
def machines(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[tuple[Place, ...]]]:
    """A machine, and surveys of parts of it that overlap in any way."""
    count = draw(st.integers(2, 7))
    racks: dict[str, list[str]] = {}
    for host in hosts(*range(count)):
        racks.setdefault(f"r{draw(st.integers(0, 2))}", []).append(host)
    surveys = []
    for _ in range(draw(st.integers(2, 4))):
        chosen_hosts = draw(st.lists(st.sampled_from(hosts(*range(count))), min_size=1, unique=True))
        cores = draw(st.integers(1, 4))
        if len(chosen_hosts) * cores > 1:
            surveys.append(places(chosen_hosts, cores))
    return racks, surveys or [places(hosts(0, 1), 2)]


@settings(max_examples=150)
@given(machines())
def test_parts_of_one_machine_never_contradict_each_other(
    machine: tuple[dict[str, list[str]], list[tuple[Place, ...]]],
) -> None:
    racks, surveys = machine
    of = [topology(ranks, racks) for ranks in surveys]
    merged = merged_topology(of, [str(number) for number in range(len(of))])
    whole = merged.topology
    for ranks, own, levels in zip(surveys, of, merged.level_of, strict=True):
        here = layout(whole, ranks)
        assert all(groups in here.group_of for groups in layout(own, ranks).group_of)
        for mine, level in enumerate(levels):
            assert here.group_of[level] == layout(own, ranks).group_of[mine]
    for level in whole.levels:
        if level.name == "node":
            assert all(len({whole.places[place].host for place in group}) == 1 for group in level.groups)
        groups = {place: number for number, group in enumerate(level.groups) for place in group}
        assert sorted(groups) == list(range(len(whole.places)))
