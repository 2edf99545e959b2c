# SPDX-License-Identifier: BSD-3-Clause
"""The export of a tuning as a function in C."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path

import pytest
from made_library import algorithm_of
from msgspec import structs
from planned import EVIDENCE
from tuned import exported, topology_of, write_survey_of

from isochrone import _core
from isochrone.files import LibraryReference, Plan, PlannedTopology, Rule, compared, write_plan


@pytest.mark.parametrize("is_compared", [False, True], ids=["a plan by itself", "a compared plan"])
def test_the_function_in_c_answers_as_plan_and_library_do(tmp_path: Path, is_compared: bool) -> None:
    hosts = ["a", "a", "a", "b", "b"]
    tuning = write_survey_of(
        tmp_path,
        [
            ("bcast", 50, 2000, "knomial"),
            ("bcast", 2001, 3000, "default"),
            ("allreduce", 64, 900, "ring"),
            ("barrier", 0, 0, "tree"),
        ],
        hosts=hosts,
    )
    topology = topology_of(hosts)
    layout = _core.match(
        (tmp_path / "topology.json").read_text(), [(p.host, p.cpus, p.signature) for p in topology.places]
    )
    shapes = [layout.shape(root) for root in range(len(hosts))]
    slower = structs.replace(EVIDENCE, speedup=1.5, speedup_ci=(1.2, 1.9))
    plan = Plan(
        topology=PlannedTopology(topology.fingerprint, "topology.json", ("machine", "node")),
        mpi=LibraryReference(tuning.mpi.library, tuning.mpi.abi),
        rules=(
            Rule("bcast", shapes[0], 0, 99, "binomial", EVIDENCE),
            Rule("bcast", shapes[0], 100, 500, "chain", EVIDENCE),
            Rule("bcast", shapes[0], 501, 700, "chain", EVIDENCE),
            Rule("bcast", shapes[0], 701, 5000, "native", EVIDENCE),
            Rule("bcast", shapes[4], 1, 300, "flat", slower),
            # These ranks are in block.
            Rule("reduce", shapes[0], 1, 999, "chain", EVIDENCE, order="cyclic"),
            Rule("reduce", shapes[0], 1, 300, "knomial/4", EVIDENCE, order="block"),
            Rule("allreduce", layout.shape(), 8, 4096, "rabenseifner", slower),
            Rule("alltoall", layout.shape(), 1, 1 << 50, "pairwise", EVIDENCE),
        ),
    )
    write_plan(tmp_path / "plan.json", compared(plan, tuning) if is_compared else plan)
    one = exported(tmp_path, "c")
    # Neighbours of one answer are one step.
    assert one.text.count('"chain"') == 1
    (tmp_path / "choose.c").write_text(one.text)
    shared = tmp_path / "choose.so"
    words = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-shared", "-fPIC"]
    subprocess.run(["cc", *words, "-o", shared, tmp_path / "choose.c"], check=True)
    choose = ctypes.CDLL(str(shared)).isochrone_choose
    choose.restype = ctypes.c_char_p
    choose.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_ulonglong]

    def expected(name: str, root: int, size: int) -> str:
        size = 0 if name == "barrier" else size
        shape = shapes[root] if name in ("bcast", "reduce") else layout.shape()
        rules = [r for r in plan.rules if r.collective == name and r.shape == shape and r.recipe != "native"]
        rules = [r for r in rules if r.order in (None, "block")]
        mine = next((r for r in rules if r.min_bytes <= size <= r.max_bytes), None)
        own = algorithm_of(tuning, name, size)
        if mine is not None and (
            own == "default" or is_compared or mine.evidence.speedup >= EVIDENCE.speedup
        ):
            return mine.recipe
        return "native" if own == "default" else f"native:{own}"

    generator = random.Random(1)
    edges = {
        edge + off
        for r in (*plan.rules, *tuning.rules)
        for edge in (r.min_bytes, r.max_bytes)
        for off in (-1, 0, 1)
    }
    sizes = sorted(
        {0, *(edge for edge in edges if edge >= 0), *(generator.randrange(6000) for _ in range(300))}
    )
    answers = set()
    for name in ("bcast", "allreduce", "barrier", "alltoall", "reduce"):
        for root in range(len(hosts)):
            for size in sizes:
                answer = choose(name.encode(), len(hosts), root, size).decode()
                assert answer == expected(name, root, size), (name, root, size)
                answers.add(answer)
    assert {"binomial", "flat", "native:knomial", "native:tree", "pairwise", "knomial/4"} <= answers
    assert ("native:ring" in answers) != is_compared
    assert choose(b"bcast", len(hosts) + 1, 0, 10) == b"native"
    assert choose(b"bcast", len(hosts), len(hosts), 10) == b"native"
    assert choose(b"bcast", len(hosts), -1, 10) == b"native"
