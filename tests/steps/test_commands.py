# SPDX-License-Identifier: BSD-3-Clause
"""Wrong things typed at the steps get one clear line and the right exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.cli.main import main


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["survey"], 2, "neither a launcher nor a simulated cluster"),
        (["survey", "--sim", "no-such"], 2, "no-such"),
        (["survey", "--sim", "demo", "--", "mpiexec", "-n", "4"], 2, "a launcher and --sim are both given"),
        (["survey", "--placement", "random", "--", "mpiexec", "-n", "4"], 2, "add --sim NAME or --lab NAME"),
        (["survey", "--sim", "demo", "--lab", "wan"], 2, "--sim and --lab are both given"),
        (["survey", "--lab", "no-such"], 2, "no lab 'no-such'"),
        (["bench", "--lab", "wan", "--mpi", "no-such"], 2, "no MPI library 'no-such'"),
        (["lab", "down", "../x"], 2, "no lab '../x' is up"),
        (["lab", "exec", "--lab", "no-such", "h0", "--", "true"], 2, "no lab 'no-such' is up"),
        (["probe", "--sim", "demo", "--sizes", "0,zero"], 2, "--sizes: 'zero' is not a number"),
        (["probe", "--sim", "demo", "--sizes", "0,0.5"], 2, "--sizes: '0.5' is no whole number of bytes"),
        (["probe", "--sim", "demo", "--sizes", "0,2GiB"], 2, "--sizes: '2GiB' is not a number from 0 to"),
        (["probe", "--sim", "demo", "--pairs", "0-" + "9" * 5000], 2, "is no pair of ranks"),
        (["probe", "--sim", "demo", "--pairs", "0-\u0665"], 2, "is no pair of ranks"),
        (["probe", "--sim", "demo", "--pairs", "0-1,3-\u00b2"], 2, "is no pair of ranks"),
        (["probe", "--sim", "demo", "--together", "no-such"], 2, "'no-such' is no such choice, and no file"),
        (["probe", "--sim", "demo", "--together", "x" * 5000], 2, "is no such choice, and no file"),
        (["probe", "--sim", "demo", "--together", "/dev/null"], 1, "/dev/null: holds no cluster"),
        (["probe", "--sim", "demo", "--budget", "nonsense"], 2, "'nonsense' is no time"),
        (["probe", "--sim", "demo", "--budget", "-5"], 2, "'-5' is no time"),
        (["probe", "--sim", "demo", "--budget", "0s"], 2, "'0s' is no time"),
        (["probe", "--sim", "demo", "--budget", "5d"], 2, "'5d' is no time"),
        (["probe", "--sim", "demo", "--precision", "2"], 2, "--precision"),
        (["probe", "--sim", "demo", "--precision", "nan"], 2, "--precision"),
        (["bench", "--sim", "demo", "--recipe", "hierarchical("], 2, "expected a name"),
        (["bench", "--sim", "demo", "--patterns", "pong"], 2, "'pong' is no pattern; use some of pingpong, "),
        (["bench", "--sim", "demo", "--patterns", "halo", "-r", "binomial"], 2, "are the MPI library's own"),
        (["bench", "--sim", "demo", "--patterns", "halo", "--guidelines"], 2, "give it alone"),
        (["detect", "/no/such/file"], 1, "/no/such/file"),
        (["report", "/no/such/folder"], 1, "/no/such/folder"),
        (["library", "tune", "--sim", "demo", "--sizes", "8,0"], 2, "--sizes: 0 is too few; the least is 1"),
        (["tune", "--sim", "demo", "--sizes", "0"], 2, "--sizes: 0 is too few; the least is 1"),
        (["bench", "--sim", "demo", "--placement", "here"], 2, "--placement: 'here' is no placement"),
        (["bench", "--sim", "demo", "--noise", "3"], 2, "--noise: 3.0 is no noise"),
        (["plan", "explain", "bcast,reduce"], 2, "COLLECTIVE: 'bcast,reduce' is more than one collective"),
        (["show", "binomial", "-n", "4", "-c", "bcast,reduce"], 2, "is more than one collective; name one"),
        (["tune", "--topology", "/no/such", "--sim", "demo"], 1, "/no/such"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == code
    shown = capfd.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert len(shown.err.strip().splitlines()) == 1, shown.err
