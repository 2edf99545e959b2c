# SPDX-License-Identifier: BSD-3-Clause
"""A survey says what it does and how long that will take, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isochrone.files.survey import read_survey
from isochrone.sim.build import build_platform, build_programs, find_tools

pytestmark = pytest.mark.usefixtures("simgrid")

SYSTEM = """
name: three
nodes: 3
sockets: 1
cores: 1
placement: cyclic
links:
  node:    {latency: 0.5us, bandwidth: 10GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
"""


def _words(folder: Path, system: str) -> list[str]:
    # SimGrid's model of MPICH simulates faster than that of Open MPI.
    words = ["survey", "--sim", system, "--sim-baseline", "mpich", "-o", str(folder)]
    return [sys.executable, "-m", "isochrone", *words]


def _on_terminal(words: list[str], until_s: float | None = None) -> tuple[int, str]:
    """Exit code and each line that was shown on a terminal of 100 columns; interrupted after so long."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(words, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    begin = time.monotonic()
    while True:
        if until_s is not None and time.monotonic() - begin > until_s:
            process.send_signal(signal.SIGINT)
            until_s = None
        if select.select([leader], [], [], 0.05)[0]:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # so ends a terminal that nobody has open
                break
            if not piece:
                break
            shown += piece
    os.close(leader)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))
    lines = dict.fromkeys(re.sub(r" {2,}", "  ", line) for line in re.split(r"[\r\n]+", text))
    return process.wait(timeout=60), "\n".join(lines)


def _same_plan(survey: Path, other: Path) -> bool:
    """Whether two plans have the same rules, with speedups that are the same but for their last digits: these
    depend on what was simulated before.
    """
    plans = [json.loads((folder / "plan.json").read_text())["rules"] for folder in (survey, other)]
    speedups = [[rule.pop("evidence")["speedup"] for rule in rules] for rules in plans]
    return bool(plans[0] == plans[1] and speedups[0] == pytest.approx(speedups[1], rel=1e-3))


def _launches(survey: Path) -> int:
    """How many launches of a tuning have begun."""
    return sum(1 for _ in (survey / "tuning").glob("*.jsonl"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float, str]:
    """A survey that was left alone: its folder, how long it took, and what it showed."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "three.yaml").write_text(SYSTEM, encoding="utf-8")
    tools = find_tools()
    build_programs(tools)  # so that nothing is left to build
    build_platform(tools)
    begin = time.monotonic()
    code, shown = _on_terminal(_words(folder / "s", str(folder / "three.yaml")))
    assert code == 0, shown
    return folder, time.monotonic() - begin, shown


def test_a_terminal_shows_what_is_done_how_far_it_is_and_the_time_left(
    whole: tuple[Path, float, str],
) -> None:
    _, _, shown = whole
    for step in ("probing three", "tuning: racing", "tuning: verifying", "writing the report"):
        assert step in shown, shown
    percent = [int(found) for found in re.findall(r"(\d+)%", shown)]
    assert percent == sorted(percent)
    assert percent[-1] > 90
    assert re.search(r"about \d+:\d\d left", shown)


@pytest.mark.parametrize("interruptions", [2, pytest.param(20, marks=pytest.mark.long)])
def test_a_survey_that_is_interrupted_at_random_moments_ends_with_the_same_plan(
    whole: tuple[Path, float, str], interruptions: int
) -> None:
    folder, alone_s, _ = whole
    survey = folder / f"interrupted-{interruptions}"
    words = _words(survey, str(folder / "three.yaml"))
    chance = random.Random(5)
    for _ in range(interruptions):
        code, shown = _on_terminal(words, chance.uniform(0.05, 0.9) * alone_s)
        assert code in (0, 128 + signal.SIGINT), shown
        if code != 0:
            assert "isochrone: stopped by SIGINT" in shown
            # Python takes a while to start.
            assert "is kept in" in shown or "surveying" not in shown
    code, shown = _on_terminal(words)
    assert code == 0, shown
    assert _same_plan(survey, folder / "s")
    assert not (survey / "tuning").exists()


def test_what_was_measured_before_an_interruption_is_not_measured_again(
    whole: tuple[Path, float, str],
) -> None:
    folder, _, _ = whole
    survey = folder / "kept"
    process = subprocess.Popen(_words(survey, str(folder / "three.yaml")), stderr=subprocess.DEVNULL)
    # Only what a launch has ended is kept: the first launch's, once the second writes.
    while process.poll() is None and _launches(survey) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert _launches(survey) >= 2
    done = subprocess.run(
        _words(survey, str(folder / "three.yaml")), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d+ of \d+ cases were measured before", done.stderr), done.stderr
    assert _same_plan(survey, folder / "s")
    # What the run took that was killed is not known.
    assert read_survey(survey / "survey.json").elapsed_s is None
    assert read_survey(folder / "s" / "survey.json").elapsed_s is not None
