# SPDX-License-Identifier: BSD-3-Clause
"""What is said of runs whose times are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from surveyed import LIBRARY, layout, places, rule, topology, write

from isochrone.advise import Advice, advice, verdict
from isochrone.cli.main import main
from isochrone.errors import IsochroneError
from isochrone.files import (
    LibraryEvidence,
    LibraryRule,
    LibraryTuning,
    TopologyFileReference,
    compared,
    read_plan,
    read_topology,
    write_library,
    write_plan,
)
from isochrone.files.profile import Profile, Timed, read_profile, write_profile
from isochrone.steps.advise import advise

HOSTS = ["n0", "n1"]
RANKS = places(HOSTS, 2)


def row(collective: str = "allreduce", seconds: float = 1.0, waiting: float = 0.0, **others: int) -> Timed:
    """So many seconds on each of four ranks in a hundred calls of 8 bytes; a share of them is waiting."""
    calls = others.get("calls", 100)
    operation_s = seconds * (1 - waiting) / calls
    of_all = 4 * seconds
    given = {"group": 0, "root": 0, "calls": calls, "bytes": 8 * calls} | others
    return Timed(
        collective,
        **given,
        seconds=of_all,
        slowest_s=seconds,
        sampled=calls,
        sampled_s=of_all,
        waiting_s=of_all * waiting,
        operation_s=operation_s,
        operation_median_s=operation_s,
    )


def profile(
    *rows: Timed, run_s: float = 10.0, groups: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3),)
) -> Profile:
    spent = sum(each.seconds for each in rows) / 4
    waited = sum(each.waiting_s for each in rows) / 4
    untimed = dict.fromkeys(("nonblocking", "persistent", "neighbours", "between_groups"), 0)
    return Profile(LIBRARY, RANKS, 1e-6, (run_s,) * 4, (spent,) * 4, (waited,) * 4, groups, rows, untimed, {})


def by_plan(found: Profile, folder: Path, gain: float = 2.0, recipe: str = "binomial") -> Advice:
    """With a plan for allreduces on all ranks."""
    of = topology(RANKS, {})
    shape = layout(of, RANKS).shape()
    plan = write(
        folder / "plan",
        of,
        [rule(shape, recipe, 1, 1000, "allreduce", (gain * 0.9, gain, gain * 1.1))],
    )
    return advice(found, read_plan(plan / "plan.json"), read_topology(plan / "topology.json"))


def test_what_is_little_of_a_run_is_not_worth_a_plan(tmp_path: Path) -> None:
    found = by_plan(profile(row(seconds=0.3)), tmp_path)
    assert verdict(found) == ["Collectives take 3 % of the run: nothing to gain here."]


@pytest.mark.parametrize("recipe", ["native", "binomial"])
def test_between_two_shapes_their_rules_say_what_is_saved(tmp_path: Path, recipe: str) -> None:
    ranks = places([f"n{i}" for i in range(8)], 1)
    of = topology(ranks, {})
    gains = {4: (2.0, 2.5, 3.0), 8: (1.8, 2.0, 2.2)} if recipe != "native" else {4: (1, 1, 1), 8: (1, 1, 1)}
    rules = [
        rule(layout(of, ranks[:count]).shape(), recipe, 1, 1000, "allreduce", gain)
        for count, gain in gains.items()
    ]
    plan = write(tmp_path / "plan", of, rules)
    found = replace(
        profile(row(seconds=4.0)), places=ranks[:6], groups=(tuple(range(6)),), rank_s=(10.0,) * 6
    )
    found = replace(found, collectives_s=(4.0,) * 6, waiting_s=(0.0,) * 6)
    (kind,) = advice(found, read_plan(plan / "plan.json"), read_topology(plan / "topology.json")).kinds
    assert (kind.gain.source, kind.gain.recipe) == ("interpolated", recipe)
    # Of two rules the one that promises less; the model would find a recipe in any case.
    assert kind.gain.factor == pytest.approx(1.0 if recipe == "native" else 2.0)


def test_a_rule_saves_its_part_of_the_operation(tmp_path: Path) -> None:
    found = by_plan(profile(row(seconds=4.0)), tmp_path)
    (kind,) = found.kinds
    assert (kind.gain.source, kind.gain.factor, kind.gain.recipe) == ("measured", 2.0, "binomial")
    assert kind.share == pytest.approx(0.4)
    assert found.saved_share == found.saved_measured_share == pytest.approx(0.2)
    assert any(
        "allreduce of 8 B on 4 ranks takes 40 % of the run; the plan makes it 2.0x as fast" in line
        for line in verdict(found)
    )


def unsampled(given: Timed) -> Timed:
    return structs.replace(
        given, sampled=0, sampled_s=0.0, waiting_s=0.0, operation_s=0.0, operation_median_s=0.0
    )


@pytest.mark.parametrize("others", [(), (row(seconds=0.01, calls=1),)])
def test_what_faster_calls_save_is_open_where_none_was_sampled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], others: tuple[Timed, ...]
) -> None:
    given = profile(unsampled(row(seconds=4.0)), *others)
    found = by_plan(given, tmp_path)
    kind = found.kinds[0]
    assert (kind.gain.factor, kind.saved_share) == (2.0, None)
    assert kind.most_saved_share == pytest.approx(0.2)
    said = " ".join(verdict(found))
    assert "the plan makes it 2.0x as fast: at most 20 % of the run" in said
    assert "waiting is not known: several threads" in said
    assert "nothing to gain" not in said
    write_profile(tmp_path / "profile.json", given)
    words = ["advise", "--profile", str(tmp_path / "profile.json"), "--plan", str(tmp_path / "plan")]
    assert main(words) == 0
    line = capsys.readouterr().out.splitlines()[2]
    assert line.split()[line.split().index("2.00x") + 1] == "?"


def test_a_gain_of_a_few_ranks_or_of_little_is_not_called_none(tmp_path: Path) -> None:
    little = structs.replace(row(seconds=4.0), operation_s=1e-5, operation_median_s=1e-5)
    assert verdict(by_plan(profile(little), tmp_path / "little"))[-1] == (
        "What is faster for these calls saves less than 0.5 % of the run: nothing to gain here."
    )
    # The median over ranks is nothing where most are not of the group.
    few = replace(by_plan(profile(row(seconds=4.0)), tmp_path / "few"), saved_share=0.0)
    assert "the plan makes it" in " ".join(verdict(few))


def test_waiting_is_saved_by_nothing(tmp_path: Path) -> None:
    found = by_plan(profile(row(seconds=5.0, waiting=0.8)), tmp_path)
    assert found.saved_share == pytest.approx(0.05)
    assert found.waiting == pytest.approx(0.8)
    assert verdict(found)[1].startswith("The program waits: 80 % of the time in allreduce")


def test_a_program_that_only_waits_has_nothing_to_gain(tmp_path: Path) -> None:
    lines = verdict(by_plan(profile(row(seconds=5.0, waiting=0.99)), tmp_path))
    assert lines[1].startswith("The program waits: 99 %")
    assert "nothing to gain here" in lines[2]


def test_a_rule_that_keeps_to_the_library_s_own_says_that_nothing_is_to_be_gained(tmp_path: Path) -> None:
    found = by_plan(profile(row(seconds=4.0)), tmp_path, 1.0, "native")
    assert found.saved_share == 0
    assert verdict(found)[-1] == "Nothing faster is known for these calls: nothing to gain here."


def test_what_no_rule_covers_is_predicted_and_marked(tmp_path: Path) -> None:
    found = by_plan(profile(row("bcast", 4.0), row("allreduce", 2.0)), tmp_path)
    sources = {kind.collective: kind.gain.source for kind in found.kinds}
    assert sources == {"bcast": "predicted", "allreduce": "measured"}
    assert found.saved_measured_share == pytest.approx(0.1)
    assert found.saved_share > found.saved_measured_share
    assert any("the model (not measured)" in line for line in verdict(found))


def test_what_is_predicted_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    halves = ((0, 2), (1, 3))
    seldom = row("bcast", 0.01, calls=1, bytes=1000)
    often = row("bcast", 4.0, calls=300_000, bytes=300_000_000, group=1)
    never = structs.replace(seldom, sampled=0, sampled_s=0.0, operation_s=0.0, operation_median_s=0.0)
    for at, other in enumerate((seldom, never, structs.replace(seldom, bytes=600))):
        found, turned = (
            by_plan(profile(*rows, groups=halves), tmp_path / f"{at} {rows[0].group}")
            for rows in ((other, often), (often, other))
        )
        assert found.saved_share == pytest.approx(turned.saved_share)
        assert 0 < found.saved_share < 0.4
        assert sorted(kind.gain.factor for kind in found.kinds) == pytest.approx(
            sorted(kind.gain.factor for kind in turned.kinds)
        )


@pytest.mark.parametrize("recipe", ["native", "binomial"])
def test_what_the_library_is_told_counts_too(tmp_path: Path, recipe: str) -> None:
    of = topology(RANKS, {})
    plan = write(
        tmp_path / "plan",
        of,
        [
            rule(layout(of, RANKS).shape(), recipe, 1, 1000, "allreduce", (1.4, 1.5, 1.6)),
            rule(layout(of, RANKS).shape(), "native", 0, 0, "barrier", (1.0, 1.0, 1.0)),
        ],
    )
    own = LibraryEvidence(native_s=1.0, recipe_s=0.5, speedup=2.0, speedup_ci=(1.8, 2.2), repetitions=9)
    tuning = LibraryTuning(
        topology=TopologyFileReference(of.fingerprint, "topology.json"),
        mpi=read_plan(plan / "plan.json").mpi,
        ranks=len(RANKS),
        rules=(
            LibraryRule("allreduce", 1, 1000, "recursive_doubling", own),
            LibraryRule("barrier", 0, 0, "recexch", own),
        ),
    )
    write_library(plan / "library.json", tuning)
    write_profile(tmp_path / "profile.json", profile(row(seconds=4.0), row("barrier", bytes=0)))

    def gains() -> dict[str, float]:
        found = advise(tmp_path / "profile.json", None, plan / "plan.json").found
        assert found is not None
        return {kind.collective: kind.gain.factor for kind in found.kinds}

    # A plan with recipes that were not compared with it: then it is not told.
    before = gains()
    assert before["allreduce"] == pytest.approx(2.0 if recipe == "native" else 1.5)
    write_plan(plan / "plan.json", compared(read_plan(plan / "plan.json"), tuning))
    # Not of barriers: the library cannot be told that by its file.
    assert before["barrier"] == 1.0
    assert gains() == pytest.approx({**before, "allreduce": 2.0 if recipe == "native" else 3.0})


@pytest.mark.parametrize(
    # Of blocks that differ no rank knows what others have: one rule is for all sizes.
    ("collective", "first", "last"),
    [("bcast", 1, 1000), ("alltoallv", 0, 0)],
)
def test_what_the_library_is_told_is_gained_where_the_plan_has_no_rule(
    tmp_path: Path, collective: str, first: int, last: int
) -> None:
    of = topology(RANKS, {})
    plan = write(
        tmp_path / "plan",
        of,
        [rule(layout(of, RANKS).shape(), "native", 1, 1000, "reduce", (1.0, 1.0, 1.0))],
    )
    own = LibraryEvidence(native_s=1.0, recipe_s=0.5, speedup=2.0, speedup_ci=(1.8, 2.2), repetitions=9)
    told = LibraryRule(collective, first, last, "scattered" if first == 0 else "binomial", own)
    mpi = read_plan(plan / "plan.json").mpi
    reference = TopologyFileReference(of.fingerprint, "topology.json")
    write_profile(tmp_path / "profile.json", profile(row(collective, 4.0)))

    def source_and_gain(tuning: LibraryTuning) -> tuple[str, float]:
        write_library(plan / "library.json", tuning)
        found = advise(tmp_path / "profile.json", None, plan / "plan.json").found
        assert found is not None
        (kind,) = found.kinds
        return kind.gain.source, kind.gain.factor

    tuning = LibraryTuning(topology=reference, mpi=mpi, ranks=len(RANKS), rules=(told,))
    assert source_and_gain(tuning) == ("measured", 2.0)
    # A library of another version is not told so.
    other = structs.replace(mpi, library=mpi.library.replace("4.0.2", "4.3.2"))
    assert other != mpi
    source, gain = source_and_gain(structs.replace(tuning, mpi=other))
    assert source != "measured"
    assert gain != 2.0


def test_ranks_of_one_shape_in_two_orders_have_each_its_own_recipe(tmp_path: Path) -> None:
    """Scans by a recipe of levels need a run of ranks in each group."""
    ranks = places([f"n{i}" for i in range(4)], 4)
    of = topology(ranks, {})
    plan = write(tmp_path / "plan", of, [])
    dealt = tuple(4 * host + core for core in range(4) for host in range(4))
    rows = (row("scan", seconds=1.0), row("scan", seconds=1.0, group=1, calls=10))
    found = replace(profile(*rows, groups=(tuple(range(16)), dealt)), places=ranks, rank_s=(10.0,) * 16)
    found = replace(found, collectives_s=(2.0,) * 16, waiting_s=(0.0,) * 16)
    for rows in (found.rows, found.rows[::-1]):
        of_both = advice(
            replace(found, rows=rows), read_plan(plan / "plan.json"), read_topology(plan / "topology.json")
        )
        assert len(of_both.kinds) == 2


def test_a_call_that_nothing_is_known_of_does_not_speak_for_all(tmp_path: Path) -> None:
    known = by_plan(
        profile(row(seconds=4.0), unsampled(row("barrier", seconds=0.01))),
        tmp_path / "known",
        recipe="native",
    )
    assert verdict(known)[-1] == "Nothing faster is known for these calls: nothing to gain here."
    unknown = by_plan(
        profile(row(seconds=0.4), unsampled(row("barrier", seconds=4.0))),
        tmp_path / "unknown",
        recipe="native",
    )
    assert "says nothing of most of these calls" in verdict(unknown)[-1]


def test_a_profile_of_calls_that_took_no_time_ends_well(tmp_path: Path) -> None:
    none = structs.replace(row(waiting=0.5), seconds=0.0)
    found = replace(profile(none), collectives_s=(5.0,) * 4)
    assert verdict(by_plan(found, tmp_path))[0] == "Collectives take 50 % of the run."


def test_savings_of_groups_at_the_same_time_do_not_add_up(tmp_path: Path) -> None:
    of = topology(RANKS, {})
    halves = (RANKS[:2], RANKS[2:])
    shape = layout(of, halves[0]).shape()
    folder = write(tmp_path / "plan", of, [rule(shape, "binomial", 1, 1000, "allreduce")])
    rows = [structs.replace(row(seconds=4.0, group=group), seconds=8.0, sampled_s=8.0) for group in range(2)]
    found = advice(
        profile(*rows, groups=((0, 1), (2, 3))),
        read_plan(folder / "plan.json"),
        read_topology(folder / "topology.json"),
    )
    (kind,) = found.kinds
    assert kind.communicators == 2
    assert kind.calls == 200
    assert found.saved_share == pytest.approx(0.2)


def test_blocks_that_differ_count_with_the_mean_one(tmp_path: Path) -> None:
    found = by_plan(profile(row("allgatherv", bytes=41 * 100)), tmp_path)
    assert found.kinds[0].size_bytes == 11


def test_without_a_plan_only_a_bound_is_said() -> None:
    found = advice(profile(row(seconds=4.0, waiting=0.5)), None, None)
    assert found.open_share == pytest.approx(0.2)
    assert verdict(found)[-1] == (
        "Without a plan nothing is known of what could be saved; it is at most 20 % of the run. To know: "
        "isochrone survey."
    )


def test_a_plan_of_other_hosts_or_another_library_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strangers = tuple(structs.replace(place, host=f"x{place.host}", signature="another") for place in RANKS)
    assert by_plan(replace(profile(row()), places=strangers), tmp_path).kinds[0].gain.source == "unknown"
    library = structs.replace(LIBRARY, library="Open MPI v4.1.4, x", abi="libmpi.so.40")
    write_profile(tmp_path / "profile.json", replace(profile(row(seconds=4.0)), mpi=library))
    words = ["advise", "--profile", str(tmp_path / "profile.json"), "--plan", str(tmp_path / "plan")]
    assert main([*words, "--json"]) == 0
    done = capsys.readouterr()
    assert "advising without it" in done.err
    assert json.loads(done.out)["kinds"][0]["gain"]["source"] == "unknown"


def test_the_table_has_a_line_for_each_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = row(seconds=4.0), row("bcast", 1.0), row("alltoallv", 1.0, bytes=0)
    write_profile(tmp_path / "profile.json", profile(*rows))
    assert main(["advise", "--profile", str(tmp_path / "profile.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["allreduce", "bcast", "alltoallv"]
    assert main(["advise"]) == 2
    assert main(["advise", "--profile", str(tmp_path / "profile.json"), "--", "mpiexec", "-n", "2", "x"]) == 2


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = profile(row(), row("bcast"))
    write_profile(tmp_path / "p.json", given)
    assert read_profile(tmp_path / "p.json") == given


@pytest.mark.parametrize(
    "change",
    [
        {"groups": [[[0, 5, 1]]]},
        {"groups": [[[0, 2, 1], [1, 1, 1]]]},
        {"groups": [[[0, 1 << 24, 1]]] * 9},
        {"groups": [[[0, 1 << 20, 1]]] * 64},
        {"groups": [[[0, 1 << 20, 0]]]},
        {"groups": [[[3, 4, -1], [3, 4, -1]]]},
        {"groups": [[[0, 1, 1]]]},
        {"rank_s": [1.0]},
        {"rows": [{"collective": "bcast"}]},
        {"ranks": 3},
        {"groups": []},
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    write_profile(tmp_path / "p.json", profile(row()))
    document = json.loads((tmp_path / "p.json").read_text())
    (tmp_path / "p.json").write_text(json.dumps(document | change))
    with pytest.raises(IsochroneError):
        read_profile(tmp_path / "p.json")


@pytest.mark.parametrize("collective", ["bcast", "allgather", "alltoall", "allgatherv"])
def test_a_call_has_no_more_bytes_than_the_largest_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], collective: str
) -> None:
    largest = row(collective, 4.0, calls=1, bytes=1 << 40)
    of = topology(RANKS, {})
    write(tmp_path / "plan", of, [rule(layout(of, RANKS).shape(), "binomial", 1, 1000, "allreduce")])
    words = ["advise", "--profile", str(tmp_path / "p.json"), "--plan", str(tmp_path / "plan")]
    write_profile(tmp_path / "p.json", profile(largest))
    assert main(words) == 0
    capsys.readouterr()
    text = (tmp_path / "p.json").read_text()
    (tmp_path / "p.json").write_text(text.replace(str(1 << 40), str(1 << 53)))
    assert main(words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "rows[0] has more than 1,099,511,627,776 bytes a call" in line
