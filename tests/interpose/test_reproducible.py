# SPDX-License-Identifier: BSD-3-Clause
"""With ISOCHRONE_REPRODUCIBLE sums have the same bits wherever ranks are and whatever the plan says."""

from __future__ import annotations

from pathlib import Path

import pytest
from interposed import PROGRAMS, compiled, launched, on_plan
from msgspec.structs import replace
from planned import EVIDENCE, LINKS, Bench, said

from isochrone import _core
from isochrone.files import (
    Level,
    LibraryReference,
    Plan,
    PlannedTopology,
    Rule,
    Topology,
    read_measurements,
    write_plan,
    write_topology,
)

_RANKS = 6
_HOSTS = "abc"
# Where the ranks are, and what the plan says for reductions and allreduces there.
_PLACEMENTS = [
    ("aaaaaa", "chain", "ring"),
    ("aaabbb", "hierarchical(machine=flat,node=binomial)", "hierarchical(machine=ring,node=chain+flat)"),
    ("ababab", "hierarchical(machine=chain,node=flat)", "rabenseifner"),
    ("aabbcc", "knomial/3@100", "recursive_doubling@4096"),
    ("cabbba", "ordered(chain)", "hierarchical(machine=flat,node=flat)@512"),
    ("abcabc", "native", "native"),
    ("cccbba", "", ""),  # nothing was measured
]


@pytest.fixture(scope="module")
def sums(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of sums."""
    return compiled(bench, tmp_path_factory.mktemp("sums") / "sums", PROGRAMS / "sums.c", "-lm")


@pytest.fixture(scope="module")
def hosts(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A preload with which ranks seem to be on several hosts."""
    output = tmp_path_factory.mktemp("hosts") / "hosts.so"
    return compiled(bench, output, "-shared", "-fPIC", PROGRAMS / "hosts.c")


def _plan(bench: Bench, folder: Path, hosts: str, reduce: str, allreduce: str) -> Path:
    """A plan for some ranks on hosts that are nodes of one machine."""
    folder.mkdir(exist_ok=True)
    measured = read_measurements(bench.folder / "m.jsonl")
    places = tuple(replace(measured.places[0], host=host, cpus=None) for host in _HOSTS)
    nodes = tuple((place,) for place in range(len(places)))
    levels = (Level("machine", ((0, 1, 2),), 1.0, LINKS), Level("node", nodes, 1.0, LINKS))
    topology = Topology(places, tuple(_HOSTS.index(host) for host in hosts), levels)
    write_topology(folder / "topology.json", topology)
    ranks = [(host, None, places[0].signature) for host in hosts]
    layout = _core.match((folder / "topology.json").read_text(), ranks)
    rules = [Rule("reduce", layout.shape(root), 0, 1 << 40, reduce, EVIDENCE) for root in range(len(hosts))]
    rules += [Rule("allreduce", layout.shape(0).split("; root")[0], 0, 1 << 40, allreduce, EVIDENCE)]
    once = {(rule.collective, rule.shape): rule for rule in rules if rule.recipe}
    mpi = measured.mpi
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json"),
        mpi=LibraryReference(mpi.library, mpi.abi),
        rules=tuple(once.values()),
    )
    write_plan(folder / "plan.json", plan)
    return folder / "plan.json"


def _bits(
    bench: Bench, folder: Path, sums: Path, hosts: Path, placement: tuple[str, str, str], reproducible: str
) -> list[str]:
    plan = _plan(bench, folder / placement[0], *placement)
    done = launched(
        bench,
        ("-n", str(len(placement[0])), sums, "all"),
        before=["env", f"LD_PRELOAD={hosts}", *on_plan(plan)],
        FAKE_HOSTS=placement[0],
        ISOCHRONE_EXPLAIN="1",
        ISOCHRONE_REPRODUCIBLE=reproducible,
    )
    assert done.returncode == 0, done.stderr
    ran = {line.split(": ")[2] for line in said(done) if " bytes" in line}
    planned = {recipe or "native" for recipe in (*placement[1:], "")}  # no rule for the others
    expected = {"binomial", "chain"} if reproducible == "1" else planned
    assert ran == expected, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4 * (3 + _RANKS + 1 + 2)
    return lines


def test_sums_have_the_same_bits_wherever_ranks_are(
    bench: Bench, sums: Path, hosts: Path, tmp_path: Path
) -> None:
    found = [_bits(bench, tmp_path, sums, hosts, placement, "1") for placement in _PLACEMENTS]
    assert all(lines == found[0] for lines in found)
    # By MPI_Allreduce on any rank and by MPI_Reduce to any root.
    whole = [line for line in found[0] if "reduce:" in line]
    assert len({(line.split()[0], line.split()[-1]) for line in whole}) == 4
    # They tell orders apart: without it there are several.
    assert len({tuple(_bits(bench, tmp_path, sums, hosts, one, "0")) for one in _PLACEMENTS[:3]}) > 1


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("gaps", "the elements of its datatype have gaps"),
        ("inter", "its communicator has ranks of another world, or is between two groups"),
    ],
)
def test_a_reduction_that_cannot_have_one_order_is_told(
    bench: Bench, sums: Path, hosts: Path, tmp_path: Path, what: str, why: str
) -> None:
    line = (
        "isochrone: allreduce: it cannot run in the one order of ISOCHRONE_REPRODUCIBLE, and the MPI "
        f"library's own runs: {why}"
    )
    plan = _plan(bench, tmp_path / "plan", "aabb", "flat", "flat")
    for reproducible, lines in ("1", {line}), ("0", set[str]()):
        done = launched(
            bench,
            ("-n", "4", sums, what),
            before=["env", f"LD_PRELOAD={hosts}", *on_plan(plan)],
            FAKE_HOSTS="aabb",
            ISOCHRONE_REPRODUCIBLE=reproducible,
        )
        assert done.returncode == 0, done.stderr
        assert set(said(done)) == lines
