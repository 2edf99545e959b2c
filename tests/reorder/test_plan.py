# SPDX-License-Identifier: BSD-3-Clause
"""A mapped program runs on a plan too, which knows where its ranks are."""

from __future__ import annotations

from pathlib import Path

import pytest
from libraries import LAUNCHERS, bench_of, plan_of_all, recipes_run
from msgspec.structs import replace
from planned import EVIDENCE, LINKS, Bench, said
from recorded import Library
from reordered import complaints, fake_hosts, mapped, order_of, rest, write_map

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

_AT = [3, 1, 0, 2]
_HOSTS = "aaab"


@pytest.fixture(scope="module")
def bench(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    (name,) = [name for name, launcher in LAUNCHERS.items() if launcher == library.launcher]
    return bench_of(name, tmp_path_factory.mktemp("plan"))


def _plan_for_one_root(bench: Bench, folder: Path) -> Path:
    """A plan with a recipe for broadcasts from the rank that is alone on its host."""
    measured = read_measurements(bench.folder / "m.jsonl")
    places = tuple(replace(measured.places[0], host=host, cpus=None) for host in "ab")
    levels = (Level("machine", ((0, 1),), 1.0, LINKS), Level("node", ((0,), (1,)), 1.0, LINKS))
    topology = Topology(places, tuple("ab".index(host) for host in _HOSTS), levels)
    write_topology(folder / "topology.json", topology)
    layout = _core.match(
        (folder / "topology.json").read_text(), [(host, None, places[0].signature) for host in _HOSTS]
    )
    rule = Rule("bcast", layout.shape(3), 0, 1 << 40, "binomial", EVIDENCE)
    mpi = measured.mpi
    write_plan(
        folder / "plan.json",
        Plan(
            topology=PlannedTopology(topology.fingerprint, "topology.json"),
            mpi=LibraryReference(mpi.library, mpi.abi),
            rules=(rule,),
        ),
    )
    return folder / "plan.json"


def test_all_collectives_of_a_mapped_program_run_by_recipes(
    library: Library, bench: Bench, tmp_path: Path
) -> None:
    plan = plan_of_all(bench, tmp_path)
    plain = library.run(library.line(library.program))
    done = mapped(
        library,
        [write_map(tmp_path / "mapping.json", _AT)],
        library.program,
        ranks=4,
        options=["--plan", str(plan)],
        environment={"ISOCHRONE_EXPLAIN": "1"},
    )
    assert (done.returncode, order_of(done)) == (0, _AT), done.stderr
    assert rest(done) == rest(plain), done.stderr
    assert recipes_run(done)["broadcast"] >= 4


def test_the_plan_sees_ranks_where_they_really_are(library: Library, bench: Bench, tmp_path: Path) -> None:
    done = mapped(
        library,
        [write_map(tmp_path / "mapping.json", _AT, [_HOSTS[place] for place in _AT])],
        library.program,
        ranks=4,
        options=["--plan", str(_plan_for_one_root(bench, tmp_path))],
        environment={"ISOCHRONE_EXPLAIN": "1"} | fake_hosts(library, tmp_path, _HOSTS),
    )
    assert (done.returncode, order_of(done)) == (0, _AT), done.stderr
    # Rank 0 of the program was launched as rank 3, alone on its host. The one that was launched as rank 0
    # says native, of a broadcast before ranks are mapped, and lines of two ranks come in any order.
    explained = [line.split(":")[1:3] for line in said(done) if " bytes from rank " in line]
    assert [" bcast of 4 bytes from rank 0", " binomial"] in explained, done.stderr


def test_a_plan_that_does_not_hold_leaves_the_mapping(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = write_map(tmp_path / "mapping.json", _AT)
    done = mapped(
        library, [mapping], library.program, "order", ranks=4, options=["--plan", str(tmp_path / "none")]
    )
    assert (done.returncode, order_of(done)) == (0, _AT), done.stderr
    (line,) = complaints(done)
    assert line.endswith("running without a plan")
    # Nothing is said of a plan that nobody named and that is not there.
    monkeypatch.chdir(tmp_path)
    done = mapped(library, [mapping], library.program, "order", ranks=4)
    assert (done.returncode, order_of(done), complaints(done)) == (0, _AT, [])
