# SPDX-License-Identifier: BSD-3-Clause
"""UCC's scores: UCC itself, under an Open MPI that runs collectives by it, says that it follows them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tuned import MPICH, exported, write_survey_of

ROOT = Path(__file__).parents[2]
RANKS = 4
BY_UCC = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_coll_ucc_enable": "1",
    "OMPI_MCA_coll_ucc_priority": "100",
    # Then it names the function of each range.
    "UCC_LOG_LEVEL": "trace",
}

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian system with UCC, and a program in it."""
    folder = tmp_path_factory.mktemp("system")
    subprocess.run([ROOT / "scripts" / "debian-with-ucc", folder], check=True, timeout=1200)
    shutil.copy(Path(__file__).with_name("bcast.c"), folder)
    run(folder, ["mpicc", "/bcast.c", "-o", "/bcast"])
    yield folder
    shutil.rmtree(folder)


def run(system: Path, words: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """What a command of the system prints; it sees the processes and devices of this one."""
    mounts = 'for name in proc sys dev; do mount --rbind /$name "$0/$name"; done; exec chroot "$0" "$@"'
    settings = [f"{name}={value}" for name, value in (variables or {}).items()]
    command = ["unshare", "--mount", "sh", "-ec", mounts, str(system), "env", *settings, *words]
    found = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    return found.stdout


def followed(system: Path, variables: Mapping[str, str]) -> dict[str, list[tuple[int, str]]]:
    """[collective], where each range of sizes begins, and the function that UCC runs there."""
    text = run(system, ["mpirun", "--oversubscribe", "-n", str(RANKS), "/bcast"], BY_UCC | dict(variables))
    assert "ERROR" not in text
    blocks = re.findall(r"INFO\s+(\w+):\n.*?Host: (.*)", text)
    return {
        name.lower(): [
            (1024 * int(low[:-1]) if low.endswith("K") else int(low), function)
            for low, function in re.findall(r"\{(\w+)[^}]*\}:TL_UCP:\w+=(\w+)", ranges)
        ]
        for name, ranges in blocks
    }


def test_ucc_follows_every_name(system: Path, tmp_path: Path) -> None:
    rules = [
        ("bcast", 1, 99, "scatter_recursive_doubling_allgather"),
        ("bcast", 100, 1 << 20, "binomial"),
        ("reduce", 1 << 15, 1 << 20, "binomial"),
        ("allreduce", 1, 99, "reduce_scatter_allgather"),
        ("allreduce", 1 << 15, 1 << 20, "recursive_multiplying"),
        ("allgather", 25, 49, "ring"),
        ("allgather", 50, 99, "brucks"),
        ("allgather", 100, 199, "neighbor"),
        ("allgather", 1 << 15, 1 << 20, "recursive_doubling"),
        ("alltoall", 1, 9, "pairwise"),
        ("alltoall", 1 << 15, 1 << 20, "brucks"),
        ("barrier", 0, 0, "recursive_doubling"),
    ]
    write_survey_of(tmp_path, rules, library=MPICH, ranks=RANKS)
    native = followed(system, {})
    told = followed(system, exported(tmp_path, "ucc-scores").settings)
    expected = [
        ("bcast", 1, "sag_knomial"),
        ("bcast", 100, "knomial"),
        ("reduce", 1 << 15, "knomial"),
        ("allreduce", 1, "sra_knomial"),
        ("allreduce", 1 << 15, "knomial"),
        ("allgather", 100, "ring"),
        ("allgather", 200, "bruck"),
        ("allgather", 400, "neighbor"),
        ("allgather", 1 << 17, "knomial"),
        ("alltoall", 4, "pairwise"),
        ("alltoall", 1 << 17, "bruck"),
    ]
    for collective, low, name in expected:
        assert (low, f"ucc_tl_ucp_{collective}_{name}_init") in told[collective]
        assert (low, f"ucc_tl_ucp_{collective}_{name}_init") not in native[collective]
    assert told["barrier"] == native["barrier"]


def test_scores_count_for_as_many_ranks_alone(system: Path, tmp_path: Path) -> None:
    write_survey_of(
        tmp_path, [("bcast", 1, 99, "scatter_recursive_doubling_allgather")], library=MPICH, ranks=RANKS + 1
    )
    assert followed(system, exported(tmp_path, "ucc-scores").settings) == followed(system, {})
