# SPDX-License-Identifier: BSD-3-Clause
"""What a plan would run, said without a job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs
from planned import EVIDENCE, LINKS

from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import (
    Level,
    LibraryReference,
    MessageCost,
    Place,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    read_plan,
    write_plan,
    write_topology,
)
from isochrone.files.plan import Surveyed
from isochrone.steps.explain import explain
from isochrone.steps.learn import learned_beside

WHOLE = "8 ranks in one machine; node 2x4; socket 4x2"
ROOTED = f"{WHOLE}; root in 4/2"
RECIPE = "hierarchical(machine=binomial,node=chain)@4096"


def _topology() -> Topology:
    """Two nodes of two sockets of two cores; ranks are dealt out to the sockets in turn."""
    places = tuple(Place(f"n{node}", str(cpu), "a node") for node in range(2) for cpu in range(4))
    levels = (
        Level("machine", (tuple(range(8)),), 1.0, structs.replace(LINKS, latency_s=1e-5)),
        Level("node", ((0, 1, 2, 3), (4, 5, 6, 7)), 1.0, LINKS),
        Level("socket", ((0, 1), (2, 3), (4, 5), (6, 7)), 1.0, structs.replace(LINKS, latency_s=1e-7)),
    )
    return Topology(places, (0, 2, 1, 3, 4, 6, 5, 7), levels)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan for all ranks."""
    topology = _topology()
    write_topology(tmp_path / "topology.json", topology)
    rules = (
        Rule("bcast", ROOTED, 1, 999, "native", EVIDENCE),
        Rule("bcast", ROOTED, 1000, 1 << 20, RECIPE, EVIDENCE),
        Rule("barrier", WHOLE, 0, 0, "dissemination", EVIDENCE),
        Rule("alltoallv", WHOLE, 0, 0, "pairwise", EVIDENCE),
    )
    names = ("machine", "node", "socket")
    made = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json", names),
        mpi=LibraryReference("MPICH 4.0.2", "libmpich.so.12"),
        rules=rules,
    )
    write_plan(tmp_path / "plan.json", made)
    return tmp_path / "plan.json"


@pytest.mark.parametrize(
    ("collective", "size_bytes", "root", "recipe"),
    [
        ("bcast", 4096, 0, RECIPE),
        ("bcast", 4096, 7, RECIPE),
        ("bcast", 10, 0, "native"),
        ("barrier", 0, 0, "dissemination"),
        ("alltoallv", 5000, 0, "pairwise"),
    ],
)
def test_the_rule_and_its_evidence_are_told(
    plan: Path, collective: str, size_bytes: int, root: int, recipe: str
) -> None:
    found = explain(plan, collective, size_bytes, None, None, root)
    assert found.recipe == recipe
    assert found.rule is not None
    assert found.rule.recipe == recipe
    assert found.reason.startswith("measured")
    assert (found.ranks, found.trials, found.unseen) == (8, (), 0)


def test_the_job_that_was_surveyed_has_its_ranks_in_the_order_of_the_survey(tmp_path: Path) -> None:
    cyclic = structs.replace(_topology(), ranks=(0, 4, 1, 5, 2, 6, 3, 7))
    levels = tuple(
        structs.replace(level, groups=groups)
        for level, groups in zip(
            cyclic.levels,
            (((0, 1, 2, 3, 4, 5, 6, 7),), ((0, 2, 4, 6), (1, 3, 5, 7)), ((0, 2), (4, 6), (1, 3), (5, 7))),
            strict=True,
        )
    )
    topology = structs.replace(cyclic, levels=levels)
    write_topology(tmp_path / "topology.json", topology)
    made = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json", ("machine", "node", "socket")),
        mpi=LibraryReference("MPICH 4.0.2", "libmpich.so.12"),
        rules=(Rule("bcast", ROOTED, 1, 1 << 20, RECIPE, EVIDENCE, order="cyclic"),),
    )
    write_plan(tmp_path / "plan.json", made)
    assert explain(tmp_path / "plan.json", "bcast", 4096, None, None, 0).recipe == RECIPE
    # Another job has them host by host.
    assert explain(tmp_path / "plan.json", "bcast", 4096, 2, 4, 0).recipe == "native"


