# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone info``: what is at hand here."""

from __future__ import annotations

import os
import platform
from typing import Any

import typer

import isochrone
from isochrone.cli.mpi import library_lines
from isochrone.cli.options import AsJson, columns, print_json

# What each setting does is told here once, and read by `isochrone info`.
SETTINGS = {
    "ISOCHRONE_PLAN": "the plan that a program runs on; set by: isochrone run",
    "ISOCHRONE_TOPOLOGY": "the topology that the plan is for; set by: isochrone run",
    "ISOCHRONE": "off: programs run as without a plan",
    "ISOCHRONE_EXPLAIN": "1: rank 0 says which recipe ran for what, and why",
    "ISOCHRONE_CHECK": "1: before each collective, ranks compare what they ask for",
    "ISOCHRONE_ONLY": "which recipes run, such as bcast:1K-64K,allreduce; the rest is the MPI library's own",
    "ISOCHRONE_REPRODUCIBLE": "1: reductions give the same bits for any placement and plan",
    "ISOCHRONE_FABRIC": "server of routes, by whose distances trees are laid: [hops@|speed@|time@]HOST:PORT",
    "ISOCHRONE_TRIALS": "off: programs' own calls try nothing; all: sums of floating-point numbers too",
    "ISOCHRONE_LEARN": "the folder for what trials find; set by: isochrone run --learn",
    "ISOCHRONE_UNSURVEYED": "1: without a plan, the tree is that of the hardware; set by: isochrone run",
    "ISOCHRONE_MAP": "the mapping that ranks are numbered by; set by: isochrone run --map",
    "ISOCHRONE_REORDER": "the topology that grids and graphs are laid on; set by: isochrone run --map",
    "ISOCHRONE_SUMMARY": "1: rank 0 says at the end what ran and what it saved; set by: isochrone run",
    "ISOCHRONE_MPI": "the MPI library to build for: a name of `isochrone mpi list`, or an mpicc",
    "ISOCHRONE_DEBUG": "1: show where an error came from",
    "XDG_CACHE_HOME": "where the folder of native builds is",
    "XDG_CONFIG_HOME": "where the folder of added MPI libraries is",
}


def info(as_json: AsJson = False) -> None:
    """Show the version, algorithms, patterns, MPI libraries, simulated clusters, labs and settings."""
    from isochrone import _core
    from isochrone.lab.description import shipped_networks
    from isochrone.launch.folders import cache_folder, config_folder
    from isochrone.launch.registry import all_libraries
    from isochrone.sim.description import shipped_systems

    libraries, broken = all_libraries()
    algorithms, patterns = _core.algorithms(), _core.patterns()
    facts: dict[str, Any] = {
        "version": isochrone.__version__,
        "python": platform.python_version(),
        "algorithms": algorithms,
        "patterns": patterns,
        "mpi_libraries": [library.to_json() for library in libraries],
        "broken_mpi_libraries": broken,
        "simulated_clusters": shipped_systems(),
        "labs": shipped_networks(),
        "settings": {name: os.environ.get(name) for name in SETTINGS},
        "cache_folder": str(cache_folder()),
        "config_folder": str(config_folder()),
    }
    if as_json:
        print_json(facts)
        return
    _section(f"isochrone {facts['version']}, Python {facts['python']}", [])
    _section("algorithms", columns([(a["collective"], a["name"], a["good_for"]) for a in algorithms]))
    _section("patterns of messages", columns([(p["name"], p["words"], p["like"]) for p in patterns]))
    _section("MPI libraries", library_lines(libraries) or ["none found"])
    _section("MPI libraries that do not work", broken)
    _section("simulated clusters", [", ".join(facts["simulated_clusters"])])
    _section("labs", [", ".join(facts["labs"])])
    values = facts["settings"]
    _section("settings", columns([(n, f"{values[n] or '-'}  ({SETTINGS[n]})") for n in SETTINGS]))
    _section("folders", columns([("cache", facts["cache_folder"]), ("config", facts["config_folder"])]))


def _section(title: str, lines: list[str]) -> None:
    if not lines and not title.startswith("isochrone"):
        return
    typer.echo(title)
    for line in lines:
        typer.echo(f"  {line}")
