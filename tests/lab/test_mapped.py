# SPDX-License-Identifier: BSD-3-Clause
"""In a lab programs are recorded, and run where a map has their ranks."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from identity_maps import write_identity

from isochrone.cli.main import main
from isochrone.errors import UsageError
from isochrone.files import Place, read_graph
from isochrone.lab.labs import Lab
from isochrone.lab.network import Network
from isochrone.lab.target import Ranks
from isochrone.launch.library import MpiLibrary

GROUPS = Path(__file__).parents[2] / "examples" / "groups.c"
HOSTS = ("h3", "h1", "h1", "h0")


def test_a_program_is_recorded_in_a_lab(
    lab: Lab, library: MpiLibrary, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "groups"
    words = [library.mpicc, "-o", str(program), str(GROUPS)]
    subprocess.run(words, env=os.environ | library.environment, check=True)
    where = ["--lab", lab.name, "--mpi", library.name, "-n", "4", "--ppn", "1"]
    graph = tmp_path / "graph.json"
    line = ["record", *where, "-o", str(graph), "--json", "--", str(program), "2", "5", "100", "10"]
    assert main(line) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["ranks"] == 4
    assert re.search(r"^checksum \d+$", said.err, re.MULTILINE)
    rows = read_graph(graph).rows.merged()
    inside = {(0, 2): 4000, (2, 0): 4000, (1, 3): 4000, (3, 1): 4000}
    outside = {(0, 1): 400, (1, 0): 400, (2, 3): 400, (3, 2): 400}
    found = zip(rows.sources.tolist(), rows.targets.tolist(), rows.volume_bytes.tolist(), strict=True)
    assert {(source, target): volume for source, target, volume in found} == inside | outside


def test_ranks_run_where_the_map_has_them(
    lab: Lab, library: MpiLibrary, hello: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write_identity(tmp_path / "mapping.json", [Place(host, None, "") for host in HOSTS])
    line = ["lab", "mpi", "--lab", lab.name, "--mpi", library.name, "--map", str(path)]
    assert main([*line, "--", str(hello)]) == 0
    found = re.findall(r"rank (\d+) on (\S+) with (\d+)", capfd.readouterr().out)
    assert {int(rank): (host, int(together)) for rank, host, together in found} == {
        rank: (host, HOSTS.count(host)) for rank, host in enumerate(HOSTS)
    }
    assert main([*line, "-n", "4", "--", str(hello)]) == 2
    assert "-n and --map both say where the ranks run" in capfd.readouterr().err
    write_identity(path, (), at=range(4))
    assert main([*line, "--", str(hello)]) == 2
    assert "the mapping has no hosts" in capfd.readouterr().err


def test_a_host_that_the_lab_lacks_is_said(small: Network) -> None:
    assert Ranks.mapped(small, HOSTS).hosts == (3, 1, 1, 0)
    with pytest.raises(UsageError, match="'node7', which is no host of the lab"):
        Ranks.mapped(small, ("h0", "node7"))


def test_recording_takes_a_launcher_or_a_lab(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = ["-o", str(tmp_path / "graph.json")]
    assert main(["record", *output, "--placement", "cyclic", "--", "mpiexec", "-n", "2", "true"]) == 2
    said = capfd.readouterr().err
    assert said == "isochrone: --placement is for another place to run; add --lab NAME\n"
    assert main(["record", *output, "--lab", "two-racks"]) == 2
    assert "no program is given" in capfd.readouterr().err