def test_all_nodes_by_number_are_the_job_that_was_surveyed(plan: Path) -> None:
    """Its sockets are dealt in turn, which is another order than block."""
    whole = explain(plan, "bcast", 4096, None, None, 0)
    for rule in (whole.rule, None):
        given = read_plan(plan)
        order = None if rule is None else "block"
        rules = tuple(structs.replace(each, order=order) for each in given.rules)
        write_plan(plan, structs.replace(given, rules=rules))
        found = explain(plan, "bcast", 4096, None, None, 0)
        for nodes, per_node in ((2, None), (2, 4), (None, 4)):
            assert explain(plan, "bcast", 4096, nodes, per_node, 0) == found


def test_what_jobs_have_left_is_in_the_plan_without_a_run(plan: Path) -> None:
    given = read_plan(plan)
    learned = {
        "isochrone": "learned",
        "schema_version": 1,
        "topology": {"fingerprint": given.fingerprint},
        "mpi": {"library": given.mpi.library, "abi": given.mpi.abi},
        "rules": [],
    }
    live = structs.replace(given.rules[1], recipe="flat", basis="live")
    learned["rules"] = structs.replace(given, rules=(live,)).document()["rules"]
    folder = learned_beside(plan)
    folder.mkdir()
    (folder / "1.json").write_text(json.dumps(learned))
    (folder / "2.json").write_text("{")
    before = plan.read_bytes()
    assert explain(plan, "bcast", 4096, None, None, 0).basis == "live"
    assert plan.read_bytes() == before
    assert len(list(folder.glob("*.json"))) == 2


