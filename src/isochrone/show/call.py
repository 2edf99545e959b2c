# SPDX-License-Identifier: BSD-3-Clause
"""One call of a collective, of which it is asked what its ranks do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isochrone import _core
from isochrone.errors import IsochroneError, UsageError
from isochrone.files import NATIVE, read_topology
from isochrone.steps.explain import MOST_RANKS
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.layout import layout_of

DEFAULT_BYTES = 64 << 10


@dataclass(frozen=True)
class Call:
    """A collective, by a recipe.

    Attributes:
        collective: its name.
        recipe: as Isochrone writes it.
        layout: of the ranks, with the parameters of their links.
        root: None where the collective has none.
        size_bytes: of the message, or of each rank's block; 0 where there is none.
    """

    collective: str
    recipe: str
    layout: _core.Layout
    root: int | None
    size_bytes: int

    @classmethod
    def checked(
        cls, collective: str, recipe: str, layout: _core.Layout, root: int, size_bytes: int | None
    ) -> Call:
        """A call that can be. `size_bytes`: None where none was given.

        Raises:
            UsageError: there can be none such, with the option that is wrong.
        """
        row = table_row(collective)
        try:
            recipe = _core.parse_recipe(recipe)
        except ValueError as error:
            raise UsageError(str(error), "RECIPE", "`isochrone info` lists the algorithms") from None
        if recipe == NATIVE:
            raise UsageError(
                "what the MPI library does for 'native' is not known",
                "RECIPE",
                "name an algorithm, such as binomial; `isochrone info` lists them",
            )
        if root and not row["rooted"]:
            raise UsageError(f"{collective} has no root", "--root")
        if root >= layout.size:
            raise UsageError(f"rank {root} is not one of {layout.size}", "--root")
        if size_bytes and not row["has_data"]:
            raise UsageError(f"{collective} has no data", "--bytes", "leave it away")
        if size_bytes is None:
            size_bytes = DEFAULT_BYTES if row["has_data"] else 0
        return cls(collective, recipe, layout, root if row["rooted"] else None, size_bytes)

    @property
    def groups(self) -> list[list[int]]:
        """[level][rank], the number of the rank's group, outermost level first."""
        return self.layout.group_of

    def level_name(self, level: int) -> str:
        """What the topology calls a level."""
        return self.layout.levels[level]


def unsurveyed_layout(ranks: int, per_host: int | None = None) -> _core.Layout:
    """So many ranks, host by host, with links as such hosts usually have them: those that `isochrone run`
    reckons with where nothing was surveyed. `per_host`: None: all are on one.

    Raises:
        UsageError: there are too many.
    """
    if ranks > MOST_RANKS:
        raise UsageError(f"more than {MOST_RANKS} ranks", "--ranks", "give fewer")
    return _core.hardware([str(rank // (per_host or ranks)) for rank in range(ranks)])


def topology_layout(topology_file: Path) -> _core.Layout:
    """The surveyed ranks, in their order.

    Raises:
        IsochroneError: the file is none, or damaged.
    """
    topology = read_topology(topology_file)
    topology.check_whole(str(topology_file))
    try:
        return layout_of(topology, topology_file)
    except ValueError as error:
        raise IsochroneError(str(error), str(topology_file)) from None
