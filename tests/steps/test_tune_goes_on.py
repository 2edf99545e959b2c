# SPDX-License-Identifier: BSD-3-Clause
"""A tuning that was interrupted goes on with what was measured, if it was measured on the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_target
import pytest
from made_target import MadeUpTarget, by_model, tuned_recipes

from isochrone.errors import IsochroneError
from isochrone.files import MpiLibrary, read_topology
from isochrone.steps.folder import LIBRARY_TUNING, TUNING
from isochrone.steps.racing import Racing
from isochrone.steps.tune import TuneOptions, forget

SIZES = (64, 65536, 1048576)


@pytest.mark.parametrize("budget_s", [None, 50.0])
def test_a_tuning_that_fails_goes_on_where_it_was(
    topology_file: Path, budget_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a budget too, of which starts are a part: a launch that comes later takes longer to start."""
    topology, model = read_topology(topology_file), by_model(topology_file, 1.5)
    budgets_s: list[float | None] = []
    plain = Racing.__init__

    def made(self: Racing, *given: Any) -> None:
        budgets_s.append(given[7])
        plain(self, *given)

    monkeypatch.setattr(Racing, "__init__", made)

    def tuned(launch_s: float, **more: int) -> tuple[MadeUpTarget, dict[int, str]]:
        target = MadeUpTarget(topology, model, False, 0.01, simulated=budget_s is None, **more)  # type: ignore[arg-type]
        monkeypatch.setattr("isochrone.steps.rounds.time.monotonic", lambda: launch_s * len(target.asked))
        return target, tuned_recipes(topology_file, target, SIZES, budget_s)

    whole, expected = tuned(2.0)
    for rounds in range(1, len(whole.asked)):
        with pytest.raises(IsochroneError) as failed:
            tuned(2.0, fails_after=rounds)
        assert "goes on from there" in "".join(failed.value.__notes__)
        going_on, found = tuned(5.0, seed_from=rounds)
        assert found == expected
        assert going_on.asked == whole.asked[rounds:]
    # One launch races, and three prove.
    assert set(budgets_s) == {None if budget_s is None else budget_s - 4 * 2.0}


def test_a_tuning_does_not_go_on_with_another_library(
    topology_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology, model = read_topology(topology_file), by_model(topology_file, 3.0)
    whole = MadeUpTarget(topology, model, False, 0.01)
    tuned_recipes(topology_file, whole, SIZES)
    for rounds in range(1, len(whole.asked)):
        with pytest.raises(IsochroneError, match="the network is down"):
            tuned_recipes(
                topology_file, MadeUpTarget(topology, model, False, 0.01, fails_after=rounds), SIZES
            )
        another = MadeUpTarget(topology, model, False, 0.01)
        with monkeypatch.context() as patched:
            patched.setattr(made_target, "MpiLibrary", lambda *_: MpiLibrary("another", "5.0", "mpich"))
            with pytest.raises(IsochroneError, match="begun with mpich, and another answers now"):
                tuned_recipes(topology_file, another, SIZES)
        forget(topology_file.parent, TuneOptions())


def test_a_tuning_does_not_go_on_with_what_was_measured_elsewhere(topology_file: Path) -> None:
    topology, model = read_topology(topology_file), by_model(topology_file, 1.5)
    whole = MadeUpTarget(topology, model, False, 0.01)
    tuned_recipes(topology_file, whole, SIZES)
    with pytest.raises(IsochroneError, match="the network is down"):
        tuned_recipes(topology_file, MadeUpTarget(topology, model, False, 0.01, fails_after=2), SIZES)
    other = MadeUpTarget(topology, model, False, 0.01, identity="the same name on another network")
    tuned_recipes(topology_file, other, SIZES)
    assert other.asked == whole.asked


def test_a_tuning_of_the_plan_alone_leaves_what_an_interrupted_one_of_the_library_goes_on_from(
    tmp_path: Path,
) -> None:
    kept = tmp_path / LIBRARY_TUNING / "0.jsonl"
    for folder in (TUNING, LIBRARY_TUNING):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "0.jsonl").touch()
    forget(tmp_path, TuneOptions())
    assert not (tmp_path / TUNING).exists()
    assert kept.exists()
    forget(tmp_path, TuneOptions(at_its_best=True))
    assert not kept.parent.exists()
