# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries in a lab: ranks where the placement has them, racks found, impossible results refused."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isochrone import _core
from isochrone.cli.main import main
from isochrone.errors import GateError, UsageError
from isochrone.files import (
    Bench,
    BenchKey,
    Evidence,
    LibraryReference,
    Place,
    Plan,
    PlannedTopology,
    Rule,
    read_measurements,
    write_bench,
    write_measurements,
    write_plan,
)
from isochrone.files import MpiLibrary as MpiIdentity
from isochrone.lab.guard import check_bench, check_probe
from isochrone.lab.labs import Lab
from isochrone.lab.launch import PLACEMENTS, place_ranks
from isochrone.lab.network import Network
from isochrone.lab.target import LabTarget, Ranks
from isochrone.launch.library import MpiLibrary
from isochrone.steps.detect import detect
from isochrone.steps.probe import ProbeOptions, probe

PLACE = Place(host="h0", cpus=None, signature="1x2x1")
MPI = MpiIdentity(library="MPICH Version: 5.0.2", version="4.1", abi="libmpi.so.12")


def test_block_fills_hosts_and_cyclic_deals_out() -> None:
    assert place_ranks(4, 6, 2, "block", 1) == [0, 0, 1, 1, 2, 2]
    assert place_ranks(4, 6, 2, "cyclic", 1) == [0, 1, 2, 0, 1, 2]
    assert place_ranks(4, 5, 2, "cyclic", 1) == [0, 1, 2, 0, 1]


def test_random_depends_on_the_seed_only() -> None:
    assert place_ranks(8, 16, 2, "random", 5) == place_ranks(8, 16, 2, "random", 5)
    assert place_ranks(8, 16, 2, "random", 5) != place_ranks(8, 16, 2, "random", 6)
    assert sorted(place_ranks(8, 16, 2, "random", 5)) == place_ranks(8, 16, 2, "block", 5)


@pytest.mark.parametrize(
    ("ranks", "per_host", "placement"), [(9, 2, "block"), (0, 2, "block"), (2, 2, "nearby")]
)
def test_what_does_not_fit_is_a_usage_error(ranks: int, per_host: int, placement: str) -> None:
    with pytest.raises(UsageError):
        place_ranks(4, ranks, per_host, placement, 1)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_ranks_run_where_the_placement_has_them(
    lab: Lab, library: MpiLibrary, hello: Path, placement: str
) -> None:
    ranks = Ranks.on(lab.network, 10, 2, placement, 3)
    target = LabTarget(lab, library, ranks)
    with target.launching() as launch:
        line = target.command(launch.line([str(hello)]))
        done = subprocess.run(line, env=target.environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {int(r): (h, int(n)) for r, h, n in re.findall(r"rank (\d+) on (\S+) with (\d+)", done.stdout)}
    # Each rank shares memory with the other one on its host, and with no one else.
    assert found == {rank: (f"h{host}", 2) for rank, host in enumerate(ranks.hosts)}


def test_daemons_of_each_launch_have_a_folder_of_their_own(lab: Lab, library: MpiLibrary) -> None:
    # What killed ones leave has the number of their process, and numbers come again in a lab.
    target = LabTarget(
        lab, replace(library, vendor="Open MPI", version="5.0.11"), Ranks.on(lab.network, 2, 1, None, None)
    )
    folders = []
    for _ in range(2):
        with target.launching() as launch:
            line = launch.line(["program"])
            folders.append(Path(line[line.index("prte_tmpdir_base") + 1]))
            assert folders[-1].is_dir()
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)


def test_racks_are_found_and_impossible_times_are_refused(
    lab: Lab, library: MpiLibrary, tmp_path: Path
) -> None:
    ranks = Ranks.on(lab.network, 10, 2, "random", 4)
    target = LabTarget(lab, library, ranks)
    path = tmp_path / "measurements.jsonl"
    measurements = probe(target, path, ProbeOptions((0, 1024), repetitions=5))
    assert measurements.complete
    topology = detect(path, tmp_path / "topology.json", target.truth)
    assert topology.accuracy["rack"] == 1.0

    # The same as if the library had found a way around the network.
    far = next(rank for rank, host in enumerate(ranks.hosts) if host != ranks.hosts[0])
    faster = measurements.rtt_min_s.copy()
    faster[measurements.find(0, far)] = 1e-5
    write_measurements(path, replace(measurements, rtt_min_s=faster))
    with pytest.raises(GateError, match="goes around the lab's network"):
        check_probe(path, lab.network, ranks.hosts)


