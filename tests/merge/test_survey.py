# SPDX-License-Identifier: BSD-3-Clause
"""A merged survey as a folder: its files, and what reads them."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jobs import CLASSES, RACKS, chosen, written
from msgspec import structs
from surveyed import measurements, places, topology, write

from isochrone.cli.main import main
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import (
    LibraryReference,
    Topology,
    read_measurements,
    read_plan,
    read_survey,
    read_topology,
    write_measurements,
    write_plan,
)
from isochrone.files.library import LibraryTuning, write_library
from isochrone.files.parameters import PairParameters
from isochrone.files.references import TopologyFileReference
from isochrone.merge import merged_measurements
from isochrone.steps.explain import explain
from isochrone.steps.merge import merge, merged_plan, one_plan


@pytest.mark.parametrize("name", CLASSES)
def test_what_was_measured_of_each_pair_is_there_again(tmp_path: Path, name: str) -> None:
    jobs = CLASSES[name]
    merge(written(tmp_path, jobs), tmp_path / "all")
    found = read_measurements(tmp_path / "all" / "measurements.jsonl")
    topology_of_all = read_topology(tmp_path / "all" / "topology.json")
    assert found.places == tuple(topology_of_all.places[place] for place in topology_of_all.ranks)
    rank_at = {(place.host, place.cpus): rank for rank, place in enumerate(found.places)}
    last: dict[tuple[int, int], np.ndarray] = {}
    for job in jobs:
        own = measurements(topology(job.ranks, RACKS))
        for a, first in enumerate(job.ranks):
            for b, second in enumerate(job.ranks):
                if a != b:
                    pair = rank_at[first.host, first.cpus], rank_at[second.host, second.cpus]
                    last[pair] = own.rtt_min_s[own.find(a, b)]
    for pair, times in last.items():
        np.testing.assert_allclose(found.rtt_min_s[found.find(*pair)], times)
    assert found.pairs_measured * 2 == len(last)
    firsts = [tuple(rank_at[place.host, place.cpus] for place in job.ranks[:2]) for job in jobs]
    assert [stream.pairs for stream in found.streams] == [(pair,) for pair in firsts]
    assert found.ended


@pytest.mark.parametrize("plogp", [{"max_size_bytes": 64}, None])
def test_of_a_pair_that_was_measured_again_nothing_older_counts(plogp: dict[str, object] | None) -> None:
    ranks = places([f"h{host}" for host in range(4)], 1)
    found = measurements(topology(ranks, {}))
    alone = {pair: np.full((2, len(found.sizes_bytes)), 1e-6) for pair in ((0, 1), (2, 3))}
    none_s = np.zeros(1)
    parameters = {
        pair: PairParameters(*pair, (0,), np.full((1, 4), 1e-6), none_s, none_s, none_s)
        for pair in ((0, 1), (1, 0), (2, 3))
    }
    older = replace(found, alone=alone, parameters=parameters, plogp={"max_size_bytes": 64})
    others = [pair for pair in found.pairs if pair != (2, 3)]
    newer = replace(found.only_pairs(others), plogp=plogp)
    merged = merged_measurements([older, newer], [range(4), range(4)], ranks)
    assert list(merged.alone) == [(2, 3)]
    # A later survey without parameters says nothing of them.
    assert list(merged.parameters) == ([(2, 3)] if plogp else list(parameters))


def test_of_two_probes_the_later_counts_though_its_plan_is_older(tmp_path: Path) -> None:
    ranks = places([f"h{host}" for host in range(2)], 1)
    of = topology(ranks, {})
    folders = []
    for name, probed, tuned, factor in (
        ("a", "2026-03-01", "2026-03-02", 3.0),
        ("b", "2026-02-01", "2026-04-01", 1.0),
    ):
        folder = write(tmp_path / name, of, [], time=f"{tuned}T00:00:00Z")
        found = read_measurements(folder / "measurements.jsonl")
        times = {"rtt_min_s": factor * found.rtt_min_s, "rtt_median_s": factor * found.rtt_median_s}
        write_measurements(
            folder / "measurements.jsonl", replace(found, provenance={"time": f"{probed}T00:00:00Z"}, **times)
        )
        folders.append(folder)
    one = read_measurements(folders[0] / "measurements.jsonl")
    for given_order in (folders, folders[::-1]):
        merge(given_order, tmp_path / "all")
        merged = read_measurements(tmp_path / "all" / "measurements.jsonl")
        np.testing.assert_array_equal(merged.rtt_min_s, one.rtt_min_s)
        assert merged.provenance["time"] == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize("name", ["more ranks", "overlapping", "disjoint"])
def test_a_merged_survey_is_reported_and_explained(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = written(tmp_path, CLASSES[name])
    output = tmp_path / "all"
    assert main(["merge", *map(str, folders), "-o", str(output), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rules"].keys() == {"barrier", "bcast"}
    assert main(["report", str(output), "--json"]) == 0
    assert (output / "report.html").exists()
    assert not (output / "bench.jsonl").exists()
    survey = read_survey(output / "survey.json")
    assert [part.name for part in survey.merged] == ["s0", "s1"]
    capsys.readouterr()
    job = CLASSES[name][0]
    found = explain(output / "plan.json", "bcast", 4096, len(job.hosts), job.cores, 0)
    assert found.rule is not None
    # Once more, into the same folder, and from a merged survey.
    assert main(["merge", *map(str, folders), "-o", str(output)]) == 0
    assert main(["merge", str(output), str(folders[0]), "-o", str(tmp_path / "more")]) == 0


@pytest.mark.parametrize("name", ["bench.jsonl", "survey.json", "library.json"])
def test_a_file_of_something_else_is_not_lost(tmp_path: Path, name: str) -> None:
    folders = written(tmp_path, CLASSES["more ranks"])
    output = tmp_path / "all"
    output.mkdir()
    there = folders[0] / name
    (output / name).write_bytes(there.read_bytes() if there.exists() else b"{}")
    before = (output / name).read_bytes()
    with pytest.raises(UsageError, match=f"holds {name}, which would be lost"):
        merge(folders, output)
    assert [path.name for path in output.iterdir()] == [name]
    assert (output / name).read_bytes() == before


def test_a_merged_survey_that_was_tuned_is_not_lost_and_its_plan_is_as_old_as_its_parts(
    tmp_path: Path,
) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    output = tmp_path / "all"
    merge([one, two], output)
    plan = read_plan(output / "plan.json")
    assert plan.provenance["time"] == read_plan(two / "plan.json").provenance["time"]
    for change in ({"time": "2999-01-01T00:00:00Z"}, {"learned": "2999-01-01T00:00:00Z"}):
        write_plan(output / "plan.json", structs.replace(plan, provenance=plan.provenance | change))
        before = (output / "plan.json").read_bytes()
        with pytest.raises(UsageError, match="tuned or learned since it was merged, which would be lost"):
            merge([one, two], output)
        assert (output / "plan.json").read_bytes() == before
    write_plan(output / "plan.json", plan)
    # What a job has left for the next run; not what that would drop.
    left = output / "learned" / "1.json"
    left.parent.mkdir()
    left.write_text("{}")
    merge([one, two], output)
    plan = read_plan(output / "plan.json")
    live = structs.replace(plan.rules[0], recipe="flat", basis="live")
    learned = {
        "isochrone": "learned",
        "schema_version": 1,
        "topology": {"fingerprint": plan.fingerprint},
        "mpi": {"library": plan.mpi.library, "abi": plan.mpi.abi},
        "rules": structs.replace(plan, rules=(live,)).document()["rules"],
    }
    left.write_text(json.dumps(learned))
    with pytest.raises(UsageError, match="tuned or learned since it was merged"):
        merge([one, two], output)


def tuning_of(topology: Topology) -> LibraryTuning:
    """What tells the library nothing."""
    return LibraryTuning(
        topology=TopologyFileReference(topology.fingerprint, "topology.json"),
        mpi=LibraryReference("MPICH", "mpich"),
        ranks=len(topology.ranks),
        rules=(),
    )


def test_what_the_library_was_told_after_an_earlier_merge_goes_with_it(tmp_path: Path) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    output = tmp_path / "all"
    merge([one, two], output)
    topology = read_topology(output / "topology.json")
    tuning = tuning_of(topology)
    write_library(output / "library.json", tuning)
    assert not [note for note in merge([one, two], output).notes if "library.json" in note]
    assert (output / "library.json").exists()
    other = structs.replace(tuning, topology=TopologyFileReference("0" * 64, "topology.json"))
    write_library(output / "library.json", other)
    assert "library.json was of what was merged before" in merge([one, two], output).notes[-1]
    assert not (output / "library.json").exists()


def test_what_one_library_was_told_is_said_not_to_be_told_all(tmp_path: Path) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    topology = read_topology(one / "topology.json")
    tuning = tuning_of(topology)
    write_library(one / "library.json", tuning)
    (note,) = [note for note in merge([one, two], tmp_path / "all").notes if "library.json" in note]
    assert f"is for its {len(topology.ranks)} ranks alone, and is not told" in note


def test_measurements_of_other_ranks_than_the_topology_s_are_refused(tmp_path: Path) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    (one / "measurements.jsonl").write_bytes((two / "measurements.jsonl").read_bytes())
    with pytest.raises(IsochroneError, match=r"ranks, but \d+ were measured; detect it again"):
        merge([one, two], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_survey_is_not_overwritten(tmp_path: Path) -> None:
    one, two = written(tmp_path, CLASSES["more ranks"])
    before = (one / "plan.json").read_bytes()
    (third,) = written(tmp_path / "third", CLASSES["disjoint"][:1])
    for output, words in ((one, "is one of the surveys"), (third, "would be lost")):
        with pytest.raises(UsageError, match=words):
            merge([one, two], output)
    with pytest.raises(UsageError, match="one survey alone"):
        merge([one], tmp_path / "all")
    assert (one / "plan.json").read_bytes() == before


def test_nothing_is_written_where_a_file_of_a_survey_is_damaged(tmp_path: Path) -> None:
    folders = written(tmp_path, CLASSES["more ranks"])
    whole = (folders[1] / "survey.json").read_bytes()
    (folders[1] / "survey.json").write_bytes(whole[:20])
    with pytest.raises(IsochroneError, match="damaged JSON"):
        merge(folders, tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_merge_that_was_stopped_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    folders = written(tmp_path, CLASSES["more ranks"])
    with monkeypatch.context() as patched:
        patched.setattr("isochrone.steps.merge.write_topology", stop)
        with pytest.raises(KeyboardInterrupt):
            merge(folders, tmp_path / "all")
    merge(folders, tmp_path / "all")
    assert read_plan(tmp_path / "all" / "plan.json").rules


def test_a_survey_is_not_merged_with_itself(tmp_path: Path) -> None:
    first, _ = written(tmp_path, CLASSES["overlapping"])
    with pytest.raises(UsageError, match="given twice"):
        merge([first, first.parent / "." / first.name], tmp_path / "all")


def test_plans_that_cannot_be_kept_cost_a_line_and_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    files = [folder / "plan.json" for folder in written(tmp_path, CLASSES["overlapping"])]

    def full(*arguments: object, **settings: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    path, refusal = one_plan(files)
    assert path is None
    assert refusal is not None
    assert "No space left on device" in refusal


def test_plans_for_a_run_are_merged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = written(tmp_path, CLASSES["overlapping"])
    files = [folder / "plan.json" for folder in folders]
    for folder in folders:
        # What a run does without.
        (folder / "measurements.jsonl").unlink()
    path, notes = merged_plan(files)
    stamp = path.stat().st_mtime_ns
    with monkeypatch.context() as later:
        # Merging may take seconds.
        later.setattr("isochrone.steps.merge.merged_topology", None)
        assert merged_plan(files) == (path, notes)
    assert path.stat().st_mtime_ns == stamp
    assert merged_plan(files[::-1])[0] != path
    with monkeypatch.context() as later:
        later.setattr("isochrone.__version__", "99.0")
        assert merged_plan(files)[0] != path
    assert [each.name for each in path.parent.parent.iterdir() if each.name.startswith(".")] == []
    recipe, _ = chosen(path.parent, CLASSES["overlapping"][0].ranks, "bcast", 4096)
    assert recipe.startswith("hierarchical")
