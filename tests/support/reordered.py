# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose ranks are put in another order than they were launched in."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from identity_maps import write_identity
from interposed import ended
from planned import defaults_of
from recorded import Library

from isochrone.files import Place
from isochrone.launch.build import behind

PROGRAMS = Path(__file__).parents[1] / "reorder" / "programs"


def write_map(
    path: Path, at: Sequence[int], hosts: Sequence[str] | None = None, cpus: Sequence[str | None] = ()
) -> Path:
    """A mapping of ranks to places.

    Args:
        at: [rank], its place.
        hosts: [rank], the host of its place; None: all are on this one; empty: none is known.
        cpus: [rank], the CPUs of its place; empty: it is not bound.
    """
    names = [platform.node().partition(".")[0]] * len(at) if hosts is None else hosts
    bound = cpus or [None] * len(names)
    places = tuple(Place(host, each, "") for host, each in zip(names, bound, strict=True))
    return write_identity(path, places, at)


def mapped(
    library: Library,
    maps: Sequence[Path],
    *words: str | Path,
    ranks: int,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs `isochrone run --map` on a program and its words."""
    own = [sys.executable, "-m", "isochrone", "run", *options]
    for path in maps:
        own += ["--map", str(path)]
    settings = {**os.environ, **defaults_of(library.launcher), **(environment or {})}
    return ended([*own, "--", *library.line(*words, ranks=ranks)], settings)


def fake_hosts(library: Library, folder: Path, hosts: str) -> dict[str, str]:
    """Variables with which ranks seem to be on hosts that are named by a letter each."""
    source = PROGRAMS.parents[1] / "interpose" / "programs" / "hosts.c"
    preload = library.compiled(folder / "hosts.so", source, "-shared", "-fPIC")
    others = defaults_of(library.launcher).get("LD_PRELOAD", "")
    return {"LD_PRELOAD": behind(others, preload), "FAKE_HOSTS": hosts}


def order_of(done: subprocess.CompletedProcess[str]) -> list[int]:
    """[rank], as which rank it was launched, as the programs say in their first line."""
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("launched as ")]
    return [int(word) for word in line.split()[2:]]


def rest(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What a program said besides."""
    return [line for line in done.stdout.splitlines() if not line.startswith("launched as ")]


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What Isochrone said."""
    lines = (line.removeprefix("isochrone: ") for line in done.stderr.splitlines() if "isochrone: " in line)
    return [line for line in lines if not line.startswith("building ")]
