# SPDX-License-Identifier: BSD-3-Clause
"""Exports of what is best for an MPI library: what each form says, and what it leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import structs
from planned import EVIDENCE
from tuned import INTEL, MPICH, OPEN_MPI, exported, write_survey_of

from isochrone.errors import IsochroneError, UsageError
from isochrone.export.tuning import FORMS, find_form, read_material, told_rules
from isochrone.files import LibraryReference, Plan, PlannedTopology, Rule, read_library, write_plan
from isochrone.files.library import write_library


def test_variables_of_mpich_are_for_what_has_one_best_algorithm(tmp_path: Path) -> None:
    rules = [
        ("bcast", 1, 100, "binomial"),
        ("bcast", 101, 200, "default"),
        ("barrier", 0, 0, "dissemination"),
    ]
    write_survey_of(tmp_path, rules, library=MPICH)
    one = exported(tmp_path, "mpich-variables")
    assert one.settings == {"MPIR_CVAR_BARRIER_INTRA_ALGORITHM": "dissemination"}
    assert "export MPIR_CVAR_BARRIER_INTRA_ALGORITHM='dissemination'" in one.text
    assert [line.split()[0] for line in one.left_out] == ["bcast"]


def test_what_intel_mpi_cannot_be_told_for_all_sizes_is_left_out(tmp_path: Path) -> None:
    rules = [
        ("bcast", 1, 100, "4"),
        ("bcast", 1000, 2000, "default"),
        ("reduce", 8, 399, "default=2"),
        ("reduce_scatter", 8, 100, "default=2"),
        ("reduce_scatter", 400, 4000, "1"),
        ("reduce", 400, 4000, "1"),
        ("barrier", 0, 0, "2"),
    ]
    write_survey_of(tmp_path, rules, library=INTEL)
    one = exported(tmp_path, "intel-variables")
    assert dict(one.settings) == {
        "I_MPI_ADJUST_BARRIER": "2:0-2147483647",
        "I_MPI_ADJUST_REDUCE": "2:0-399;1:400-2147483647",
    }
    # Of reduce-scatters it is not known what is best between 100 and 400 bytes.
    assert [line.split(" from ")[0] for line in one.left_out] == ["bcast by 4", "reduce_scatter by 1"]


# The FAQ of UCC: token=coll_type:msg_range:mem_type:team_size:score:alg, '#' between tokens.
TOKEN = re.compile(r"[a-z]+:\d+-(\d+|inf):host:\[\d+-\d+\]:@[a-z_]+:inf")


def test_scores_of_ucc_have_the_form_of_its_faq(tmp_path: Path) -> None:
    rules = [
        ("bcast", 1, 4095, "binomial"),
        ("bcast", 4096, 65535, "scatter_allgather"),
        ("allgather", 8, 99, "bruck"),
        ("alltoall", 8, 99, "linear_sync"),
        # One of a barrier makes UCC follow nothing at all.
        ("barrier", 0, 0, "recursive_doubling"),
    ]
    write_survey_of(tmp_path, rules)
    one = exported(tmp_path, "ucc-scores")
    tokens = one.settings["UCC_TL_UCP_TUNE"].split("#")
    assert all(map(TOKEN.fullmatch, tokens))
    # Ends are not in a range: what is for up to 99 bytes of a block is for less than 500 of five blocks.
    assert tokens == [
        "allgather:40-500:host:[5-5]:@bruck:inf",
        "bcast:1-4096:host:[5-5]:@knomial:inf",
        "bcast:4096-65536:host:[5-5]:@sag_knomial:inf",
    ]
    assert [line.split()[0] for line in one.left_out] == ["alltoall", "barrier"]


def test_the_plans_recipes_are_named_as_left_out(tmp_path: Path) -> None:
    tuning = write_survey_of(tmp_path, [("scan", 8, 100, "linear"), ("scan", 101, 200, "default")])
    rule = Rule("bcast", "2 ranks", 1, 9, "binomial", EVIDENCE)
    write_plan(
        tmp_path / "plan.json",
        Plan(
            topology=PlannedTopology(tuning.topology.fingerprint, "topology.json"),
            mpi=LibraryReference(tuning.mpi.library, tuning.mpi.abi),
            rules=(rule,),
        ),
    )
    left_out = exported(tmp_path, "openmpi-rules").left_out
    assert left_out[0] == "1 rule of the plan, whose recipes only isochrone run can run"
    # Open MPI looks for the size of a scan without its number of elements.
    assert left_out[1].startswith("scan by linear from 8 to 100 bytes")


def test_forms_are_for_the_library_that_was_measured(tmp_path: Path) -> None:
    write_survey_of(tmp_path, [], library=MPICH)
    with pytest.raises(IsochroneError, match=r"is of MPICH 4\.0\.2, and the form is for Open MPI"):
        read_material(tmp_path, ("Open MPI",))
    with pytest.raises(UsageError, match="is no form"):
        find_form("mvapich")
    with pytest.raises(IsochroneError, match="not at hand"):
        exported(tmp_path, "mpich-json")
    (tmp_path / "library.json").unlink()
    for form in FORMS:
        if form.name != "mpich-coordinates":
            with pytest.raises(IsochroneError, match="tune"):
                form.write(read_material(tmp_path))


@pytest.mark.parametrize(("vendor", "library"), [("Open MPI", OPEN_MPI), ("MPICH", MPICH)])
def test_of_what_has_no_sizes_for_the_library_only_rules_for_all_sizes_are_told(
    tmp_path: Path, vendor: str, library: str
) -> None:
    name = "recursive_doubling"
    for rest, count in (("default", 0), (name, 2)):
        tuning = write_survey_of(
            tmp_path, [("scan", 8, 100, name), ("scan", 101, 200, rest)], library=library
        )
        assert len(told_rules(tuning, vendor)) == count


def test_variables_that_hold_for_any_communicator_are_for_jobs_of_as_many_ranks(tmp_path: Path) -> None:
    """Files of rules name the number of ranks instead."""
    for vendor, library, name, elsewhere in (("Intel MPI", INTEL, "1", 0), ("MPICH", MPICH, "binomial", 1)):
        tuning = write_survey_of(tmp_path / vendor, [("bcast", 8, 1 << 20, name)], library=library)
        assert len(told_rules(tuning, vendor)) == len(told_rules(tuning, vendor, tuning.ranks)) == 1
        assert len(told_rules(tuning, vendor, tuning.ranks + 1)) == elsewhere


def test_the_topology_of_a_tuning_may_have_another_name(tmp_path: Path) -> None:
    tuning = write_survey_of(tmp_path, [])
    (tmp_path / "topology.json").rename(tmp_path / "racks.json")
    named = structs.replace(tuning, topology=structs.replace(tuning.topology, file="racks.json"))
    write_library(tmp_path / "library.json", named)
    assert read_material(tmp_path).topology_file == tmp_path / "racks.json"


def test_a_rule_for_no_collective_is_refused_in_one_line(tmp_path: Path) -> None:
    write_survey_of(tmp_path, [("bcast", 8, 100, "binomial")])
    file = tmp_path / "library.json"
    file.write_text(file.read_text().replace('"bcast"', '"foo"'))
    with pytest.raises(IsochroneError, match=r"rules\[0\]: there is no collective 'foo'"):
        read_library(file)


def test_a_rule_of_a_topology_that_is_gone_is_refused(tmp_path: Path) -> None:
    write_survey_of(tmp_path / "a", [], ranks=4)
    write_survey_of(tmp_path / "b", [], ranks=3)
    (tmp_path / "b" / "library.json").write_bytes((tmp_path / "a" / "library.json").read_bytes())
    assert read_library(tmp_path / "b" / "library.json").ranks == 4
    with pytest.raises(IsochroneError, match="made for another topology"):
        read_material(tmp_path / "b")
