# SPDX-License-Identifier: BSD-3-Clause
"""The file of dynamic rules of Open MPI's component ``han``, for collectives of several nodes.

HAN asks it which component runs a collective of a communicator (topological level 2): ``han`` itself or
``tuned``, by number of ranks and size of messages. Version 4 has ``tuned`` before HAN; then HAN must come
first, to be asked, and everything else goes on to ``tuned`` as it did.

An allreduce cannot be sent to ``tuned`` by its name there: 4.1 then ends in a segmentation fault. It is sent
to a component that has none, by which HAN goes on to the one that was first before.
"""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.export.tuning.material import FILE, Exported, Material, bounds, described
from isochrone.export.tuning.openmpi_rules import number_of_algorithm
from isochrone.files.library import DEFAULT, LibraryRule
from isochrone.launch.tellable import HAN, TUNED, han_is_first
from isochrone.tune.collectives import collective as table_row

_GLOBAL = 2
# Where variables name a component; the file has names.
_NUMBERS = {"libnbc": 2, TUNED: 3}
_PRIORITY = 100

# Those that HAN has, by Open MPI's numbers of collectives.
_COLLECTIVES = {"allgather": 0, "allreduce": 2, "barrier": 6, "bcast": 7, "gather": 9, "reduce": 11}
_COLLECTIVES |= {"scatter": 15}
# Ranks do not find the same size of these.
_NO_SIZES = frozenset({"gather", "scatter"})


def says(collective: str, name: str) -> bool:
    """Whether the file can send a collective to a component."""
    return collective in _COLLECTIVES and collective not in _NO_SIZES and name in (HAN, TUNED)


def write_han(material: Material) -> Exported:
    """Rules for communicators of as many ranks as were measured."""
    tuning = material.needed_tuning
    _, version = material.version
    own = HAN if han_is_first(version) else TUNED
    left_out = material.recipes_left_out()
    tables: dict[str, list[tuple[int, str]]] = {}
    for name in dict.fromkeys(rule.collective for rule in tuning.told()):
        steps: list[tuple[int, str]] = []
        for rule in tuning.told(name):
            component = _component(rule)
            if component == HAN and name == "reduce" and own == TUNED:
                component = None  # of 4.1: see launch.tellable
            if name not in _COLLECTIVES or name in _NO_SIZES or component is None:
                is_heard = component == TUNED and (own == TUNED or name not in _COLLECTIVES)
                if not is_heard:
                    left_out.append(f"{described(rule)}: HAN's rules cannot say that")
                continue
            # Of blocks it counts one (mca_coll_han_allgather_intra_dynamic), where tuned counts all.
            low, high = bounds(rule, tuning.ranks, totals=False)
            if steps and steps[-1][0] == low:
                steps.pop()
            has_data = table_row(name)["has_data"]
            steps += [(low, component), (high + 1, own)] if has_data else [(0, component)]
        if any(component != own for _, component in steps):
            tables[name] = steps if steps[0][0] == 0 else [(0, own), *steps]
    settings: dict[str, str] = {}
    if tables:
        settings = {"OMPI_MCA_coll_han_use_dynamic_file_rules": "1"}
        settings |= {"OMPI_MCA_coll_han_dynamic_rules_filename": FILE}
        if own == TUNED:
            settings |= {"OMPI_MCA_coll_han_priority": str(_PRIORITY)}
            settings |= {
                f"OMPI_MCA_coll_han_{name}_dynamic_global_communicator_module": str(
                    _NUMBERS[_as_before(name)]
                )
                for name in (*_COLLECTIVES, "allgatherv")
            }
    lines = [str(len(tables))]
    for name, steps in tables.items():
        other = _as_before(name) if own == TUNED else own
        told = [(size, other if component == own else component) for size, component in steps]
        lines += [str(_COLLECTIVES[name]), "1", str(_GLOBAL), "3"]
        lines += ["1", *_sizes([(0, other)])]
        lines += [str(tuning.ranks), *_sizes(told)]
        lines += [str(tuning.ranks + 1), *_sizes([(0, other)])]
    return Exported("".join(f"{line}\n" for line in lines), settings, left_out)


def _as_before(collective: str) -> str:
    """The component to name for what ran before HAN came first, which is tuned."""
    return "libnbc" if collective == "allreduce" else TUNED


def _component(rule: LibraryRule) -> str | None:
    """Which runs an algorithm."""
    if rule.algorithm in (HAN, TUNED):
        return rule.algorithm
    if rule.algorithm == DEFAULT or number_of_algorithm(rule.collective, rule.algorithm) is None:
        return None
    return TUNED


def _sizes(steps: Sequence[tuple[int, str]]) -> list[str]:
    """How many, and from which size on which component."""
    return [str(len(steps)), *(f"{size} {name}" for size, name in steps)]
