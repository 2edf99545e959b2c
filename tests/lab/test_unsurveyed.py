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


# Hosts of the ranks, of which 0 and 1 are in one rack, and 2 to 4 in the other.
SHAPES = {
    (0, 0, 1, 1, 2, 2, 3, 3, 4, 4): "10 ranks in one machine; switch 1x6+1x4; node 5x2",
    (0, 1, 2, 3, 4): "5 ranks in one machine; switch 1x3+1x2; node 5x1",
    (3, 0, 1, 4): "4 ranks in one machine; switch 2x2; node 4x1",
    # The first is alone at its switch.
    (1, 2, 3, 4, 2): "5 ranks in one machine; switch 1x4+1x1; node 1x2+3x1",
    # None is nearer than another.
    (2, 3, 4): "3 ranks in one machine; node 3x1",
    (0, 0, 2, 2): "4 ranks in one machine; node 2x2",
}


@pytest.mark.parametrize("hosts", SHAPES, ids=lambda hosts: "-".join(map(str, hosts)))
def test_the_tree_has_switches_where_hosts_are_near_each_other(
    lab: Lab,
    library: MpiLibrary,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    hosts: tuple[int, ...],
) -> None:
    program = tmp_path / SUMS.stem
    environment = os.environ | library.environment
    subprocess.run([library.mpicc, "-O1", "-o", program, SUMS], check=True, env=environment)
    target = LabTarget(lab, library, Ranks(hosts, "block"))
    settings = settings_for(library, None, [str(program)])
    said = ""
    # Where other programs keep the cores, all trips to a host may have waited for one.
    for _ in range(3):
        assert target.execute([str(program), "64"], {**settings, "ISOCHRONE_EXPLAIN": "1"}) == 0
        said = capfd.readouterr().err
        if SHAPES[hosts] in said:
            break
    assert f"allreduce of 64 bytes: native: this shape was not measured: {SHAPES[hosts]}\n" in said
