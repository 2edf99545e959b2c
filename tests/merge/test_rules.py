# SPDX-License-Identifier: BSD-3-Clause
"""Rules of a merged plan: what its jobs run, and which of two rules counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from jobs import CLASSES, RACKS, Job, chosen, hosts, peers, written
from msgspec import structs
from surveyed import LIBRARY, layout, places, rule, topology, write

from isochrone import _core
from isochrone.errors import IsochroneError
from isochrone.files import (
    MpiLibrary,
    Rule,
    Topology,
    read_plan,
    read_topology,
    write_plan,
)
from isochrone.files.plan import Surveyed
from isochrone.steps.merge import merge
from isochrone.tune.family import family


def two_hosts() -> tuple[Topology, str]:
    """The topology of four ranks on two hosts, and the shape of all of them."""
    ranks = places(hosts(0, 1), 2)
    of = topology(ranks, {})
    return of, layout(of, ranks).shape(0)


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
                assert peers(there, recipe, rank) == peers(before, own, rank)
        assert chosen(tmp_path / "all", job.ranks, "barrier", 0)[0] == "dissemination"


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
    of, shape = two_hosts()
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
        assert "1 of 2 rules that two plans have differ beyond their intervals" in line
        assert "native 1.00x" in line
        assert f"in {new}, which is newer and counts" in line


def test_a_rule_that_differs_from_several_counts_once(tmp_path: Path) -> None:
    of, shape = two_hosts()
    old = write(
        tmp_path / "old",
        of,
        [rule(shape, "chain", 1, 100000, gain=(1.7, 1.8, 1.9))],
        time="2026-01-01T00:00:00Z",
    )
    natives = [rule(shape, "native", size, size + 9, gain=(1, 1, 1)) for size in (10, 100, 1000)]
    new = write(tmp_path / "new", of, natives, time="2026-02-01T00:00:00Z")
    (line,) = merge((old, new), tmp_path / "all").notes
    assert line.startswith("1 of 1 rules that two plans have differ beyond their intervals")


def test_what_was_learned_later_makes_nothing_that_was_measured_before_newer(tmp_path: Path) -> None:
    of, shape = two_hosts()
    live = structs.replace(rule(shape, "ring", 1000, 1999), basis="live")
    old = write(tmp_path / "old", of, [rule(shape, "binomial", 1, 999), live])
    plan = read_plan(old / "plan.json")
    learned = {"learned": "2026-03-01T00:00:00Z"}
    write_plan(old / "plan.json", structs.replace(plan, provenance=plan.provenance | learned))
    new = write(tmp_path / "new", of, [rule(shape, "flat", 1, 5000)], time="2026-02-01T00:00:00Z")
    expected = [(1, 999, "flat"), (1000, 1999, "ring"), (2000, 5000, "flat")]
    for given_order in ((old, new), (new, old)):
        found = merge(given_order, tmp_path / "all").plan
        assert _kept(found.rules, None) == expected
        assert found.provenance["time"] == "2026-02-01T00:00:00Z"
        assert found.provenance["learned"] == learned["learned"]
    # And so once more, with a survey of a time between.
    later = write(tmp_path / "later", of, [rule(shape, "chain", 1, 1500)], time="2026-02-15T00:00:00Z")
    found = merge((tmp_path / "all", later), tmp_path / "more").plan
    assert _kept(found.rules, None) == [
        (1, 999, "chain"),
        (1000, 1999, "ring"),
        (2000, 5000, "flat"),
    ]


def test_a_reduction_that_was_learned_takes_along_what_a_survey_has_measured_last(tmp_path: Path) -> None:
    """What it has taken along before is as old as its plan, not as what was learned."""
    of, shape = two_hosts()
    shape = shape.partition("; root")[0]
    live = structs.replace(rule(shape, "ring", 1000, 1999), collective="allreduce", basis="live")
    before = Surveyed("hierarchical(machine=binomial,node=flat)", live.evidence)
    old = write(tmp_path / "old", of, [structs.replace(live, surveyed=before)])
    plan = read_plan(old / "plan.json")
    learned = {"learned": "2026-03-01T00:00:00Z"}
    write_plan(old / "plan.json", structs.replace(plan, provenance=plan.provenance | learned))

    def measured(name: str, recipe: str, month: int) -> Path:
        mine = structs.replace(rule(shape, recipe, 1, 1499), collective="allreduce")
        return write(tmp_path / name, of, [mine], time=f"2026-02-{month:02}T00:00:00Z")

    def found(*folders: Path) -> list[tuple[int, int, str, str | None]]:
        target = tmp_path / "-".join(folder.name for folder in folders)
        return [
            (each.min_bytes, each.max_bytes, each.recipe, each.surveyed and each.surveyed.recipe)
            for each in merge(folders, target).plan.rules
        ]

    new, later, same = (
        measured("new", "binomial", 1),
        measured("later", "flat", 15),
        measured("same", "ring", 20),
    )
    rest = (1500, 1999, "ring", before.recipe)
    expected = [(1, 999, "binomial", None), (1000, 1499, "ring", "binomial"), rest]
    assert found(old, new) == found(new, old) == expected
    expected = [(1, 999, "flat", None), (1000, 1499, "ring", "flat"), rest]
    assert found(old, new, later) == found(later, new, old) == expected
    assert found(tmp_path / "old-new", later) == found(later, tmp_path / "old-new") == expected
    # Where it is what was measured it is for all.
    assert found(old, same)[0] == (1, 999, "ring", None)
    assert found(old, same)[1] == (1000, 1499, "ring", None)


def _kept(rules: Sequence[Rule], order: str | None) -> list[tuple[int, int, str]]:
    return [(rule.min_bytes, rule.max_bytes, rule.recipe) for rule in rules if rule.order == order]


def test_rules_for_several_orders_of_ranks_are_all_kept(tmp_path: Path) -> None:
    of, shape = two_hosts()
    of_old = [
        structs.replace(rule(shape, "binomial", 1, 1000), order="block"),
        structs.replace(rule(shape, "flat", 1, 1000), order="cyclic"),
    ]
    old = write(tmp_path / "old", of, of_old)
    of_new = [structs.replace(rule(shape, "chain", 500, 2000), order="block")]
    new = write(tmp_path / "new", of, of_new, time="2026-02-01T00:00:00Z")
    found = merge((old, new), tmp_path / "all").plan.rules
    assert _kept(found, "block") == [(1, 499, "binomial"), (500, 2000, "chain")]
    assert _kept(found, "cyclic") == [(1, 1000, "flat")]


@pytest.mark.parametrize("newer", ["for-any", "for-one"])
def test_rules_for_any_order_hold_beside_those_of_another_plan_for_one(tmp_path: Path, newer: str) -> None:
    of, shape = two_hosts()
    rules = {
        "for-any": rule(shape, "binomial", 1, 1000),
        "for-one": structs.replace(rule(shape, "chain", 500, 2000), order="block"),
    }
    folders = [
        write(tmp_path / name, of, [one], time=f"2026-0{1 + (name == newer)}-01T00:00:00Z")
        for name, one in rules.items()
    ]
    found = merge(folders, tmp_path / "all").plan.rules
    assert _kept(found, None) == [(1, 1000, "binomial")]
    assert _kept(found, "block") == (
        [(1, 1000, "binomial"), (1001, 2000, "chain")]
        if newer == "for-any"
        else [(1, 499, "binomial"), (500, 2000, "chain")]
    )


def test_orders_of_ranks_are_those_of_the_merged_levels(tmp_path: Path) -> None:
    """Ranks on hosts in turn from two racks are in block, as long as nobody knows of racks."""
    ranks = places(hosts(0, 4, 1, 5), 2)
    of = topology(ranks, {})
    there = layout(of, ranks)
    assert there.order() == "block"
    first = write(tmp_path / "a", of, [structs.replace(rule(there.shape(0), "chain"), order="block")])
    found = merge([first, *written(tmp_path, [Job(hosts(*range(8)), 2)])], tmp_path / "all")
    merged = layout(found.topology, ranks)
    assert merged.order() not in ("block", there.order())
    (moved,) = (one for one in found.plan.rules if one.shape == merged.shape(0) and one.recipe == "chain")
    assert moved.order == merged.order()
    assert chosen(tmp_path / "all", ranks, "bcast", 4096)[1].startswith("measured")


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
        if name == "joined by the last":
            # The last survey found racks, and strangers may be in different ones.
            assert "was not measured" in reason, (job, reason)
            continue
        assert reason.startswith("measured"), (job, reason)
        there, before = layout(merged, strangers), layout(read_topology(folder / "topology.json"), strangers)
        same_shape = [one for one in jobs if layout(merged, one.ranks).shape(0) == there.shape(0)]
        if len({len(one.ranks) for one in jobs}) == len(jobs) and len(same_shape) < 2:
            for rank in range(there.size):
                assert peers(there, recipe, rank) == peers(before, own, rank)
    assert held or name in ("one a node, then all", "overlapping")
