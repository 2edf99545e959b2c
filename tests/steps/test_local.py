# SPDX-License-Identifier: BSD-3-Clause
"""The MPI of this machine, which has no structure that messages could show: none is invented."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.files import Case
from isochrone.launch.target import LocalTarget
from isochrone.steps.bench import run_bench, work_for
from isochrone.steps.detect import detect
from isochrone.steps.probe import probe

LIBRARIES = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}
"""With the words that bind ranks to cores."""


@pytest.fixture(params=sorted(LIBRARIES))
def library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(f"mpiexec.{name}") is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"mpiexec.{name} is missing")
        pytest.skip(f"mpiexec.{name} is not installed")
    return name


# Four ranks that are bound to two cores are two groups in truth, so they stay unbound.
@pytest.mark.parametrize(("ranks", "bound"), [(2, False), (2, True), (4, False)])
def test_ranks_of_one_small_machine_are_one_group(
    tmp_path: Path, library: str, ranks: int, bound: bool
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", str(ranks), *(LIBRARIES[library] if bound else ())])
    measurements = probe(target, tmp_path / "measurements.jsonl")
    signature = measurements.places[0].signature
    if re.match(r"1x\d+x\d+ l3=[01] ", signature) is None:
        pytest.skip(f"this machine may have structure: {signature}")
    topology = detect(tmp_path / "measurements.jsonl", tmp_path / "topology.json")
    assert len(topology.ranks) == ranks
    assert [(level.name, len(level.groups)) for level in topology.levels] == [("node", 1)]


def test_work_for_another_number_of_ranks_is_refused_by_whoever_was_started(
    tmp_path: Path, library: str
) -> None:
    target = LocalTarget([f"mpiexec.{library}", "-n", "2"])
    work = work_for(target, [Case(8, 5, ("native",))], 1, ranks=8)
    with pytest.raises(IsochroneError, match="the work is for 8 ranks, and 2 were started"):
        run_bench(target, work, tmp_path / "bench.jsonl")
