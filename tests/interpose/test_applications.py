# SPDX-License-Identifier: BSD-3-Clause
"""Programs that others have written do on a plan, with a recipe for every call, what they do without it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from interposed import PROGRAMS
from libraries import FROM_PYPI, bench_of, missing, plan_of_all, recipes_run, run_twice, wrapper_of

from isochrone.launch.library import identify

pytestmark = pytest.mark.long

_STATES = re.compile(r"^Step Temp .*?(?=^Loop time)", re.DOTALL | re.MULTILINE)


def test_lammps_melts_a_crystal_as_it_does_natively(tmp_path: Path) -> None:
    lammps = shutil.which("lmp")
    if lammps is None:
        missing("lmp is not there; install it: apt-get install lammps")
    bench = bench_of("openmpi", tmp_path)
    line = ("-n", "4", lammps, "-log", "none", "-in", PROGRAMS / "melt.lammps")
    plain, planned = run_twice(bench, plan_of_all(bench, tmp_path), line)
    (states,) = _STATES.findall(plain.stdout)
    assert len(states.splitlines()) == 17, plain.stdout
    assert _STATES.findall(planned.stdout) == [states]
    counts = recipes_run(planned)
    for collective in ("broadcast", "reduction", "allreduce", "barrier"):
        assert counts.get(collective, 0) > 0, planned.stderr


# The benchmarks of MPI-1 whose calls are collective.
_COLLECTIVES = (
    *("Bcast", "Reduce", "Allreduce", "Barrier", "Reduce_scatter", "Reduce_scatter_block"),
    *("Allgather", "Allgatherv", "Gather", "Gatherv", "Scatter", "Scatterv", "Alltoall", "Alltoallv"),
)


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("library", ["intel", "mpich"])
def test_intels_benchmarks_come_to_their_end(tmp_path: Path, library: str, ranks: int) -> None:
    program = wrapper_of("intel").with_name("IMB-MPI1")
    bench = bench_of(f"{library}{FROM_PYPI}", tmp_path)
    # Both libraries have one ABI, and the program has no path to its own.
    variables = dict(identify(Path(bench.compiler), "").environment)
    variables["LD_LIBRARY_PATH"] = str(Path(bench.compiler).parents[1] / "lib")
    words = ("-npmin", "2", "-iter", "5", "-msglog", "0:17", "-root_shift", "1", "-time", "1")
    line = ("-n", str(ranks), program, *words, *_COLLECTIVES)
    plain, planned = run_twice(bench, plan_of_all(bench, tmp_path), line, environment=variables)

    def measured(text: str) -> list[str]:
        """All lines without their times."""
        titles = re.findall(r"^# Benchmarking .*|^# #processes = .*|^ +\d+(?= +\d+ )", text, re.MULTILINE)
        return [title.strip() for title in titles]

    for name in _COLLECTIVES:
        assert f"# Benchmarking {name}" in measured(plain.stdout)
    assert measured(planned.stdout) == measured(plain.stdout)
    counts = recipes_run(planned)
    for collective in ("broadcast", "reduction", "allreduce", "barrier"):
        assert counts.get(collective, 0) > 0, planned.stderr
