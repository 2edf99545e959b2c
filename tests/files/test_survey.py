# SPDX-License-Identifier: BSD-3-Clause
"""survey.json: read as written, refused when it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import all_of
from msgspec import structs
from mutations import Mutate, mutate_json, truncate

from isochrone.errors import IsochroneError
from isochrone.files import Survey, TopologyReference, read_survey, write_survey

SURVEY = Survey(
    topology=TopologyReference("0" * 64),
    target="mpiexec -n 4",
    command=("isochrone", "survey"),
    cores=2,
    elapsed_s=61.5,
    provenance={"host": "login1"},
)


@pytest.mark.parametrize(
    "survey", [SURVEY, Survey(topology=TopologyReference("a" * 64), target="fram (simulated)")]
)
def test_a_survey_is_read_as_it_was_written(tmp_path: Path, survey: Survey) -> None:
    write_survey(tmp_path / "survey.json", survey)
    assert read_survey(tmp_path / "survey.json") == survey


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(isochrone="plan"), "this is a plan file, not survey"),
        (lambda d: d.update(schema_version=2), "schema_version 2 is not 1"),
        (lambda d: d.update(cores=0), "cores"),
        (lambda d: d.update(cores=True), "cores"),
        (lambda d: d.update(command="isochrone survey"), "command"),
        (lambda d: d.update(elapsed_s=-1), "elapsed_s"),
        (lambda d: d.update(topology={"fingerprint": "../x"}), "fingerprint"),
        (lambda d: d.pop("target"), "target"),
        (lambda d: d.update(more=1), "more"),
    ],
)
def test_what_is_no_survey_is_refused_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    path = tmp_path / "survey.json"
    write_survey(path, SURVEY)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(IsochroneError, match=message) as refused:
        read_survey(path)
    assert "\n" not in str(refused.value)


def test_a_command_line_that_is_no_text_is_kept_but_for_what_is_none(tmp_path: Path) -> None:
    write_survey(tmp_path / "survey.json", structs.replace(SURVEY, command=("isochrone", "a\udcff")))
    assert read_survey(tmp_path / "survey.json").command == ("isochrone", "a?")


@pytest.mark.parametrize("mutate", [mutate_json, truncate])
def test_a_damaged_survey_is_read_or_refused(tmp_path: Path, bounded: None, mutate: Mutate) -> None:
    path = tmp_path / "survey.json"
    write_survey(path, SURVEY)
    whole = json.dumps(json.loads(path.read_text())).encode()
    for survey in all_of(path, whole, mutate, read_survey, range(300)):
        write_survey(tmp_path / "again.json", survey)
        assert read_survey(tmp_path / "again.json") == survey
