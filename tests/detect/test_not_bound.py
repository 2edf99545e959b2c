# SPDX-License-Identifier: BSD-3-Clause
"""Who starts ranks that are not bound is told what detection cannot say then, and how to bind them."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from isochrone.files import write_measurements
from isochrone.steps.detect import detect

US = 1e-6


@pytest.mark.parametrize(
    ("nodes", "each", "cpus", "waits", "said"),
    [
        (2, 3, None, False, "ranks of 2 hosts are not bound to cores"),
        (1, 4, None, False, "ranks of n0 are not bound to cores"),
        (2, 3, "own", False, ""),
        (3, 2, None, False, ""),  # of two ranks there is nothing to tell
        (2, 3, None, True, ""),  # ranks that wait for a core are in no place
    ],
)
def test_of_ranks_that_are_not_bound_a_line_says_so(
    nodes, each, cpus, waits, said, make_regular, make_measurements, tmp_path: Path, caplog
):
    cluster = make_regular([nodes, each], [2 * US, US]).shuffled(1)
    own = [None] * (nodes * each) if cpus is None else [str(rank) for rank in range(nodes * each)]
    found = make_measurements(cluster, hosts=[f"n{label}" for label in cluster.paths[1]], cpus=own)
    write_measurements(tmp_path / "m.jsonl", replace(found, provenance={"oversubscribed": waits}))
    with caplog.at_level(logging.WARNING, "isochrone"):
        detect(tmp_path / "m.jsonl", tmp_path / "t.json")
    assert ("not bound" in caplog.text) == bool(said)
    assert said in caplog.text
    assert ("mpiexec --bind-to core" in caplog.text) == bool(said)
