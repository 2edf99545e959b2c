# SPDX-License-Identifier: BSD-3-Clause
"""Survey and report end with what is slow."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_page import Reader
from squares import changed, without

from isochrone.cli.main import main
from isochrone.report import summary_lines
from isochrone.report.headline import MOST_FINDINGS
from isochrone.report.page import page

NOTHING = "Nothing in it is slower than its like."


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) in (0, 3)
    return capsys.readouterr().out


def test_what_doctor_names_is_in_terminal_page_and_json(
    survey_of: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = survey_of("cluster")
    hosts = np.array([place.host for place in made.measurements.places])

    def slow_down(values: np.ndarray) -> None:
        values[(hosts == "n2")[:, None] & (hosts == "n0")] *= 1.3
        values[(hosts == "n0")[:, None] & (hosts == "n2")] *= 1.3

    folder = replace(made, measurements=changed(made.measurements, slow_down)).write(tmp_path)
    lines = run(capsys, "report", str(folder)).splitlines()
    doctors = run(capsys, "doctor", str(folder)).splitlines()
    assert doctors
    assert lines[-2 - len(doctors) : -1] == ["Slower than its like:", *(f"  {line}" for line in doctors)]
    text = Reader((folder / "report.html").read_text()).text
    assert all(line[1:] in text for line in doctors)
    documents = [
        json.loads(run(capsys, command, str(folder), "--json"))["findings"]
        for command in ("report", "doctor")
    ]
    assert documents[0] == documents[1]


def test_a_machine_where_nothing_is_slow_is_said_to_be_so(survey_of: Callable) -> None:
    facts = survey_of("cluster").facts()
    assert summary_lines(facts)[-1] == NOTHING
    assert NOTHING in Reader(page(facts)).text


@pytest.mark.parametrize("cores", [1, 2])
def test_a_report_is_made_where_doctor_has_nothing_to_say(
    survey_of: Callable,
    machine_of: Callable,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cores: int,
) -> None:
    made = survey_of(machine_of([("node", 1, 5e-7), ("core", cores, 0)]))
    folder = made.write(tmp_path, leave_out=["plan.json", "bench.jsonl"])
    assert ("slower" in run(capsys, "report", str(folder))) == (cores > 1)


def test_a_report_is_made_where_pairs_are_missing(
    survey_of: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = survey_of("laptop")
    some = replace(without(made.measurements, 0, 1), ended=False)
    folder = replace(made, measurements=some).write(tmp_path)
    assert json.loads(run(capsys, "report", str(folder), "--json"))["findings"] is None
    assert "do not tell which pairs are alike" in Reader((folder / "report.html").read_text()).text


def test_the_terminal_lists_the_worst_only(survey_of: Callable) -> None:
    facts = survey_of("laptop").facts([f"pair {number} is slow" for number in range(100)])
    lines = summary_lines(facts)
    assert lines[-1] == f"  … {100 - MOST_FINDINGS} more; `isochrone doctor` lists them"
    assert sum(line.endswith("is slow") for line in lines) == MOST_FINDINGS


def test_where_ranks_shared_cores_nothing_is_named_slow(
    survey_of: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = survey_of("laptop")

    def hold_up(values: np.ndarray) -> None:
        values[0, 1] = values[1, 0] = 1400 * values[0, 1]

    made = replace(made, measurements=changed(made.measurements, hold_up))
    alone = made.write(tmp_path / "alone")
    assert "Slower than its like:" in run(capsys, "report", str(alone))

    shared = replace(made.measurements, provenance={**made.measurements.provenance, "oversubscribed": True})
    folder = replace(made, measurements=shared).write(tmp_path / "shared")
    shown = run(capsys, "report", str(folder))
    assert "slow" not in shown.lower().replace("slower than the library", "")
    assert "Ranks shared cores" in Reader((folder / "report.html").read_text()).text
    assert json.loads(run(capsys, "report", str(folder), "--json"))["findings"] is None
