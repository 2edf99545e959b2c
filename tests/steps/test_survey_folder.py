# SPDX-License-Identifier: BSD-3-Clause
"""A survey's folder survives every command, and what is known of a machine stays known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fat_trees import two_level
from typed import typed

from isochrone.files import read_plan, read_topology
from isochrone.launch.lock import locked

pytestmark = pytest.mark.usefixtures("simgrid")

DATA = ("measurements.jsonl", "topology.json", "plan.json", "bench.jsonl", "survey.json")
SYSTEM = """
name: two
nodes: 4
sockets: 1
cores: 2
placement: cyclic
links:
  node:    {latency: 0.5us, bandwidth: 10GB/s}
  network: {latency: 2us, bandwidth: 5GB/s}
network: {kind: islands, islands: [2, 2], uplink: {latency: 6us, bandwidth: 1GB/s, capacity: 1GB/s}}
"""
SWITCHES = "SwitchName=a Nodes=two-0\nSwitchName=b Nodes=two-[1-3]\nSwitchName=top Switches=a,b\n"


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a system, a fabric that contradicts it, and a survey."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "two.yaml").write_text(SYSTEM, encoding="utf-8")
    (folder / "one.yaml").write_text(SYSTEM.replace("cores: 2", "cores: 1"), encoding="utf-8")
    (folder / "topology.conf").write_text(SWITCHES, encoding="utf-8")
    few = ("--collectives", "bcast,allreduce", "--sizes", "8,262144,1048576")
    done = typed(folder, "survey", "--sim", "two.yaml", "-o", "s", *few)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(surveyed: Path, tmp_path: Path) -> Path:
    """A copy to work in."""
    return shutil.copytree(surveyed, tmp_path / "copy")


def _data(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "s" / name).read_bytes() for name in DATA}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("detect s", 0, ""),
        ("detect s --json", 0, ""),
        ("detect s --fabric topology.conf", 1, "plan.json beside it was made for this topology"),
        ("detect s --method components", 1, "plan.json beside it was made for this topology"),
        ("detect s --method kmeans --groups 3", 1, "-o, or over it with --force"),
        ("detect s -o s/plan.json", 1, "holds plan, which would be lost"),
        ("detect s --clusters s/measurements.jsonl", 1, "holds measurements, which would be lost"),
        ("tune -t s --sim one.yaml", 1, "the survey is of 8 ranks, and two (simulated) starts 4"),
        ("bench --sim two.yaml -o s/bench.jsonl --sizes 8", 1, "plan.json beside it is verified by this"),
        ("bench --sim two.yaml -o s/topology.json --sizes 8", 1, "holds topology, which would be lost"),
        ("bench --sim two.yaml --plan s --sizes 8 --repetitions 1", 0, ""),
        ("probe --sim two.yaml -o s/plan.json", 2, "not a file of measurements"),
        ("probe --sim one.yaml -o s/measurements.jsonl", 2, "measured otherwise"),
        ("probe --sim two.yaml -o s/measurements.jsonl --sizes 0", 2, "measured otherwise"),
        ("survey --sim one.yaml -o s", 2, "measured otherwise"),
        ("doctor s", 0, ""),
        ("doctor s --against s", 0, ""),
        ("report s", 0, ""),
        ("report s --json", 0, ""),
    ],
)
def test_a_survey_survives_every_command(folder: Path, words: str, code: int, said: str) -> None:
    before = _data(folder)
    done = typed(folder, *words.split())
    assert (done.returncode, _data(folder)) == (code, before), done.stderr
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2 or code == 0


@pytest.mark.parametrize(
    "words",
    ["survey --sim two.yaml -o s", "tune -t s --sim two.yaml", "library tune -t s --sim two.yaml"],
)
def test_two_do_not_write_into_one_folder(folder: Path, words: str) -> None:
    before = _data(folder)
    with locked(folder / "s" / ".lock"):
        done = typed(folder, *words.split())
    assert (done.returncode, _data(folder)) == (1, before), done.stderr
    (line,) = done.stderr.splitlines()
    assert (
        line == "isochrone: s: another isochrone surveys or tunes into it; wait for it, or choose another one"
    )


def test_default_outputs_inside_the_folder_are_no_danger_either(folder: Path) -> None:
    before = _data(folder)
    assert typed(folder / "s", "bench", "--sim", "../two.yaml", "--sizes", "8").returncode == 1
    assert typed(folder / "s", "probe", "--sim", "../two.yaml").returncode == 0
    assert _data(folder) == before


def test_what_a_simulation_knows_stays_known(folder: Path) -> None:
    first = read_topology(folder / "s" / "topology.json")
    assert [level.name for level in first.levels] == ["machine", "switch", "node"]
    assert set(first.accuracy) == {"switch", "node"}

    done = typed(folder, "detect", "s", "-o", "other.json")
    assert done.returncode == 0, done.stderr
    second = read_topology(folder / "other.json")
    assert [level.name for level in second.levels] == ["machine", "switch", "node"]
    assert second.accuracy == first.accuracy
    assert second.known == first.known


def test_what_a_fabric_said_stays_known(folder: Path) -> None:
    for file in ("topology.json", "plan.json"):
        (folder / "s" / file).unlink()
    real = SWITCHES.replace("two-0", "two-[0-1]").replace("two-[1-3]", "two-[2-3]")
    (folder / "topology.conf").write_text(real, encoding="utf-8")
    assert typed(folder, "detect", "s", "--fabric", "topology.conf").returncode == 0
    (folder / "topology.conf").unlink()
    assert typed(folder, "detect", "s").returncode == 0
    found = read_topology(folder / "s" / "topology.json")
    assert [level.name for level in found.levels] == ["machine", "switch", "node"]
    assert found.agreement["switch"]["source"] == "fabric"


def test_a_fabric_says_the_same_as_slurms_file_of_it(folder: Path) -> None:
    for file in ("topology.json", "plan.json"):
        (folder / "s" / file).unlink()
    dumps = two_level(2, 2, 1).dump(folder / "dumps")
    net = (dumps / "ibnetdiscover.txt").read_text(encoding="utf-8")
    for number in range(4):
        net = net.replace(f"node-{number // 2:03d}-{number % 2:03d}", f"two-{number}")
    (dumps / "ibnetdiscover.txt").write_text(net, encoding="utf-8")
    done = typed(folder, "detect", "s", "--fabric", "dumps")
    assert done.returncode == 0, done.stderr
    found = read_topology(folder / "s" / "topology.json")
    assert [level.name for level in found.levels] == ["machine", "switch", "node"]
    assert found.agreement["switch"]["source"] == "fabric"


def test_a_topology_is_replaced_by_force_and_the_plan_is_not_shown_as_if_it_held(folder: Path) -> None:
    done = typed(folder, "detect", "s", "--method", "kmeans", "--groups", "3", "--force")
    assert done.returncode == 0, done.stderr
    found = read_topology(folder / "s" / "topology.json")
    assert found.fingerprint != read_plan(folder / "s" / "plan.json").fingerprint
    done = typed(folder, "report", "s", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["broadcast"] is None


def test_a_plan_still_holds_when_levels_have_other_names(folder: Path) -> None:
    topology = json.loads((folder / "s" / "topology.json").read_text())
    for level in topology["levels"]:
        level["name"] = {"switch": "rack", "machine": "site"}.get(level["name"], level["name"])
    (folder / "s" / "topology.json").write_text(json.dumps(topology))
    assert read_topology(folder / "s" / "topology.json").levels[1].name == "rack"
    words = ("bench", "--sim", "two.yaml", "--plan", "s", "--repetitions", "1", "--json", "--sizes")
    done = typed(folder, *words, "262144,1048576")
    assert done.returncode == 0, done.stderr
    planned = [row for row in json.loads(done.stdout)["results"] if row["recipe"] == "plan"]
    assert all(row["speedup"] > 1.1 for row in planned)
