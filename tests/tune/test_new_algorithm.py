# SPDX-License-Identifier: BSD-3-Clause
"""An algorithm that is added as CONTRIBUTING.md says is tuned, priced, and called by its name everywhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What walks the table, asked in a process whose native core has one row more.
QUESTIONS = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("isochrone._core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
sys.modules["isochrone._core"] = core
spec.loader.exec_module(core)
import isochrone
isochrone._core = core

from isochrone.cli import info
from isochrone.files import Evidence, Rule
from isochrone.report.sections.plan import rule_sentence
from isochrone.tune.candidates import neighbours
from isochrone.tune.forms import level_algorithms

links = {"latency_s": 1e-6, "send_overhead_s": [[0, 1e-7]], "receive_overhead_s": [[0, 0]],
         "gap_s": [[0, 0], [1000000, 1e-4]], "capacity_bytes_per_s": None}
places = [("n0", str(cpu), "x") for cpu in range(9)]
topology = {"isochrone": "topology", "schema_version": 1, "fingerprint": "f",
            "places": [dict(zip(("host", "cpus", "signature"), place)) for place in places],
            "levels": [{"name": "node", "groups": [list(range(9))], "links": links}]}
layout = core.match(json.dumps(topology), places)
evidence = Evidence(2e-5, 1e-5, 2.0, (1.9, 2.1), 20)
print(json.dumps({
    "rows": [row["name"] for row in core.algorithms()],
    "candidates": list(level_algorithms("bcast")[0]),
    "near": neighbours("bcast", layout, "binomial@8192", (0,), 65536, 20),
    "price": core.predict("bcast", layout, "ternary", 0, 64),
    "words": rule_sentence(Rule("bcast", "a shape", 1, 9, "ternary@4096", evidence)),
}))
"""


@pytest.fixture(scope="module")
def core_with_one_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module ``_core``, with the algorithm of CONTRIBUTING.md in its table."""
    folder = tmp_path_factory.mktemp("core")
    native = shutil.copytree(ROOT / "native", folder / "native")
    shutil.copytree(ROOT / "src", folder / "src")  # the version is read from there
    source, row = re.findall(r"```cpp\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    declaration, _, entry = row.partition("...\n")
    algorithms = native / "core" / "algorithms"
    (algorithms / "trees" / "ternary.cpp").write_text(source)
    table = algorithms / "bcast" / "table.cpp"
    opening = "\nnamespace isochrone::core::algorithms {"
    text = table.read_text().replace(opening, f"\n{declaration}{opening}", 1)
    table.write_text(text.replace("});", f"{entry}}});", 1))

    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    build = folder / "build"
    settings = (
        "-DISOCHRONE_PYTHON=ON",
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O0",  # without -g, which would take longer than all the rest
        f"-Dnanobind_DIR={nanobind}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )
    for command in (
        ("cmake", "-S", str(native), "-B", str(build), "-G", "Ninja", *settings),
        ("cmake", "--build", str(build), "--target", "_core"),
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    (module,) = build.rglob("_core*.so")
    return module


@pytest.mark.long
def test_a_new_row_is_a_candidate_and_has_words_and_a_price(core_with_one_more: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS, str(core_with_one_more)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "ternary" in found["rows"]
    assert "ternary" in found["candidates"]
    assert "ternary@8192" in found["near"]
    assert found["price"] > 0
    assert found["words"].startswith("A ternary tree, in segments of 4 KiB.")
