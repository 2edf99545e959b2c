# SPDX-License-Identifier: BSD-3-Clause
"""library.json: read as written, refused when it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import all_of
from mutations import Mutate, mutate_json, truncate

from isochrone.errors import IsochroneError
from isochrone.files import (
    LibraryEvidence,
    LibraryReference,
    LibraryRule,
    LibraryTuning,
    TopologyFileReference,
    read_library,
    write_library,
)

EVIDENCE = LibraryEvidence(native_s=2e-5, recipe_s=1e-5, speedup=2.0, speedup_ci=(1.9, 2.1), repetitions=27)
TUNING = LibraryTuning(
    topology=TopologyFileReference("0" * 64, "topology.json"),
    mpi=LibraryReference("Open MPI v4.1.4", "libmpi.so.40"),
    ranks=16,
    rules=(
        LibraryRule("bcast", 1, 100, "in-order_binary", EVIDENCE),
        LibraryRule("bcast", 101, 1 << 20, "default", EVIDENCE, "3"),
        LibraryRule("barrier", 0, 0, "tree", EVIDENCE),
    ),
    provenance={"host": "login1"},
)


def test_a_tuning_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", TUNING)
    assert read_library(tmp_path / "library.json") == TUNING
    assert [rule.collective for rule in TUNING.told()] == ["barrier", "bcast"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(isochrone="plan"), "this is a plan file, not library"),
        (lambda d: d.update(schema_version=2), "schema_version 2 is not 1"),
        (lambda d: d.update(ranks=0), "ranks"),
        (lambda d: d["rules"][0].update(algorithm="x;rm -r"), "algorithm"),
        (lambda d: d["rules"][0].update(algorithm="a'b"), "algorithm"),
        (lambda d: d["rules"][1].update(equal="$(x)"), "equal"),
        (lambda d: d["rules"][0].update(collective="Bcast"), "collective"),
        (lambda d: d["rules"][0].update(max_bytes=101), "two rules for bcast hold for 101 bytes"),
        (lambda d: d["rules"][0].update(max_bytes=0), "min_bytes 1 is above max_bytes"),
        (lambda d: d["rules"][0]["evidence"].update(speedup_ci=[3, 2]), "ends before it begins"),
        (lambda d: d["topology"].update(fingerprint="../x"), "fingerprint"),
        (lambda d: d.update(more=1), "more"),
    ],
)
def test_what_is_no_tuning_is_refused_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    path = tmp_path / "library.json"
    write_library(path, TUNING)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(IsochroneError, match=message) as refused:
        read_library(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("mutate", [mutate_json, truncate])
def test_a_damaged_tuning_is_read_or_refused(tmp_path: Path, bounded: None, mutate: Mutate) -> None:
    path = tmp_path / "library.json"
    write_library(path, TUNING)
    whole = json.dumps(json.loads(path.read_text())).encode()
    for tuning in all_of(path, whole, mutate, read_library, range(300)):
        write_library(tmp_path / "again.json", tuning)
