# SPDX-License-Identifier: BSD-3-Clause
"""That pairs disturbed each other is said where they can have, and several show it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.adaptive.interference import interference
from isochrone.files import Measurements, write_measurements
from isochrone.steps.probe import ProbeOptions, probe


def measured(hosts: str, repeated: int, together: str = "nodes") -> Measurements:
    """Pairs that took twice as long as those of them did that were repeated alone."""
    found = synthetic(
        np.full((len(hosts), len(hosts), 1), 2e-6),
        hosts=list(hosts),
        provenance={"command": ["isochrone-probe", "--together", together]},
    )
    return replace(found, alone=dict.fromkeys(found.pairs[:repeated], np.full((2, 1), 1e-6)))


@pytest.mark.parametrize(("repeated", "told"), [(0, None), (2, None), (3, (2.0, 0)), (12, (2.0, 0))])
def test_few_pairs_tell_nothing_of_the_others(repeated: int, told: tuple[float, int] | None) -> None:
    assert interference(measured("abcdef", repeated)) == told


class Written:
    """A place to run, whose probe writes what was measured."""

    name, simulated, exact = "written", True, True

    def __init__(self, measurements: Measurements) -> None:
        self._measurements = measurements

    def run(self, program: str, arguments: list[str], talk: Any = None) -> None:
        write_measurements(Path(arguments[arguments.index("--output") + 1]), self._measurements)

    def check(self, program: str, output: Path) -> None:
        pass


@pytest.mark.parametrize(
    ("hosts", "together", "said"),
    [
        ("abcd", "nodes", True),
        ("abcd", "none", False),
        ("abc", "nodes", False),
        ("abc", "all", False),
        ("aaaa", "nodes", False),
        ("aaaa", "all", True),
    ],
)
def test_to_measure_nothing_at_once_is_advice_where_something_was(
    hosts: str, together: str, said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    target: Any = Written(measured(hosts, 3, together))
    probe(target, tmp_path / "m.jsonl", ProbeOptions((0,), pairs=[(0, 1)]))
    assert ("probe again with --together none" in caplog.text) == said