def test_of_reductions_it_says_what_runs_for_sums_of_floating_point_numbers(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said() -> list[str]:
        assert main(["plan", "explain", "allreduce", "4KiB", "--plan", str(plan)]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("sums:")]

    given = read_plan(plan)
    measured = Rule("allreduce", WHOLE, 1, 1 << 20, "binomial", EVIDENCE)
    live = structs.replace(measured, basis="live")
    surveyed = structs.replace(live, surveyed=Surveyed("ring", EVIDENCE))
    own = "sums:  of floating-point numbers are the library's own, except with --trials all"
    assert said() == [own]
    for rule, recipe in ((measured, None), (live, "native"), (surveyed, "ring")):
        write_plan(plan, structs.replace(given, rules=(rule,)))
        found = said()
        assert len(found) == (recipe is not None)
        assert recipe is None or found[0].startswith(f"sums:  of floating-point numbers run {recipe}: ")
    assert explain(plan, "bcast", 4096, None, None, 0).for_floats is None


@pytest.mark.parametrize(
    ("nodes", "per_node", "shape", "unseen"),
    [
        (1, None, "4 ranks in one node; socket 2x2; root in 2", 0),
        (2, 1, "2 ranks in one machine; node 2x1; root in 1", 0),
        # The first CPUs of a node, not its first ranks, which are on both sockets.
        (2, 2, "4 ranks in one machine; node 2x2; root in 2", 0),
        (3, None, "12 ranks in one machine; node 3x4; socket 6x2; root in 4/2", 1),
        (1, 1, "1 ranks in one socket", 0),
    ],
)
def test_other_jobs_run_native_and_the_model_has_its_say(
    plan: Path, nodes: int, per_node: int | None, shape: str, unseen: int
) -> None:
    found = explain(plan, "bcast", 65536, nodes, per_node, 0)
    assert (found.shape, found.recipe, found.rule, found.unseen) == (shape, "native", None, unseen)
    assert found.reason == f"this shape was not measured: {shape}"
    assert found.elsewhere == (ROOTED,)
    if found.ranks == 1:
        assert found.trials == ()
    else:
        assert found.trials
        assert 1 <= len(found.trials) <= 3
        times_s = [seconds for _, seconds in found.trials]
        assert times_s == sorted(times_s)
        assert times_s[0] > 0


def test_the_first_that_a_program_tries_sends_few_messages_where_races_found_them_slow(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def trials(messages: MessageCost | None) -> list[str]:
        write_plan(plan, structs.replace(read_plan(plan), messages=messages))
        found = explain(plan, "bcast", 1 << 20, 3, None, 0).trials
        assert found
        return [recipe for recipe, _ in found]

    cheapest = trials(None)
    assert "@" in cheapest[0]
    assert trials(MessageCost(0.0, 64)) == cheapest
    slow = trials(MessageCost(1.0, 64))
    assert "@" not in slow[0]
    assert slow[1:] == [recipe for recipe in cheapest if recipe != slow[0]][: len(slow) - 1]
    assert main(["plan", "explain", "bcast", "1MiB", "--plan", str(plan), "--nodes", "3"]) == 0
    (first,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("trial: ")]
    assert slow[0] in first
    assert first.endswith("others less, but the races of the plan found messages slow")


@pytest.mark.parametrize(("nodes", "most_s"), [(4000, 5.0), (3, 0.0)], ids=["ranks", "time"])
def test_what_takes_too_long_to_price_is_left_out(
    plan: Path, nodes: int, most_s: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("isochrone.steps.explain._PRICING_S", most_s)
    found = explain(plan, "bcast", 65536, nodes, None, 0)
    assert found.basis == "predicted"
    assert found.trials is None
    assert found.document()["trials"] is None
    assert main(["plan", "explain", "bcast", "64KiB", "--plan", str(plan), "--nodes", str(nodes)]) == 0
    assert "takes too long" in capsys.readouterr().out


def test_names_that_levels_have_now_do_not_matter(plan: Path) -> None:
    before = _topology()
    levels = tuple(structs.replace(level, name=f"group-{at}") for at, level in enumerate(before.levels, 1))
    write_topology(plan.with_name("topology.json"), structs.replace(before, levels=levels))
    assert explain(plan, "bcast", 4096, None, None, 0).recipe == RECIPE

    made = read_plan(plan)
    topology = structs.replace(made.topology, levels=("machine", "node"))
    write_plan(plan, structs.replace(made, topology=topology))
    with pytest.raises(IsochroneError, match="the plan has 2 levels, and its topology 3; tune again"):
        explain(plan, "bcast", 4096, None, None, 0)


def test_ranks_that_are_not_bound_share_their_host(tmp_path: Path, plan: Path) -> None:
    places = (Place("n0", None, ""), Place("n1", None, ""))
    levels = (Level("machine", ((0, 1),), 1.0, LINKS), Level("node", ((0,), (1,)), 1.0, LINKS))
    topology = Topology(places, (0, 0, 1, 1), levels)
    write_topology(tmp_path / "topology.json", topology)
    write_plan(
        plan,
        Plan(
            topology=PlannedTopology(topology.fingerprint, "topology.json"),
            mpi=LibraryReference("MPICH 4.0.2", "libmpich.so.12"),
            rules=(),
        ),
    )
    assert explain(plan, "bcast", 8, None, 5, 0).shape == "10 ranks in one machine; node 2x5; root in 5"
    for per_node in (40_000, 10**20):
        with pytest.raises(UsageError, match="more than 65536 ranks"):
            explain(plan, "bcast", 8, None, per_node, 0)


def test_what_cannot_be_is_refused(plan: Path) -> None:
    for collective, size_bytes, nodes, per_node, root in (
        ("barrier", 8, None, None, 0),
        ("barrier", 0, None, None, 1),
        ("bcast", 8, None, None, 8),
        ("bcast", 8, None, 5, 0),
        ("bcast", 8, 1 << 20, None, 0),
        ("bcast", 8, None, 10**20, 0),
    ):
        with pytest.raises(UsageError):
            explain(plan, collective, size_bytes, nodes, per_node, root)
    other = structs.replace(_topology(), levels=_topology().levels[:2])
    write_topology(plan.with_name("topology.json"), other)
    with pytest.raises(IsochroneError, match="made for another topology"):
        explain(plan, "bcast", 8, None, None, 0)


def test_the_command_prints_text_or_json(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["plan", "explain", "bcast", "64KiB", "--plan", str(plan.parent)]
    assert main(line) == 0
    out = capsys.readouterr().out
    assert f"runs:  {RECIPE}\n" in out
    assert "2.00x (95 % interval 1.90 to 2.10) from 20 repetitions\n" in out
    assert main([*line, "--nodes", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ranks"], document["recipe"], document["unseen_hosts"]) == (12, "native", 1)
    assert document["trials"][0]["predicted_s"] > 0
    assert main([*line, "--nodes", "3"]) == 0
    assert "1 node not surveyed, and taken to be like the others\n" in capsys.readouterr().out
    assert main(["plan", "explain", "bcast", "64KiX", "--plan", str(plan)]) == 2
