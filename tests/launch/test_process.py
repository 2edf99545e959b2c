# SPDX-License-Identifier: BSD-3-Clause
"""Native programs are watched: warnings are passed on, failures are one line, and they end when we do."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError, UsageError
from isochrone.launch.answers import next_object
from isochrone.launch.process import Channel, end_group, exit_code_of, run_program


def _shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def test_warnings_of_the_program_reach_the_log_and_its_progress_does_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_program(
        _shell("echo 'progress 1 2' >&2; echo 'isochrone-probe: dropped a line' >&2"), "isochrone-probe", {}
    )
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [
        "isochrone-probe: dropped a line"
    ]


def test_a_notice_is_logged_while_the_program_runs_and_even_if_it_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(IsochroneError):
        run_program(_shell("echo 'notice it takes long' >&2; exit 1"), "isochrone-probe", {})
    assert [record.message for record in caplog.records] == ["it takes long"]


def test_the_programs_first_own_line_explains_a_failure() -> None:
    script = "echo 'isochrone-probe: disk is full' >&2; echo 'mpiexec: rank 0 ended' >&2; exit 1"
    with pytest.raises(IsochroneError, match=r"^isochrone-probe ended with exit code 1: disk is full$"):
        run_program(_shell(script), "isochrone-probe", {})


def test_options_that_the_program_refuses_are_wrong_usage() -> None:
    script = "echo 'isochrone-probe: --repetitions: 0 is too few (see --help)' >&2; exit 2"
    with pytest.raises(UsageError, match=r"exit code 2: --repetitions: 0 is too few$"):
        run_program(_shell(script), "isochrone-probe", {})
    with pytest.raises(IsochroneError) as launcher:
        run_program(_shell("echo 'mpiexec: no such host' >&2; exit 2"), "isochrone-probe", {})
    assert launcher.value.exit_code == 1


def test_without_an_own_line_the_last_paragraph_explains_a_failure() -> None:
    script = (
        "echo 'all is well'; printf '%s\\n' hello '-----' 'there are' ' not enough slots' '-----' >&2; exit 1"
    )
    with pytest.raises(IsochroneError, match=r"ended with exit code 1: there are not enough slots$"):
        run_program(_shell(script), "isochrone-probe", {})


def test_a_signal_is_named() -> None:
    with pytest.raises(IsochroneError, match="was ended by signal SIGSEGV"):
        run_program(_shell("kill -SEGV $$"), "isochrone-probe", {})


def test_a_launcher_that_cannot_be_started_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(IsochroneError, match="cannot be started"):
        run_program([str(tmp_path / "nothing")], "isochrone-probe", {})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_program_does_not_outlive_us(tmp_path: Path, number: signal.Signals) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "from isochrone.launch.process import run_program\n"
        f"run_program(['/bin/sh', '-c', 'echo $$ > {pid_file}; exec sleep 60'], 'isochrone-probe', {{}})\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "src"}) as us:
        _wait_until(lambda: pid_file.is_file() and pid_file.read_text(encoding="ascii").endswith("\n"))
        us.send_signal(number)
    child = int(pid_file.read_text(encoding="ascii"))
    _wait_until(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return False


def _wait_until(condition: object) -> None:
    assert callable(condition)
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("waited for 20 seconds in vain")


def test_the_input_of_a_program_stays_open_until_it_has_ended() -> None:
    # Hydra's mpiexec fails if the end of its input comes while its ranks are ending.
    script = "read word; if timeout 0.5 cat >/dev/null; then exit 3; fi; test $word = end"
    run_program(_shell(script), "isochrone-probe", {}, lambda channel: channel.send("end"))


def test_a_program_that_ends_well_before_it_was_told_all_has_failed() -> None:
    # As where the launcher gives its ranks no standard input.
    with pytest.raises(IsochroneError, match=r"before it was told all .*standard input"):
        run_program(_shell("echo '{}'"), "isochrone-probe", {}, lambda channel: _answers(channel, 2))
    run_program(_shell("echo '{}'; echo '{}'"), "isochrone-probe", {}, lambda channel: _answers(channel, 2))


def test_a_launcher_that_labels_what_ranks_say_is_told_of() -> None:
    # Else nothing that the program says would be heard, and it would wait for ever.
    script = "echo 'a word of the launcher'; echo '[0] {\"a\":1}'; sleep 60"
    begin = time.monotonic()
    with pytest.raises(IsochroneError, match=r"puts '\[0\] ' before"):
        run_program(_shell(script), "isochrone-probe", {}, lambda channel: _answers(channel, 1))
    assert time.monotonic() < begin + 30


def _answers(channel: Channel, count: int) -> None:
    for _ in range(count):
        next_object(channel)


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    number = signal.SIGRTMIN + 2
    with pytest.raises(IsochroneError, match=f"was ended by signal {number:d}"):
        run_program(_shell(f"kill -{number:d} $$"), "isochrone-probe", {})


def test_an_exit_code_is_that_of_a_shell() -> None:
    assert [exit_code_of(each) for each in (0, 3, -signal.SIGSEGV)] == [0, 3, 139]


def test_what_outlives_the_leader_of_a_group_is_ended_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    deaf = f'trap "" TERM; echo $$ > {pid_file}; while :; do sleep 0.1; done'
    leader = subprocess.Popen(_shell(f"sh -c '{deaf}' & exec sleep 60"), start_new_session=True, text=True)
    _wait_until(lambda: pid_file.is_file() and pid_file.read_text(encoding="ascii").endswith("\n"))
    end_group(leader)
    child = int(pid_file.read_text(encoding="ascii"))
    _wait_until(lambda: not _runs(child))