@pytest.mark.long
@pytest.mark.parametrize("blind", [False, True], ids=["hints", "blind"])
def test_racks_are_found_from_few_pairs(lab: Lab, library: MpiLibrary, tmp_path: Path, blind: bool) -> None:
    target = LabTarget(lab, library, Ranks.on(lab.network, 10, 2, "random", 4))
    path = tmp_path / "measurements.jsonl"
    measurements = probe(target, path, ProbeOptions((0, 1024), repetitions=5, mode="adaptive", blind=blind))
    assert measurements.ended
    assert len(measurements.alone) >= 12
    assert measurements.parameters
    assert detect(path, tmp_path / "topology.json", target.truth).accuracy["rack"] == 1.0


@pytest.fixture
def survey(lab: Lab, library: MpiLibrary, tmp_path: Path) -> Path:
    """A folder with a topology of the lab and a plan for it with one rule, for all ten ranks."""
    target = LabTarget(lab, library, Ranks.on(lab.network, None, None, "block", 1))
    measurements = probe(target, tmp_path / "measurements.jsonl", ProbeOptions((0, 1024), repetitions=3))
    topology = detect(tmp_path / "measurements.jsonl", tmp_path / "topology.json", target.truth)
    layout = _core.match(
        (tmp_path / "topology.json").read_text(), [(p.host, p.cpus, p.signature) for p in measurements.places]
    )
    rule = Rule("bcast", layout.shape(0), 1, 1024, "flat", Evidence(2e-3, 1e-3, 2.0, (1.9, 2.1), 20))
    mpi = measurements.mpi
    write_plan(
        tmp_path / "plan.json",
        Plan(
            topology=PlannedTopology(topology.fingerprint, "topology.json"),
            mpi=LibraryReference(mpi.library, mpi.abi),
            rules=(rule,),
        ),
    )
    return tmp_path


BROADCAST = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int value = 0, rank, most;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) value = 42;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&value, &most, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("all have %d\\n", most);
    MPI_Finalize();
    return 3;
}
"""


def test_a_program_runs_on_a_plan_in_a_lab_or_says_in_one_line_why_not(
    lab: Lab,
    library: MpiLibrary,
    survey: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (survey / "broadcast.c").write_text(BROADCAST, encoding="utf-8")
    program = survey / "broadcast"
    words = [library.mpicc, "-o", str(program), str(survey / "broadcast.c")]
    subprocess.run(words, env=os.environ | library.environment, check=True)
    monkeypatch.setenv("ISOCHRONE_EXPLAIN", "1")
    line = ["lab", "mpi", "--lab", lab.name, "--mpi", library.name, "--plan", str(survey), "--"]
    assert main([*line, str(program)]) == 3
    on_plan = capfd.readouterr()
    assert on_plan.out == "all have 42\n"
    assert "isochrone: bcast of 4 bytes from rank 0: flat: measured 2.00x faster" in on_plan.err
    assert "isochrone: 1 broadcast by flat on rank 0: " in on_plan.err

    (survey / "plan.json").write_text("{", encoding="utf-8")
    assert main([*line, str(program)]) == 3
    without = capfd.readouterr()
    assert without.out == "all have 42\n"
    (said,) = [line for line in without.err.splitlines() if line.startswith("isochrone: ")]
    assert str(survey / "plan.json") in said
    assert said.endswith("; running without a plan")


def test_a_broadcast_that_beats_the_links_is_refused(small: Network, tmp_path: Path) -> None:
    hosts = (0, 1, 2, 3)
    bound_s = small.bound_s(0, hosts, 100_000)
    path = tmp_path / "bench.jsonl"

    def write(time_s: float) -> None:
        places = tuple(Place(f"h{host}", PLACE.cpus, PLACE.signature) for host in hosts)
        times = {BenchKey(100_000, 0, "native"): np.array([time_s, 2 * time_s])}
        write_bench(path, Bench(places, MPI, "clock", 1e-6, True, False, times, 1.0))

    write(bound_s * 1.01)
    check_bench(path, small, hosts)
    write(bound_s * 0.9)
    with pytest.raises(GateError, match="goes around the lab's network"):
        check_bench(path, small, hosts)


def test_measurements_that_left_a_size_out_are_read_back(
    tmp_path: Path, lab: Lab, library: MpiLibrary
) -> None:
    target = LabTarget(lab, library, Ranks((0, 2), "of two racks"))
    path = tmp_path / "measurements.jsonl"
    # 100 MB take 8 s to and fro between racks, and 100 kB 8 ms longer than nothing: that tells, however late
    # the kernel wakes ranks, that it is longer than the probe's patience.
    measurements = probe(target, path, ProbeOptions((0, 100_000, 100_000_000), repetitions=3))
    assert measurements.complete
    assert (measurements.rtt_min_s[0, :2] > 0).all()
    assert str(measurements.rtt_min_s[0, 2]) == "nan"
    write_measurements(path, measurements)
    assert str(read_measurements(path).rtt_min_s[0, 2]) == "nan"
