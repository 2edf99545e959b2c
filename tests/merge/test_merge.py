# SPDX-License-Identifier: BSD-3-Clause
"""Surveys of one machine added up: trees, rules and measurements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from surveyed import LIBRARY, layout, measurements, places, rule, topology, write

from isochrone import _core
from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import (
    MpiLibrary,
    Place,
    Rule,
    Topology,
    read_measurements,
    read_plan,
    read_survey,
    read_topology,
)
from isochrone.merge import merged_topology
from isochrone.steps.explain import explain
from isochrone.steps.merge import merge, merged_plan
from isochrone.tune.family import family

RACKS = {"r0": ["n0", "n1"], "r1": ["n2", "n3"], "r2": ["n4", "n5"]}


@dataclass(frozen=True)
class Job:
    """Hosts of which each has so many ranks, as they were surveyed."""

    hosts: Sequence[str]
    cores: int

    @property
    def ranks(self) -> tuple[Place, ...]:
        return places(self.hosts, self.cores)


def hosts(*numbers: int) -> list[str]:
    return [f"n{number}" for number in numbers]


CLASSES = {
    "more ranks": (Job(hosts(0, 1), 2), Job(hosts(0, 1), 4)),
    "one a node, then all": (Job(hosts(0, 1, 2, 3), 1), Job(hosts(0, 1, 2, 3), 4)),
    "overlapping": (Job(hosts(0, 1, 2, 3), 2), Job(hosts(2, 3, 4, 5), 2)),
    "in one host, then between": (Job(hosts(1), 4), Job(hosts(0, 1, 2), 1)),
    "disjoint": (Job(hosts(0, 1), 4), Job(hosts(2, 3), 4)),
    "three that are disjoint": (Job(hosts(0, 1), 2), Job(hosts(4, 5), 2), Job(hosts(2, 3), 4)),
    "joined by the last": (Job(hosts(0, 1), 2), Job(hosts(4, 5), 2), Job(hosts(1, 2, 3, 4), 2)),
}
DISJOINT = {"disjoint", "three that are disjoint"}


def rules_for(of: Topology, ranks: Sequence[Place], name: str) -> tuple[Rule, ...]:
    """One recipe for broadcasts from the first rank, one for barriers; named levels where there are any."""
    there = layout(of, ranks)
    inner = there.shape().rpartition("; ")[2].split(" ")[0] if ";" in there.shape() else ""
    recipe = f"hierarchical({of.levels[0].name}={name},{inner}=chain)@4096" if inner else name
    return (
        rule(there.shape(0), recipe),
        rule(there.shape(), "dissemination", 0, 0, "barrier"),
    )


def written(folder: Path, jobs: Sequence[Job], rack: str = "rack") -> list[Path]:
    """A survey for each job."""
    folders = []
    for number, job in enumerate(jobs):
        of = topology(job.ranks, RACKS, rack)
        names = ("binomial", "flat", "knomial/4")
        time = f"2026-01-0{number + 1}T00:00:00Z"
        found = write(folder / f"s{number}", of, rules_for(of, job.ranks, names[number % 3]), time=time)
        folders.append(found)
    return folders


def chosen(folder: Path, ranks: Sequence[Place], collective: str, size_bytes: int) -> tuple[str, str]:
    """What a program at these places would run, and why."""
    plan = read_plan(folder / "plan.json")
    there = layout(read_topology(folder / "topology.json"), ranks, plan.level_names)
    return _core.choose(plan.text(), collective, there, 0, size_bytes)


def parts(of: Topology, ranks: Sequence[Place]) -> list[list[int]]:
    """The groups that some ranks are in, level by level, without levels that are as the one before."""
    found: list[list[int]] = []
    for groups in layout(of, ranks).group_of:
        if groups not in found:
            found.append(groups)
    return found


@pytest.mark.parametrize("jobs", CLASSES.values(), ids=CLASSES)
def test_each_job_that_was_surveyed_runs_as_by_its_own_survey(tmp_path: Path, jobs: Sequence[Job]) -> None:
    folders = written(tmp_path, jobs)
    merge(folders, tmp_path / "all")
    merged = read_topology(tmp_path / "all" / "topology.json")
    plan = read_plan(tmp_path / "all" / "plan.json")
    assert plan.fingerprint == merged.fingerprint
    assert plan.level_names == tuple(level.name for level in merged.levels)
    newest_of_shape = {layout(merged, job.ranks).shape(0): number for number, job in enumerate(jobs)}
    for number, job in enumerate(jobs):
        recipe, reason = chosen(tmp_path / "all", job.ranks, "bcast", 4096)
        assert reason.startswith("measured"), (job, reason)
        if newest_of_shape[layout(merged, job.ranks).shape(0)] == number:
            own, _ = chosen(folders[number], job.ranks, "bcast", 4096)
            renamed = _core.rename_levels(recipe, dict.fromkeys(plan.level_names, "x"))
            levels = {level.name: "x" for level in read_topology(folders[number] / "topology.json").levels}
            assert renamed == _core.rename_levels(own, levels)
            # What the recipe does with the ranks is the same, message by message.
            there = layout(merged, job.ranks)
            before = layout(read_topology(folders[number] / "topology.json"), job.ranks)
            for rank in range(there.size):
                assert _peers(there, recipe, rank) == _peers(before, own, rank)
        assert chosen(tmp_path / "all", job.ranks, "barrier", 0)[0] == "dissemination"


def _peers(of: _core.Layout, recipe: str, rank: int) -> list[tuple[str, int]]:
    return [(step["kind"], step["peer"]) for step in _core.schedule("bcast", of, recipe, rank, 0)]


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


def test_names_of_a_plan_that_its_topology_has_no_more_are_those_of_the_merged_one(tmp_path: Path) -> None:
    jobs = (Job(hosts(0, 1, 2, 3), 2), Job(hosts(0, 1, 2, 3), 4))
    of = topology(jobs[0].ranks, RACKS)
    names = ("site", "group-1", "node")
    there = layout(of, jobs[0].ranks, names)
    old = rule(there.shape(0), "hierarchical(site=binomial,group-1=chain,node=flat)")
    first = write(tmp_path / "old", of, [old], names=names)
    found = merge([first, *written(tmp_path, jobs[1:])], tmp_path / "all")
    recipes = {rule.shape: rule.recipe for rule in found.plan.rules}
    shape = "8 ranks in one machine; rack 2x4; node 4x2; root in 4/2"
    assert recipes[shape] == "hierarchical(machine=binomial,rack=chain,node=flat)"


def test_rules_for_parts_of_the_surveyed_ranks_are_kept(tmp_path: Path) -> None:
    job = Job(hosts(0, 1, 2, 3), 4)
    of = topology(job.ranks, RACKS)
    some = [
        places(hosts(0, 1, 2), 4),
        places(hosts(0, 1), 2),
        places(hosts(0, 2), 3),
        places(hosts(0, 1, 2, 3), 1),
    ]
    rules = [rule(layout(of, ranks).shape(0), "binomial") for ranks in some]
    rules.append(rule(layout(of, some[0]).shape(11), "chain"))
    strange = rule("5 ranks in one machine; node 1x3+2x1; root in 3", "chain")
    first = write(tmp_path / "parts", of, [*rules, strange])
    found = merge([first, *written(tmp_path, [Job(hosts(2, 3, 4, 5), 4)])], tmp_path / "all")
    assert any("for 1 shape are left out" in note for note in found.notes)
    for ranks in some:
        recipe, reason = chosen(tmp_path / "all", ranks, "bcast", 4096)
        assert recipe == "binomial", reason
    assert "chain" in {rule.recipe for rule in found.plan.rules}


def test_what_a_tuning_finds_for_parts_of_its_ranks_is_kept(tmp_path: Path) -> None:
    job = Job(hosts(0, 1, 2, 3, 4, 5), 4)
    of = topology(job.ranks, RACKS)
    whole = layout(of, job.ranks)
    some = [whole.restricted_to(ranks) for ranks in family(job.ranks, whole.group_of[1:])]
    shapes = {part.shape(root) for part in some for root in range(part.size)}
    first = write(tmp_path / "parts", of, [rule(shape, "binomial") for shape in shapes])
    other = written(tmp_path, [Job(["m0", "m1"], 4)])
    found = merge([first, *other], tmp_path / "all")
    assert not any("left out" in note for note in found.notes)
    there = {each.shape for each in found.plan.rules if each.collective == "bcast"}
    merged = layout(found.topology, job.ranks)
    for ranks in family(job.ranks, whole.group_of[1:]):
        assert merged.restricted_to(ranks).shape(0) in there


def test_the_newer_of_two_plans_for_one_thing_counts_and_a_difference_is_said(tmp_path: Path) -> None:
    ranks = places(hosts(0, 1), 2)
    of = topology(ranks, {})
    shape = layout(of, ranks).shape(0)
    old = write(
        tmp_path / "old",
        of,
        [rule(shape, "binomial", 1, 999), rule(shape, "chain", 1000, 100000, gain=(1.7, 1.8, 1.9))],
        time="2026-01-01T00:00:00Z",
    )
    new = write(
        tmp_path / "new",
        of,
        [rule(shape, "flat", 500, 2000), rule(shape, "native", 50000, 60000, gain=(1, 1, 1))],
        time="2026-02-01T00:00:00Z",
    )
    for given_order in ((old, new), (new, old)):
        found = merge(given_order, tmp_path / "all")
        kept = [(rule.min_bytes, rule.max_bytes, rule.recipe) for rule in found.plan.rules]
        assert kept == [
            (1, 499, "binomial"),
            (500, 2000, "flat"),
            (2001, 49999, "chain"),
            (50000, 60000, "native"),
            (60001, 100000, "chain"),
        ]
        (line,) = found.notes
        assert "differ beyond their intervals" in line
        assert "native 1.00x" in line
        assert f"in {new}, which is newer and counts" in line


def test_plans_that_agree_within_their_noise_say_nothing(tmp_path: Path) -> None:
    job = Job(hosts(0, 1), 2)
    assert merge(written(tmp_path, [job, job]), tmp_path / "all").notes == ()


def test_plans_of_two_libraries_are_refused(tmp_path: Path) -> None:
    of = topology(places(hosts(0, 1), 2), {})
    one = write(tmp_path / "one", of, [])
    for other in (
        MpiLibrary("Open MPI v4.1.4, package: x", "3.1", "libmpi.so.40"),
        structs.replace(LIBRARY, library="MPICH Version: 4.1.2"),
    ):
        two = write(tmp_path / other.library.replace(" ", ""), of, [], library=other)
        with pytest.raises(IsochroneError, match="a plan belongs to one MPI library"):
            merge([one, two], tmp_path / "all")
    assert not (tmp_path / "all").exists()


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


@pytest.mark.parametrize("name", CLASSES)
def test_what_was_measured_of_each_pair_is_there_again(tmp_path: Path, name: str) -> None:
    jobs = CLASSES[name]
    merge(written(tmp_path, jobs), tmp_path / "all")
    found = read_measurements(tmp_path / "all" / "measurements.jsonl")
    topology_of_all = read_topology(tmp_path / "all" / "topology.json")
    assert found.places == tuple(topology_of_all.places[place] for place in topology_of_all.ranks)
    rank_at = {(place.host, place.cpus): rank for rank, place in enumerate(found.places)}
    last: dict[tuple[int, int], np.ndarray] = {}
    for job in jobs:
        own = measurements(topology(job.ranks, RACKS))
        for a, first in enumerate(job.ranks):
            for b, second in enumerate(job.ranks):
                if a != b:
                    pair = rank_at[first.host, first.cpus], rank_at[second.host, second.cpus]
                    last[pair] = own.rtt_min_s[own.find(a, b)]
    for pair, times in last.items():
        np.testing.assert_allclose(found.rtt_min_s[found.find(*pair)], times)
    assert found.pairs_measured * 2 == len(last)
    firsts = [tuple(rank_at[place.host, place.cpus] for place in job.ranks[:2]) for job in jobs]
    assert [stream.pairs for stream in found.streams] == [(pair,) for pair in firsts]
    assert found.ended


@pytest.mark.parametrize("name", ["more ranks", "overlapping", "disjoint"])
def test_a_merged_survey_is_reported_and_explained(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = written(tmp_path, CLASSES[name])
    output = tmp_path / "all"
    assert main(["merge", *map(str, folders), "-o", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rules"].keys() == {"barrier", "bcast"}
    assert main(["report", str(output), "--json"]) == 0
    assert (output / "report.html").exists()
    assert not (output / "bench.jsonl").exists()
    survey = read_survey(output / "survey.json")
    assert [part.name for part in survey.merged] == ["s0", "s1"]
    capsys.readouterr()
    job = CLASSES[name][0]
    found = explain(output / "plan.json", "bcast", 4096, len(job.hosts), job.cores, 0)
    assert found.rule is not None
    # Once more, into the same folder, and from a merged survey.
    assert main(["merge", *map(str, folders), "-o", str(output)]) == 0
    assert main(["merge", str(output), str(folders[0]), "-o", str(tmp_path / "more")]) == 0


def test_a_survey_is_not_overwritten(tmp_path: Path) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    before = (one / "plan.json").read_bytes()
    (third,) = written(tmp_path / "third", CLASSES["disjoint"][:1])
    for output, words in ((one, "is one of the surveys"), (third, "would be lost")):
        with pytest.raises(UsageError, match=words):
            merge([one, two], output)
    with pytest.raises(UsageError, match="one survey alone"):
        merge([one], tmp_path / "all")
    assert (one / "plan.json").read_bytes() == before


def test_nothing_is_written_where_a_file_of_a_survey_is_damaged(tmp_path: Path) -> None:
    folders = written(tmp_path, CLASSES["more ranks"])
    whole = (folders[1] / "survey.json").read_bytes()
    (folders[1] / "survey.json").write_bytes(whole[:20])
    with pytest.raises(IsochroneError, match="damaged JSON"):
        merge(folders, tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_merge_that_was_stopped_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    folders = written(tmp_path, CLASSES["more ranks"])
    with monkeypatch.context() as patched:
        patched.setattr("isochrone.steps.merge.write_topology", stop)
        with pytest.raises(KeyboardInterrupt):
            merge(folders, tmp_path / "all")
    merge(folders, tmp_path / "all")
    assert read_plan(tmp_path / "all" / "plan.json").rules


def test_a_host_like_others_gets_the_inner_tree_of_the_one_with_most_ranks(tmp_path: Path) -> None:
    merge(written(tmp_path, [Job(hosts(0, 1, 2, 3), 1), Job(hosts(2, 3), 4)]), tmp_path / "all")
    strangers = places(["x8", "x9"], 4)
    there = layout(read_topology(tmp_path / "all" / "topology.json"), strangers)
    assert there.shape().endswith(" 2x4; socket 4x2")


@pytest.mark.parametrize("name", CLASSES)
def test_hosts_that_no_survey_had_run_as_by_one_survey_alone(tmp_path: Path, name: str) -> None:
    jobs = CLASSES[name]
    folders = written(tmp_path, jobs)
    merge(folders, tmp_path / "all")
    merged = read_topology(tmp_path / "all" / "topology.json")
    held = 0
    for folder, job in zip(folders, jobs, strict=True):
        strangers = tuple(structs.replace(place, host=f"x{place.host}") for place in job.ranks)
        own, reason = chosen(folder, strangers, "bcast", 4096)
        if not reason.startswith("measured"):
            continue
        held += 1
        recipe, reason = chosen(tmp_path / "all", strangers, "bcast", 4096)
        assert reason.startswith("measured"), (job, reason)
        there, before = layout(merged, strangers), layout(read_topology(folder / "topology.json"), strangers)
        same_shape = [one for one in jobs if layout(merged, one.ranks).shape(0) == there.shape(0)]
        if len({len(one.ranks) for one in jobs}) == len(jobs) and len(same_shape) < 2:
            for rank in range(there.size):
                assert _peers(there, recipe, rank) == _peers(before, own, rank)
    assert held or name in ("one a node, then all", "overlapping")


def test_plans_for_a_run_are_merged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = written(tmp_path, CLASSES["overlapping"])
    files = [folder / "plan.json" for folder in folders]
    for folder in folders:
        # What a run does without.
        (folder / "measurements.jsonl").unlink()
    path, _ = merged_plan(files)
    stamp = path.stat().st_mtime_ns
    assert merged_plan(files)[0] == path
    assert path.stat().st_mtime_ns == stamp
    assert merged_plan(files[::-1])[0] != path
    assert [each.name for each in path.parent.parent.iterdir() if each.name.startswith(".")] == []
    recipe, _ = chosen(path.parent, CLASSES["overlapping"][0].ranks, "bcast", 4096)
    assert recipe.startswith("hierarchical")


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
