# SPDX-License-Identifier: BSD-3-Clause
"""What `collectives.py` times: which jobs on which clusters, and which recipes of the model's for each."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from isochrone import _core
from isochrone.errors import UsageError
from isochrone.sim.description import load_system
from isochrone.sim.system import System
from isochrone.steps.proposals import simulated_segments
from isochrone.tune.candidates import candidates
from isochrone.tune.collectives import collective as table_row

SYSTEMS = ("fram", "betzy", "idun")
RANKS = (32, 31)
MOST_EXCHANGED = 32
"""Ranks beyond which nothing is timed in which all have something for all others: a single call may take ten
seconds to simulate.
"""
SELECTORS = ("default", "ompi", "mpich")
SIZES_BYTES = (1, 1024, 65536, 4194304)
HIERARCHICAL = 3
"""Recipes of a case that are timed, beside the cheapest flat one. The last of them has the library's own
inside groups, where it may.
"""
CANDIDATES = 12
"""That the model passes on, for these to be among them."""
NATIVE = "native"


@dataclass(frozen=True)
class Job(System):
    """A shipped cluster with equally many ranks on each of its sockets, but for a few that the last node has
    fewer. A socket's other cores are idle, so that they are none here.
    """

    left_out: int = 0

    @property
    def ranks(self) -> int:
        """Of the whole job."""
        return self.nodes * self.cores_per_node - self.left_out


def job(name: str, placement: str, ranks: int) -> Job:
    """So many ranks on all nodes of a shipped cluster.

    Raises:
        UsageError: they do not fill its nodes, or its nodes have not so many cores.
    """
    system = load_system(name, placement)
    socket = next(group.cores for group in system.core_groups if group.name == "socket")
    inner = system.core_groups[0].cores
    per_socket = -(-ranks * socket // system.ranks)
    if inner < socket:
        per_socket = -(-per_socket // inner) * inner
    if per_socket > socket:
        raise UsageError(f"{name} has {system.ranks} cores, not {ranks}", "--ranks")
    groups = tuple(
        replace(group, cores=group.cores // socket * per_socket if group.cores >= socket else group.cores)
        for group in system.core_groups
    )
    left_out = system.nodes * groups[-1].cores - ranks
    if left_out >= groups[-1].cores:
        raise UsageError(f"{ranks} ranks leave a node of {name} without any", "--ranks")
    values = {field.name: getattr(system, field.name) for field in fields(System)}
    return Job(**{**values, "core_groups": groups}, left_out=left_out)


@dataclass(frozen=True)
class Chosen:
    """What the model chose for a case, before anything was measured: the cheapest first.

    Attributes:
        hierarchical: without the library's own.
        inside: with the library's own inside groups, of which the model knows only what it takes at least.
        flat: of the whole job.
    """

    hierarchical: tuple[str, ...]
    inside: tuple[str, ...]
    flat: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Of all kinds."""
        return self.hierarchical + self.inside + self.flat


def choose(layout: _core.Layout, collective: str, size_bytes: int) -> Chosen:
    """The recipes of a case that are timed."""
    segments = simulated_segments(layout.size)
    found = candidates(collective, layout, (0,), size_bytes, CANDIDATES, segments)
    layered = [recipe for recipe in found if recipe.startswith("hierarchical(")]
    inside = [recipe for recipe in layered if depends_on_library(recipe)][:1]
    hierarchical = [recipe for recipe in layered if not depends_on_library(recipe)]
    flat = [recipe for recipe in found if recipe not in layered]
    return Chosen(tuple(hierarchical[: HIERARCHICAL - len(inside)]), tuple(inside), tuple(flat[:1]))


def depends_on_library(recipe: str) -> bool:
    """Whether its time is another under each selector."""
    return recipe == NATIVE or "=native" in recipe


def is_exchange(name: str) -> bool:
    """Whether all ranks have something for all others."""
    row = table_row(name)
    return row["has_blocks"] and not row["rooted"]
