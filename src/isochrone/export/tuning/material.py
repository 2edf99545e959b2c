# SPDX-License-Identifier: BSD-3-Clause
"""What is exported, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.errors import IsochroneError
from isochrone.files import NATIVE
from isochrone.files.library import LibraryRule, LibraryTuning, is_compared, read_library
from isochrone.files.plan import Plan, read_plan
from isochrone.files.topology import Topology, read_topology
from isochrone.launch.library import MpiLibrary, parse_version
from isochrone.steps.folder import LIBRARY, PLAN, TOPOLOGY
from isochrone.tune.collectives import collective, has_blocks
from isochrone.units import number_of

FILE = "{file}"
"""In the value of a variable: the path of the exported file."""


@dataclass(frozen=True)
class Material:
    """A survey, as far as exports need it.

    Attributes:
        topology: of the ranks that were measured.
        topology_file: that it was read from.
        tuning: None where the library's own algorithms were not measured.
        plan: None where there is none.
        library: the MPI library at hand, for forms that depend on what is in it; None: it is not known.
    """

    topology: Topology
    topology_file: Path
    tuning: LibraryTuning | None = None
    plan: Plan | None = None
    library: MpiLibrary | None = None

    @property
    def needed_tuning(self) -> LibraryTuning:
        """Raises IsochroneError where there is none."""
        if self.tuning is None:
            raise IsochroneError(
                "the library's own algorithms were not measured",
                str(self.topology_file.with_name(LIBRARY)),
                "run isochrone library tune",
            )
        return self.tuning

    @property
    def version(self) -> tuple[str, str]:
        """Vendor and version of the library that was measured; Raises IsochroneError for an unknown one."""
        found = parse_version(self.needed_tuning.mpi.library)
        if found is None:
            raise IsochroneError(
                f"an MPI library that Isochrone does not know: {self.needed_tuning.mpi.library[:40]!r}",
                str(self.topology_file.with_name(LIBRARY)),
            )
        return found

    @property
    def is_plan_compared(self) -> bool:
        """Whether the plan's recipes were proven faster than the library with this tuning, and not than the
        library as it comes.
        """
        plan, tuning = self.plan, self.tuning
        return plan is not None and tuning is not None and is_compared(plan, tuning)

    @property
    def ranks(self) -> int:
        """How many were measured."""
        return len(self.topology.ranks)

    @property
    def hosts(self) -> list[str]:
        """[rank], the name of its host."""
        return [self.topology.places[place].host for place in self.topology.ranks]

    def recipes_left_out(self) -> list[str]:
        """One line about the plan's recipes, which are Isochrone's and no library has; none where there are
        none.
        """
        rules = [rule for rule in self.plan.rules if rule.recipe != NATIVE] if self.plan else []
        if not rules:
            return []
        return [f"{number_of(len(rules), 'rule')} of the plan, whose recipes only isochrone run can run"]


@dataclass(frozen=True)
class Exported:
    """What came of an export.

    Attributes:
        text: of the file.
        settings: variables that make the library follow it; ``{file}`` in a value is the file's path.
        left_out: what the form cannot say, a line for each.
    """

    text: str
    settings: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    @property
    def is_file_read(self) -> bool:
        """Whether the library reads the file; else the variables are all that it is told."""
        return any(FILE in value for value in self.settings.values())

    def variables(self, path: Path) -> dict[str, str]:
        """The variables, with the file at `path`."""
        return {name: value.replace(FILE, str(path.absolute())) for name, value in self.settings.items()}


def read_material(
    folder: Path,
    vendors: Sequence[str] = (),
    library: MpiLibrary | None = None,
    with_plan: bool = True,
) -> Material:
    """What is in a survey's folder.

    Args:
        vendors: whose library must have been measured; empty: any, or none.
        with_plan: else it is as if there were none: what the library is told does not hang on it.

    Raises:
        IsochroneError: a file is damaged or of another topology, or it was another library that was measured.
    """
    plan_file, library_file = folder / PLAN, folder / LIBRARY
    plan = read_plan(plan_file) if with_plan and plan_file.exists() else None
    tuning = read_library(library_file) if library_file.exists() else None
    told = tuning or plan
    topology_file = folder / (told.topology.file if told is not None else TOPOLOGY)
    topology = read_topology(topology_file)
    for path, fingerprint in (
        (plan_file, plan and plan.fingerprint),
        (library_file, tuning and tuning.topology.fingerprint),
    ):
        if fingerprint is not None and fingerprint != topology.fingerprint:
            raise IsochroneError("was made for another topology", str(path), "make it again")
    material = Material(topology, topology_file, tuning, plan, library)
    if vendors:
        vendor, version = material.version
        if vendor not in vendors:
            raise IsochroneError(
                f"is of {vendor} {version}, and the form is for {' and '.join(vendors)}",
                str(library_file),
                "choose another form: isochrone library export",
            )
    return material


def bounds(rule: LibraryRule, ranks: int, totals: bool) -> tuple[int, int]:
    """The first and last size in bytes that a rule is for, as a library counts it (see `counted`)."""
    return counted(rule.collective, rule.min_bytes, rule.max_bytes, ranks, totals)


def counted(name: str, min_bytes: int, max_bytes: int, ranks: int, totals: bool) -> tuple[int, int]:
    """The first and last of some sizes in bytes of a collective, as a library counts them.

    Args:
        totals: it counts the blocks of all ranks where Isochrone counts one.
    """
    if not collective(name)["has_data"]:
        return 0, 0
    if totals and has_blocks(name):
        # Up to the next whole block.
        return min_bytes * ranks, max_bytes * ranks + ranks - 1
    return min_bytes, max_bytes


def described(rule: LibraryRule) -> str:
    """A rule for people."""
    return f"{rule.collective} by {rule.algorithm} from {rule.min_bytes} to {rule.max_bytes} bytes"


def with_sizes(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    """The rules of a collective that a form without sizes cannot have; none where one is best at all."""
    rules = tuning.told(collective)
    return rules if one_for_all(rules, tuning) is None else []


def one_for_all(rules: Sequence[LibraryRule], tuning: LibraryTuning) -> str | None:
    """The algorithm, where all sizes of one collective that were measured have the same; else None."""
    names = {rule.algorithm for rule in tuning.rules if rules and rule.collective == rules[0].collective}
    return names.pop() if len(names) == 1 and rules else None
