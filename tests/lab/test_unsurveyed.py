# SPDX-License-Identifier: BSD-3-Clause
"""Where nobody surveyed, programs in a lab have racks in their tree, which no name of a host tells."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from isochrone.lab.labs import Lab
from isochrone.lab.target import LabTarget, Ranks
from isochrone.launch.library import MpiLibrary
from isochrone.launch.preload import settings_for

SUMS = Path(__file__).parents[1] / "export" / "sums.c"


@pytest.mark.parametrize(
    ("ranks", "per_host", "placement", "shape"),
    [
        (10, 2, "block", "10 ranks in one machine; switch 1x6+1x4; node 5x2"),
        (5, 1, "cyclic", "5 ranks in one machine; switch 1x3+1x2; node 5x1"),
        (4, 2, "block", "4 ranks in one machine; node 2x2"),
        (5, 2, "block", "5 ranks in one machine; switch 1x4+1x1; node 2x2+1x1"),
    ],
)
def test_the_tree_has_switches_where_hosts_are_near_each_other(
    lab: Lab,
    library: MpiLibrary,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    ranks: int,
    per_host: int,
    placement: str,
    shape: str,
) -> None:
    program = tmp_path / SUMS.stem
    environment = os.environ | library.environment
    subprocess.run([library.mpicc, "-O1", "-o", program, SUMS], check=True, env=environment)
    target = LabTarget(lab, library, Ranks.on(lab.network, ranks, per_host, placement, None))
    settings = settings_for(library, None, [str(program)])
    assert target.execute([str(program), "64"], {**settings, "ISOCHRONE_EXPLAIN": "1"}) == 0
    said = capfd.readouterr().err
    assert f"allreduce of 64 bytes: native: this shape was not measured: {shape}\n" in said
