# SPDX-License-Identifier: BSD-3-Clause
"""Exports that count only where ranks are on several hosts: the libraries follow them in a lab."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tuned import exported, write_survey_of

from isochrone.files import BCAST, Case
from isochrone.lab.labs import Lab
from isochrone.lab.target import LabTarget, Ranks
from isochrone.launch.library import MpiLibrary
from isochrone.launch.tellable import han_is_first
from isochrone.launch.told import told
from isochrone.steps.bench import run_bench, work_for

SUMS = Path(__file__).parents[1] / "export" / "sums.c"
SIZES = (64, 400, 80000)
RANKS = 6
TUNED = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
NO_HAN = {"OMPI_MCA_coll_han_priority": "0"}


def sums(
    target: LabTarget,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    *first: str,
    collective: str = "allreduce",
    sizes: Sequence[int] = SIZES,
    **variables: str,
) -> list[str]:
    program = folder / SUMS.stem
    if not program.exists():
        environment = os.environ | target.library.environment
        subprocess.run([target.library.mpicc, "-O1", "-o", program, SUMS], check=True, env=environment)
    assert target.execute([str(program), *first, *map(str, sizes)], variables) == 0
    return re.findall(rf"^{collective} \d+ (\w{{16}})$", capfd.readouterr().out, re.MULTILINE)


# For small sums and for large ones: what a library is told, and the variables that tell it so for all sizes.
TOLD: dict[str, list[tuple[str, dict[str, str]]]] = {
    "Open MPI 4": [
        ("basic_linear", TUNED | {"OMPI_MCA_coll_tuned_allreduce_algorithm": "basic_linear"}),
        ("rabenseifner", TUNED | {"OMPI_MCA_coll_tuned_allreduce_algorithm": "rabenseifner"}),
    ],
    "Open MPI 5": [
        ("basic_linear", TUNED | NO_HAN | {"OMPI_MCA_coll_tuned_allreduce_algorithm": "basic_linear"}),
        ("rabenseifner", TUNED | NO_HAN | {"OMPI_MCA_coll_tuned_allreduce_algorithm": "rabenseifner"}),
    ],
    "Intel MPI 2021": [("5", {"I_MPI_ADJUST_ALLREDUCE": "5"}), ("7", {"I_MPI_ADJUST_ALLREDUCE": "7"})],
}


def test_a_library_follows_its_files_on_several_hosts(
    lab: Lab, library: MpiLibrary, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if library.vendor == "MPICH":
        pytest.skip("what its algorithms come to is the same on these hosts; it is shown on one")
    target = LabTarget(lab, library, Ranks.on(lab.network, RANKS, 2, None, None))
    names = [lab.network.host_names[host] for host in target.ranks.hosts]
    title = f"{library.vendor} {library.version.split('.')[0]}"
    small, large = TOLD[title]
    middle = "default=3" if library.vendor == "Intel MPI" else "default"
    rules = [("allreduce", 60, 100, small[0]), ("allreduce", 101, 900, middle)]
    rules.append(("allreduce", 901, 90000, large[0]))
    write_survey_of(tmp_path, rules, library=library, hosts=names)

    by_itself = sums(target, tmp_path, capfd)
    assert len(by_itself) == len(SIZES)
    between = {"I_MPI_ADJUST_ALLREDUCE": "3"} if library.vendor == "Intel MPI" else {}
    expected = [
        sums(target, tmp_path, capfd, **variables)[i]
        for i, variables in enumerate((small[1], between, large[1]))
    ]
    assert expected != by_itself, "the rules would change nothing"
    to_tell = told(tmp_path, library, RANKS)
    assert to_tell.refusal is None
    assert sums(target, tmp_path, capfd, **to_tell.variables) == expected


HAN_FIRST = {"OMPI_MCA_coll_han_priority": "100"}


def test_han_is_where_its_rules_have_it(
    lab: Lab, library: MpiLibrary, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It adds in another order than tuned where ranks of a host are not next to each other."""
    if library.vendor != "Open MPI":
        pytest.skip("HAN is Open MPI's")
    target = LabTarget(lab, library, Ranks.on(lab.network, RANKS, 2, "cyclic", None))
    names = [lab.network.host_names[host] for host in target.ranks.hosts]
    other, put_first = ("tuned", NO_HAN) if han_is_first(library.version) else ("han", HAN_FIRST)
    # Of 4.1 longer reductions by HAN write beyond their memory, so that it is not told them.
    for collective in ("allreduce", "reduce") if other == "tuned" else ("allreduce",):
        write_survey_of(tmp_path, [(collective, 300, 900, other)], library=library, hosts=names)
        form = exported(tmp_path, "openmpi-han")
        file = tmp_path / "han.rules"
        file.write_text(form.text, encoding="utf-8")

        def digests(variables: Mapping[str, str], collective: str = collective) -> list[str]:
            sizes = (64, 400, 4096)
            return sums(target, tmp_path, capfd, collective=collective, sizes=sizes, **variables)

        by_itself, by_other = digests({}), digests(put_first)
        assert all(one != another for one, another in zip(by_itself, by_other, strict=True))
        assert digests(form.variables(file)) == [by_itself[0], by_other[1], by_itself[2]]


@pytest.fixture
def with_han(lab: Lab, library: MpiLibrary) -> LabTarget:
    """Ranks on several hosts, where HAN is asked before tuned."""
    if library.vendor != "Open MPI" or not han_is_first(library.version):
        pytest.skip("tuned is first")
    return LabTarget(lab, library, Ranks.on(lab.network, RANKS, 2, None, None))


def test_open_mpi_puts_tuned_first_where_a_communicator_prefers_it(
    with_han: LabTarget, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As if it had been started so, which is what the benchmark relies on."""
    ring = TUNED | {"OMPI_MCA_coll_tuned_allreduce_algorithm": "ring"}
    expected = sums(with_han, tmp_path, capfd, **ring, **NO_HAN)
    assert sums(with_han, tmp_path, capfd, **ring) != expected, (
        "HAN is not first, or adds in one order with it"
    )
    assert sums(with_han, tmp_path, capfd, "prefer=tuned,^han", **ring) == expected


def test_the_benchmark_times_tuned_where_han_is_first(with_han: LabTarget, tmp_path: Path) -> None:
    found = {}
    for first, variables in (("han", {}), ("tuned", NO_HAN)):
        started = with_han.with_variables(variables)
        cases = [Case(64, 0, ("native:*",), BCAST)]
        bench = run_bench(started, work_for(started, cases, 1), tmp_path / f"{first}.jsonl")
        found[first] = {key.recipe for key in bench.slowest_s}
    assert "native:binomial" in found["tuned"]
    assert found["han"] == found["tuned"] | {"native:tuned"}


def test_the_benchmark_times_what_cuts_messages_in_segments_too(with_han: LabTarget, tmp_path: Path) -> None:
    found = {}
    for size in (4096, 1 << 18):
        cases = [Case(size, 0, ("native:*",), BCAST)]
        bench = run_bench(with_han, work_for(with_han, cases, 1), tmp_path / f"{size}.jsonl")
        found[size] = {key.recipe for key in bench.slowest_s}
    # Whatever is in one piece, and of what can be cut pieces of powers of four.
    cut = {
        f"native:{name}@{segment}"
        for name in ("chain", "pipeline", "split_binary_tree", "binary_tree")
        for segment in (4096, 16384, 65536)
    }
    assert found[1 << 18] - found[4096] == cut
