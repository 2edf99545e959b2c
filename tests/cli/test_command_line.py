# SPDX-License-Identifier: BSD-3-Clause
"""Every ending of a command is an exit code and at most one line on stderr."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import isochrone
from isochrone.cli.main import Commands, app, main
from isochrone.cli.target import TargetOptions, open_target
from isochrone.errors import GateError, IsochroneError, UsageError


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache and settings."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ISOCHRONE_DEBUG", raising=False)


def _fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("isochrone.launch.registry.all_libraries", fail)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"isochrone {isochrone.__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in app.registered_commands:
        assert str(command.name) in text


def test_no_command_at_all_shows_the_help_and_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "survey" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-command"],
        ["info", "--no-such-option"],
        ["probe"],
        ["probe", "--sim", "demo", "--", "mpiexec", "-n", "2"],
        ["probe", "--seed", "1", "--", "mpiexec", "-n", "2"],
        ["probe", "--", "no-such-launcher", "-n", "2"],
        ["run", "--", "no-such-launcher", "-n", "2", "./program"],
        ["run"],
        ["mpi", "remove", "ghost"],
        ["mpi", "add", "no-such-file"],
        ["detect", "m.csv", "--unit", "miles"],
        # Measurements say themselves what they are in.
        ["detect", "m.jsonl", "--unit", "us"],
        ["doctor", "m.jsonl", "--against", "folder", "--unit", "us"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(r"isochrone: .+\n", captured.err)


@pytest.mark.parametrize(
    ("option", "suggested"),
    [
        ("--wrong", []),
        ("--jsn", ["--json"]),
        ("--topologi", ["--topology"]),
        ("--ppm", ["--ppn"]),
    ],
)
def test_only_an_option_that_is_near_is_suggested(
    option: str, suggested: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "slurm", "up", option]) == 2
    said = capsys.readouterr().err.split("; see:")[0]
    assert option in said
    assert re.findall(r"--\w+", said.replace(option, "")) == suggested


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (IsochroneError("broken", "file.json:3", "mend it"), 1),
        (UsageError("broken", "file.json:3", "mend it"), 2),
        (GateError("broken", "file.json:3", "mend it"), 3),
    ],
)
def test_our_own_errors_are_one_line_with_what_where_and_what_to_do(
    error: IsochroneError, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail_with(monkeypatch, error)
    assert main(["mpi", "list"]) == code
    assert capsys.readouterr().err == "isochrone: file.json:3: broken; mend it\n"


def test_an_error_of_the_system_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail_with(monkeypatch, OSError(28, "No space left on device", "/full/file"))
    assert main(["mpi", "list"]) == 1
    assert capsys.readouterr().err == "isochrone: /full/file: No space left on device\n"


def test_a_fault_of_our_own_shows_no_traceback_unless_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail_with(monkeypatch, ZeroDivisionError("of our own"))
    assert main(["mpi", "list"]) == 1
    assert re.fullmatch(r"isochrone: a fault .*ZeroDivisionError: of our own; .*\n", capsys.readouterr().err)
    monkeypatch.setenv("ISOCHRONE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["mpi", "list"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_being_stopped_is_one_line_and_has_the_shells_exit_code(number: signal.Signals, code: int) -> None:
    script = (
        "import sys, time\n"
        "import isochrone.launch.registry as registry\n"
        "from isochrone.cli.main import main\n"
        "registry.all_libraries = lambda: (print('ready', flush=True), time.sleep(60))\n"
        "sys.exit(main(['mpi', 'list']))\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (code, f"isochrone: stopped by {number.name}\n")


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = f"{sys.executable} -m isochrone info --json"
    done = subprocess.run(
        ["/bin/bash", "-c", f"{command} | true"], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_results_that_find_no_room_are_one_line(unbuffered: str) -> None:
    command = f"{sys.executable} -m isochrone --version >/dev/full"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    message = "isochrone: standard output: cannot write (No space left on device)\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [(">&-", "--version", 0), ("2>&-", "no-such-command", 2), ("<&- >&- 2>&-", "--version", 0)],
)
def test_standard_streams_may_be_closed(closed: str, words: str, code: int) -> None:
    command = f"{sys.executable} -m isochrone {words} {closed}"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("command", ["probe", "bench", "survey", "tune"])
@pytest.mark.parametrize("sizes", ["", "-1", "1073741825", "9" * 30, "9" * 5000, "1e3x"])
def test_sizes_that_are_none_are_refused_before_anything_runs(
    command: str, sizes: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    output = "-t" if command == "tune" else "-o"
    assert main([command, "--sim", "demo", output, str(tmp_path / "out"), f"--sizes={sizes}"]) == 2
    message = capsys.readouterr().err
    assert re.fullmatch(r"isochrone: --sizes: .+; write for example 1000, 64KiB or 1MiB\n", message)
    assert len(message) < 200
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "option", "of"),
    [
        (["--both"], "--both", "--plogp"),
        (["--method", "thesis"], "--method", "--plogp"),
        (["--max-size", "64"], "--max-size", "--plogp"),
        (["--blind", "--mode", "all"], "--blind", "--mode adaptive"),
        (["--share", "0.5"], "--share", "--mode fast"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    words: list[str], option: str, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", "--sim", "demo", *words]) == 2
    message = f"isochrone: {option}: is of {of} only; give {of} too, or leave it away\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "bench --lab two-racks --collectives allreduce",
            "--collectives: is nothing for the survey of a lab",
        ),
        ("bench --lab two-racks --repetitions 5", "--repetitions: is nothing for the survey of a lab"),
        ("bench --lab two-racks --root 3", "--root: is nothing for the survey of a lab"),
        ("tune --sim-baseline mpich -- mpiexec -n 2", "--sim-baseline is for another place to run"),
        ("probe --sim demo --pairs=", "--pairs: '' is no pair of ranks"),
        ("detect none.csv --size 4096", "--size: is of a message whose time is predicted"),
        ("library export -o file.txt", "FORM: of no form is given for file.txt"),
        ("run --learn --trials off -- mpiexec -n 2 true", "--learn: nothing is learned without trials"),
    ],
)
def test_an_option_that_cannot_work_here_is_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_probe_writes_into_no_pipe_as_it_would_have_to_read_it_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "isochrone", "probe", "--sim", "demo", "-o", str(pipe)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert done.stderr.startswith(f"isochrone: {pipe}: ")
    assert done.stderr.count("\n") == 1
    assert pipe.is_fifo()


def test_info_tells_what_is_at_hand_in_words_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["version"] == isochrone.__version__
    assert {"binomial", "scatter_allgather"} <= {row["name"] for row in facts["algorithms"]}
    assert {"betzy", "fram"} <= set(facts["simulated_clusters"])
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for library in facts["mpi_libraries"]:
        assert library["name"] in text


def test_the_libraries_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "list", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"libraries", "broken"}


def test_a_simulated_cluster_is_a_target_with_its_settings() -> None:
    with open_target(TargetOptions(sim="demo", placement="block", seed=3, noise=0.1)) as target:
        assert target.simulated
        assert target.truth is not None


def test_the_native_programs_and_the_package_have_one_version() -> None:
    header = Path(__file__).parents[2] / "native" / "mpi" / "comm" / "version.hpp"
    assert f'"{isochrone.__version__}"' in header.read_text(encoding="utf-8")


def test_starting_up_loads_no_heavy_library() -> None:
    script = (
        "import sys, isochrone.cli.main\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'plotly') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_stop_that_a_library_takes_for_an_error_of_its_own_is_a_stop() -> None:
    # Matplotlib's compiled parts did so with Ctrl-C while a figure was drawn.
    script = """
import os, signal, sys, time
from isochrone.cli import main

def app(**ignored):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except BaseException:
        raise TypeError("incompatible arguments") from None

main.app = app
sys.exit(main.main([]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "isochrone: stopped by SIGINT\n")


@pytest.mark.parametrize("words", [["survey", "-o", ""], ["detect", ""], ["run", "--plan", "", "--", "x"]])
def test_an_empty_word_is_no_path(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"isochrone: {words[words.index('') - 1]}: an empty word is given; ")


def test_no_option_takes_what_is_not_a_number() -> None:
    # Some versions of Typer take one for a number of any range.
    commands = Commands()

    @commands.command()
    def share(of: float = typer.Option(0.0, "--of")) -> None:
        raise AssertionError(of)

    with pytest.raises(UsageError, match="--of: nan is no number"):
        commands(args=["--of", "nan"], standalone_mode=False)
