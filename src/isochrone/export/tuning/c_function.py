# SPDX-License-Identifier: BSD-3-Clause
"""A decision function in C: what to run for a call, by its size, as plan.json and library.json have it.

Where both say something the plan's recipe counts, which was proven faster than the library with this tuning.
Where it was not compared with it, what counts is the faster one of the library's own choice. Neighbours
with one answer are one step, so that nothing alternates that is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.errors import IsochroneError
from isochrone.export.tuning.material import Exported, Material
from isochrone.files import NATIVE, TOLD
from isochrone.files.library import DEFAULT, LibraryRule
from isochrone.files.plan import Rule
from isochrone.files.rules import rule_at
from isochrone.tune.collectives import collective as table_row
from isochrone.tune.collectives import has_agreed_size, in_order, timed, words
from isochrone.tune.layout import layout_for, places_of
from isochrone.tune.lookup import rules_for

Step = tuple[int, str]
"""A size in bytes, and what runs up to it, itself included."""

_HEAD = """\
/* Made by Isochrone: what to run for a collective among {ranks} ranks that are placed as those of the
   survey were. Answers are recipes of Isochrone's, "native:NAME" for the MPI library's own algorithm NAME,
   or "native" for its own choice. What was not measured is "native". `bytes` is what Isochrone goes by: the
   size of a message, of one rank's block, or 0 where ranks know none alike. */
#include <string.h>

"""


def write_function(material: Material) -> Exported:
    """A function for each collective, and one that finds it by name.

    Raises:
        IsochroneError: there is neither a plan nor a library's tuning.
    """
    if material.plan is None and material.tuning is None:
        raise IsochroneError(
            "there is neither plan.json nor library.json", str(material.topology_file.parent), "tune first"
        )
    names = in_order({rule.collective for rule in _all_rules(material)} & set(timed()))
    parts = [_HEAD.format(ranks=material.ranks)]
    parts += [_function(material, name) for name in names]
    parts.append(
        "const char *isochrone_choose(const char *collective, int ranks, int root,\n"
        "                             unsigned long long bytes)\n{\n"
    )
    parts += [
        f'    if (strcmp(collective, "{name}") == 0)\n'
        f"        return isochrone_choose_{name}(ranks, root, bytes);\n"
        for name in names
    ]
    parts.append(f'    (void)collective, (void)ranks, (void)root, (void)bytes;\n    return "{NATIVE}";\n}}\n')
    return Exported("".join(parts))


def steps_of(material: Material, collective: str, shape: str, order: str) -> list[Step]:
    """What runs for a collective on ranks of one shape and order, from 0 bytes up; beyond the last step
    ``native``.
    """
    rules = [] if material.plan is None else rules_for(material.plan, collective, shape, order)
    mine = [rule for rule in rules if rule.recipe != NATIVE]
    told = material.tuning.told(collective) if material.tuning else []
    ranges = [(rule.min_bytes, rule.max_bytes) for rule in mine]
    ranges += [(rule.min_bytes, rule.max_bytes) for rule in told]
    ends = sorted({end for low, high in ranges for end in (low - 1, high) if end >= 0})
    steps: list[Step] = []
    for end in ends:
        answer = _answer(mine, told, end, material.is_plan_compared)
        if steps and steps[-1][1] == answer:
            steps.pop()
        steps.append((end, answer))
    while steps and steps[-1][1] == NATIVE:
        steps.pop()
    return steps


def _answer(mine: Sequence[Rule], told: Sequence[LibraryRule], size: int, is_compared: bool) -> str:
    recipe, own = rule_at(mine, size), rule_at(told, size)
    if recipe is not None and (own is None or is_compared or recipe.evidence.speedup >= own.evidence.speedup):
        return recipe.recipe
    return TOLD + own.algorithm if own is not None and own.algorithm != DEFAULT else NATIVE


def _function(material: Material, name: str) -> str:
    topology = material.topology
    layout = layout_for(material.plan, topology, places_of(topology), str(material.topology_file))
    shapes = layout.shapes() if table_row(name)["rooted"] else [layout.shape()]
    number_of = {shape: number for number, shape in enumerate(dict.fromkeys(shapes))}
    distinct = list(number_of)
    chains = [steps_of(material, name, shape, layout.order()) for shape in distinct]
    lines = [
        f"/* {words(name)} */",
        f"static const char *isochrone_choose_{name}(int ranks, int root, unsigned long long bytes)",
        "{",
    ]
    if len(distinct) > 1:
        numbers = ", ".join(str(number_of[shape]) for shape in shapes)
        kind = "char" if len(distinct) <= 256 else "int"
        lines.append(f"    static const unsigned {kind} shape[{len(shapes)}] = {{{numbers}}};")
    lines += [
        f"    if (ranks != {material.ranks} || root < 0 || root >= ranks)",
        f'        return "{NATIVE}";',
    ]
    if not has_agreed_size(name) or not table_row(name)["has_data"]:
        lines.append("    bytes = 0;")
    if len(distinct) == 1:
        lines += _chain(chains[0], "    ")
    else:
        lines.append("    switch (shape[root]) {")
        for number, (shape, chain) in enumerate(zip(distinct, chains, strict=True)):
            lines += [f"    case {number}: /* {shape.replace('*/', '')} */", *_chain(chain, "        ")]
        lines += ["    default:", f'        return "{NATIVE}";', "    }"]
    return "".join(f"{line}\n" for line in [*lines, "}", ""])


def _chain(steps: Sequence[Step], indent: str) -> list[str]:
    lines = []
    for end, answer in steps:
        lines += [f"{indent}if (bytes <= {end}ULL)", f'{indent}    return "{answer}";']
    return [*lines, *([] if steps else [f"{indent}(void)bytes;"]), f'{indent}return "{NATIVE}";']


def _all_rules(material: Material) -> list[Rule | LibraryRule]:
    return [
        *(material.plan.rules if material.plan else ()),
        *(material.tuning.told() if material.tuning else ()),
    ]
