# SPDX-License-Identifier: BSD-3-Clause
"""The forms in which a tuning is exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isochrone.errors import UsageError
from isochrone.export.tuning import c_function, intel, mpich, openmpi_han, openmpi_rules, ucc
from isochrone.export.tuning.material import Exported, Material
from isochrone.files.library import LibraryRule, LibraryTuning


@dataclass(frozen=True)
class Form:
    """A row of the table.

    Attributes:
        name: what the user calls it.
        words: what it is.
        vendors: whose library must have been measured; empty: any, or none.
        file: its usual name.
        write: what comes of a survey.
        says: whether it can have an algorithm of a collective, by their names; of forms by which ``isochrone
            run`` tells the library. None for others.
        leaves_out: of a collective, by its name, the rules of a tuning that keep it from saying anything;
            None: no rule does.
        is_for_any_size: what it says holds in communicators of every size, so that only jobs of as many ranks
            as were measured are told.
    """

    name: str
    words: str
    vendors: tuple[str, ...]
    file: str
    write: Callable[[Material], Exported]
    says: Callable[[str, str], bool] | None = None
    leaves_out: Callable[[LibraryTuning, str], Sequence[LibraryRule]] | None = None
    is_for_any_size: bool = False

    def can_say(self, tuning: LibraryTuning, rule: LibraryRule) -> bool:
        """Whether it can have a rule of a tuning."""
        return (
            self.says is not None
            and self.says(rule.collective, rule.algorithm)
            and not (self.leaves_out and self.leaves_out(tuning, rule.collective))
        )


FORMS = (
    Form("c", "a decision function in C", (), "choose.c", c_function.write_function),
    Form(
        "openmpi-rules",
        "Open MPI's dynamic rules, for its component tuned",
        ("Open MPI",),
        "openmpi.rules",
        openmpi_rules.write_rules,
        openmpi_rules.says,
        openmpi_rules.without_sizes,
    ),
    Form(
        "openmpi-han",
        "Open MPI's dynamic rules for its component han; they go with openmpi-rules",
        ("Open MPI",),
        "openmpi-han.rules",
        openmpi_han.write_han,
        openmpi_han.says,
    ),
    Form(
        "mpich-json",
        "MPICH's selection of algorithms",
        ("MPICH",),
        "mpich.json",
        mpich.write_selection,
        mpich.says,
        mpich.without_sizes,
    ),
    Form(
        "mpich-variables",
        "variables of MPICH, where one algorithm is best at all sizes",
        ("MPICH",),
        "mpich.sh",
        mpich.write_variables,
    ),
    Form(
        "mpich-coordinates",
        "where ranks are, for MPICH's trees that follow the network; 4.0 has no such file",
        (),
        "coordinates",
        mpich.write_coordinates,
    ),
    Form(
        "intel-variables",
        "variables of Intel MPI (I_MPI_ADJUST_...)",
        ("Intel MPI",),
        "intel.sh",
        intel.write_variables,
        intel.says,
        intel.without_equal,
        is_for_any_size=True,
    ),
    Form(
        "ucc-scores",
        "scores of UCC, by its algorithms of the same kind",
        ("Open MPI", "MPICH"),
        "ucc.sh",
        ucc.write_scores,
    ),
)


def find_form(name: str) -> Form:
    """The form of that name. Raises UsageError where there is none."""
    for form in FORMS:
        if form.name == name:
            return form
    raise UsageError(f"{name!r} is no form", "FORM", f"use one of {', '.join(f.name for f in FORMS)}")


def told_forms(vendor: str) -> list[Form]:
    """The forms by which ``isochrone run`` tells a vendor's library its tuning."""
    return [form for form in FORMS if form.says is not None and vendor in form.vendors]


def can_be_told(vendor: str, collective: str, name: str) -> bool:
    """Whether ``isochrone run`` can tell a vendor's library to use an algorithm, by what it is; whether its
    sizes can be told apart is for each form.
    """
    forms = told_forms(vendor)
    return any(form.says is not None and form.says(collective, name) for form in forms)


def told_rules(tuning: LibraryTuning, vendor: str, ranks: int | None = None) -> list[LibraryRule]:
    """The rules that ``isochrone run`` tells the library, as far as the tuning alone shows that.

    Args:
        tuning: of that library.
        vendor: whose library it is.
        ranks: of the job; None: as many as were measured.
    """
    is_other = ranks not in (None, tuning.ranks)
    forms = [form for form in told_forms(vendor) if not (form.is_for_any_size and is_other)]
    return [rule for rule in tuning.told() if any(form.can_say(tuning, rule) for form in forms)]
