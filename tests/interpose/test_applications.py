# SPDX-License-Identifier: BSD-3-Clause
"""Programs that others have written do on a plan, with a recipe for every call, what they do without it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from interposed import PROGRAMS
from libraries import FROM_PYPI, bench_of, missing, plan_of_all, recipes_run, run_twice

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
