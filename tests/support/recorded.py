# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs that are recorded, under each MPI library of the system."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interposed import ended
from libraries import LAUNCHERS, missing
from planned import defaults_of

from isochrone.files import Graph, read_graph

PROGRAMS = Path(__file__).parents[1] / "record" / "programs"
RANKS = 4


@dataclass(frozen=True)
class Library:
    """An MPI library: its launcher, and a program compiled for it."""

    launcher: str
    program: Path

    @property
    def is_openmpi(self) -> bool:
        """Whether it is Open MPI."""
        return "openmpi" in self.launcher

    def compiled(self, output: Path, source: Path, *options: str, language: str = "cc") -> Path:
        """A program of a source file."""
        compiler = self.launcher.replace("mpiexec", f"mpi{language}")
        if shutil.which(compiler) is None or (language == "f90" and shutil.which("gfortran") is None):
            missing(f"{compiler} is not installed")
        words = ["-std=legacy"] if language == "f90" else ["-O1", "-pthread"]
        subprocess.run([compiler, "-w", *words, *options, "-o", str(output), str(source)], check=True)
        return output

    def line(self, *words: str | Path, ranks: int = RANKS) -> list[str]:
        """A launch line."""
        own = ["--oversubscribe"] if self.is_openmpi else []
        return [self.launcher, *own, "-n", str(ranks), *map(str, words)]

    def run(
        self, argv: Sequence[str], most_s: float = 120, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command; one that hangs fails."""
        return ended(argv, {**os.environ, **defaults_of(self.launcher), **environment}, most_s)

    def record(
        self,
        graph: Path,
        *words: str | Path,
        options: Sequence[str] = (),
        ranks: int = RANKS,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `isochrone record` on a program and its words."""
        own = [sys.executable, "-m", "isochrone", "record", "-o", str(graph), *options, "--"]
        return self.run([*own, *self.line(*words, ranks=ranks)], **environment)

    def recorded(self, folder: Path, *words: str, ranks: int = RANKS) -> Graph:
        """What the program of all kinds sends, which must be as without a recorder."""
        done = self.record(folder / "graph.json", self.program, *words, ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert "0 wrong values\n" in done.stdout, done.stdout
        return read_graph(folder / "graph.json")


def with_program(name: str, folder: Path, source: Path) -> Library:
    """One of LAUNCHERS with a program compiled for it in a folder; a test is skipped where it is missing."""
    launcher = LAUNCHERS[name]
    if shutil.which(launcher) is None:
        missing(f"{launcher} is not installed")
    output = folder / source.stem
    without = Library(launcher, output)
    options = [] if without.is_openmpi else ["-DPERSISTENT"]
    return Library(launcher, without.compiled(output, source, *options))


def rows(graph: Graph) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Of each pair that has messages of the program's own, how many of how many bytes together, by class."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    merged = graph.rows.merged()
    for source, target, messages, volume_bytes in zip(
        merged.sources, merged.targets, merged.messages, merged.volume_bytes, strict=True
    ):
        found.setdefault((int(source), int(target)), []).append((int(messages), int(volume_bytes)))
    return {pair: sorted(each) for pair, each in found.items()}


def ring(each: list[tuple[int, int]], ranks: int = RANKS) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The same from every rank to the next."""
    return {(rank, (rank + 1) % ranks): sorted(each) for rank in range(ranks)}


def calls(graph: Graph) -> dict[tuple[str, tuple[int, ...], int], list[tuple[int, int]]]:
    """By collective, ranks and root: how many calls, and bytes of all together, by class."""
    found: dict[tuple[str, tuple[int, ...], int], list[tuple[int, int]]] = {}
    own = graph.calls
    for row in range(len(own)):
        members = tuple(int(rank) for rank in graph.members(int(own.groups[row])))
        key = (str(own.collectives[row]), members, int(own.roots[row]))
        found.setdefault(key, []).append((int(own.calls[row]), int(own.volume_bytes[row])))
    return {key: sorted(each) for key, each in found.items()}


def figures(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """What --json printed."""
    document: dict[str, object] = json.loads(done.stdout)
    return document
