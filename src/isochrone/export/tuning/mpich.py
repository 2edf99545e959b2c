# SPDX-License-Identifier: BSD-3-Clause
"""What MPICH reads: its selection of algorithms as JSON, variables, and coordinates of ranks.

The selection is a tree of conditions with algorithms as leaves, and the one in the file takes the place of
all that is in the library. So the file is that of the library itself, as it is in its binary, with branches
for what was measured.
"""

from __future__ import annotations

import json
import mmap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isochrone.errors import IsochroneError
from isochrone.export.tuning.material import (
    FILE,
    Exported,
    Material,
    bounds,
    described,
    one_for_all,
    with_sizes,
)
from isochrone.files.library import LibraryRule, LibraryTuning
from isochrone.files.text import Json, parse_object

_TREE = b'{"collective='
_LEAF = b'"algorithm=MPIR_'
_MOST_BYTES = (1 << 31) - 1
# How the library counts the bytes of a call; of those that are not here it counts none.
_MESSAGE, _TOTAL = "avg_msg_size", "total_msg_size"
_COUNTED = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "alltoall"), _MESSAGE),
    **dict.fromkeys(("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"), _TOTAL),
}
_YES, _NO = "is_commutative=yes", "is_commutative=no"
_PARENT = (("comm_hierarchy=parent", True), ("comm_hierarchy=any", False))
_COMMUTATIVE = ((_YES, True), (_NO, False))
_BUILT_IN = (("is_op_built_in=yes", True), ("is_op_built_in=no", False))
_LONG = (("count<pow2", False), ("count=any", True))
_POWER_OF_TWO = (("comm_size=pow2", True), ("comm_size=any", False))
_NOT_IN_PLACE = (("is_sendbuf_inplace=yes", False), ("is_sendbuf_inplace=no", True))
_Condition = tuple[tuple[str, bool], ...]
# Those on the communicator.
_ASKED: Sequence[_Condition] = (_PARENT, _POWER_OF_TWO)
_OF_COMMUNICATORS = ("comm_", "is_node_consecutive=")

# What an algorithm needs, which a library that is told by a variable looks after itself. Those that are not
# here need parameters, or are for calls in place only.
_NEEDS: Mapping[tuple[str, str], Sequence[_Condition]] = {
    ("bcast", "binomial"): (),
    ("bcast", "nb"): (),
    ("bcast", "smp"): (_PARENT,),
    ("bcast", "scatter_recursive_doubling_allgather"): (),
    ("bcast", "scatter_ring_allgather"): (),
    ("reduce", "binomial"): (),
    ("reduce", "nb"): (),
    ("reduce", "smp"): (_PARENT, _COMMUTATIVE),
    ("reduce", "reduce_scatter_gather"): (_BUILT_IN, _LONG),
    ("allreduce", "nb"): (),
    ("allreduce", "smp"): (_COMMUTATIVE,),
    ("allreduce", "recursive_doubling"): (),
    ("allreduce", "reduce_scatter_allgather"): (_BUILT_IN, _LONG),
    ("barrier", "nb"): (),
    ("barrier", "smp"): (_PARENT,),
    ("barrier", "dissemination"): (),
    ("allgather", "recursive_doubling"): (_POWER_OF_TWO,),
    ("allgather", "brucks"): (),
    ("allgather", "ring"): (),
    ("allgatherv", "recursive_doubling"): (_POWER_OF_TWO,),
    ("allgatherv", "brucks"): (),
    ("allgatherv", "ring"): (),
    ("alltoall", "brucks"): (_NOT_IN_PLACE,),
    ("alltoall", "scattered"): (_NOT_IN_PLACE,),
    ("alltoall", "pairwise"): (_NOT_IN_PLACE,),
    ("alltoallv", "scattered"): (_NOT_IN_PLACE,),
    ("alltoallw", "scattered"): (_NOT_IN_PLACE,),
    ("reduce_scatter", "recursive_halving"): (_COMMUTATIVE,),
    ("reduce_scatter", "pairwise"): (_COMMUTATIVE,),
    ("reduce_scatter", "recursive_doubling"): (),
    ("reduce_scatter_block", "recursive_halving"): (_COMMUTATIVE,),
    ("reduce_scatter_block", "pairwise"): (_COMMUTATIVE,),
    ("reduce_scatter_block", "recursive_doubling"): (),
    ("scan", "recursive_doubling"): (),
}

# The device does these in parts of their own among leaders of nodes and on nodes, and in these parts the
# algorithm runs that the library is told.
_IN_PARTS = frozenset({"bcast", "reduce", "allreduce", "barrier"})


def says(collective: str, name: str) -> bool:
    """Whether the selection can have an algorithm."""
    return (collective, name) in _NEEDS


def without_sizes(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    """The rules of a collective of which the library counts no bytes."""
    return [] if collective in _COUNTED else with_sizes(tuning, collective)


def write_selection(material: Material) -> Exported:
    """The library's own selection, with what was measured.

    Raises:
        IsochroneError: the library is not at hand, or has no selection of this form.
    """
    tuning = material.needed_tuning
    if material.library is None:
        raise IsochroneError(
            "the file is made from that of the library itself, "
            f"and {tuning.mpi.library[:40]!r} is not at hand",
            todo="add it: isochrone mpi add MPICC",
        )
    binary = Path(material.library.library_path)
    tree = own_selection(binary)
    left_out = material.recipes_left_out()
    for name in dict.fromkeys(rule.collective for rule in tuning.told()):
        rules = []
        has_sizes = bool(without_sizes(tuning, name))
        for rule in tuning.told(name):
            why = _why_not(rule, binary, has_sizes)
            if why is None:
                rules.append(rule)
            else:
                left_out.append(f"{described(rule)}: {why}")
        branch = tree.get(f"collective={name}", {})
        if rules and "comm_type=intra" in branch:
            own = branch["comm_type=intra"]
            told = _within(own, rules, material.ranks)
            branch["comm_type=intra"] = _for_sizes_of_communicators(_parts(material, name), told, own)
    settings = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": FILE}
    # The library takes the file for a text without an end of its own where it fills whole pages.
    text = json.dumps(tree, indent=1) + "\n"
    return Exported(text + ("\n" if len(text) % mmap.PAGESIZE == 0 else ""), settings, left_out)


def own_selection(binary: Path) -> Json:
    """The selection that is in a library. Raises IsochroneError where there is none."""
    try:
        with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(_TREE)
            while at >= 0:
                text = data[at : data.find(b"\0", at)]
                if _LEAF in text:
                    return parse_object(text, str(binary))
                at = data.find(_TREE, at + len(text) + 1)
    except (OSError, ValueError) as error:
        raise IsochroneError(f"cannot read ({error})", str(binary)) from None
    raise IsochroneError("has no selection of algorithms as JSON", str(binary), "MPICH has, from 4.0 on")


def write_variables(material: Material) -> Exported:
    """Variables for collectives with one best algorithm at all sizes: they count in every communicator."""
    tuning = material.needed_tuning
    left_out = material.recipes_left_out()
    settings = {}
    for name in dict.fromkeys(rule.collective for rule in tuning.told()):
        algorithm = one_for_all(tuning.told(name), tuning)
        if algorithm is not None:
            settings[f"MPIR_CVAR_{name.upper()}_INTRA_ALGORITHM"] = algorithm
        else:
            rules = tuning.told(name)
            left_out += [f"{described(rule)}: variables know no sizes, mpich-json does" for rule in rules]
    text = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    return Exported(f"# Made by Isochrone for {tuning.ranks} ranks.\n{text}", settings, left_out)


def write_coordinates(material: Material) -> Exported:
    """Where each rank is: group, switch, port. Port is the number of the host, the switch that of the
    innermost group of hosts, and its group the one that this is in.
    """
    number_of = {host: number for number, host in enumerate(dict.fromkeys(material.hosts))}
    inward: list[dict[int, int]] = []
    for level in material.topology.levels:
        group_of = level.group_of()
        count = len(level.groups)
        of_host = {(material.topology.places[place].host, group) for place, group in group_of.items()}
        holds_hosts = len(of_host) == len({host for host, _ in of_host}) and count < len(number_of)
        if holds_hosts and (not inward or count > len(set(inward[-1].values()))):
            inward.append(group_of)
    one = dict.fromkeys(range(len(material.topology.places)), 0)
    group, switch = ([one, one, *inward])[-2:]
    lines = ["# rank: group switch port"]
    for rank, (place, host) in enumerate(zip(material.topology.ranks, material.hosts, strict=True)):
        lines.append(f"{rank}: {group[place]} {switch[place]} {number_of[host]}")
    settings = {"MPIR_CVAR_COORDINATES_FILE": FILE}
    return Exported("".join(f"{line}\n" for line in lines), settings)


def _why_not(rule: LibraryRule, binary: Path, has_sizes: bool) -> str | None:
    """Why the file cannot have a rule; None: it can. `has_sizes`: it is for some that the library does not
    count.
    """
    if (rule.collective, rule.algorithm) not in _NEEDS:
        return "the algorithm needs parameters, or calls in place"
    if not _has(binary, _function(rule)):
        return "the library has no such function"
    if has_sizes:
        return "the library does not tell sizes of it apart"
    return None


def _has(binary: Path, name: str) -> bool:
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"algorithm=" + name.encode() + b"\0") >= 0


def _function(rule: LibraryRule) -> str:
    kind = "allcomm" if rule.algorithm == "nb" else "intra"
    return f"MPIR_{rule.collective.capitalize()}_{kind}_{rule.algorithm}"


def _within(own: Any, rules: Sequence[LibraryRule], ranks: int) -> Any:
    """The library's tree with the rules in it, below all its conditions on the communicator: the library
    answers those when a communicator is made, and some of them wrongly where it meets them in a call.
    """
    if all(key.startswith(_OF_COMMUNICATORS) for key in own):
        return {key: _within(inside, rules, ranks) for key, inside in own.items()}
    return _asking(own, rules, ranks, _ASKED)


def _asking(own: Any, rules: Sequence[LibraryRule], ranks: int, asked: Sequence[_Condition]) -> Any:
    """The rules below the conditions on communicators that some of them need."""
    for at, condition in enumerate(asked):
        without = [rule for rule in rules if condition not in _NEEDS[rule.collective, rule.algorithm]]
        if len(without) < len(rules):
            return {
                key: _asking(own, rules if holds else without, ranks, asked[at + 1 :])
                for key, holds in condition
            }
    return _by_size(own, rules, ranks) if rules else own


def _by_size(own: Any, rules: Sequence[LibraryRule], ranks: int) -> Any:
    """The conditions on sizes, and what else the algorithms need; `own`: what stands there in the library."""
    counted = _COUNTED.get(rules[0].collective)
    if counted is None:
        return _needing(rules[0], own)
    branch: dict[str, Any] = {}
    above = -1
    for rule in rules:
        low, high = bounds(rule, ranks, totals=counted == _TOTAL)
        if low > _MOST_BYTES:
            break
        if low > above + 1:
            branch[f"{counted}<={low - 1}"] = own
        above = min(high, _MOST_BYTES)
        branch[f"{counted}<={above}"] = _needing(rule, own)
    branch[f"{counted}=any"] = own
    return branch


def _needing(rule: LibraryRule, own: Any) -> Any:
    branch: Any = {f"algorithm={_function(rule)}": {}}
    for condition in reversed(_NEEDS[rule.collective, rule.algorithm]):
        if condition not in _ASKED:
            branch = {key: branch if holds else own for key, holds in condition}
    return branch


def _parts(material: Material, collective: str) -> list[int]:
    """How many ranks the communicators have that a rule is for."""
    on_host = Counter(material.hosts)
    parts = {len(on_host), *on_host.values()} if collective in _IN_PARTS and len(on_host) > 1 else set()
    return sorted({material.ranks, *parts} - {1})


def _for_sizes_of_communicators(sizes: Sequence[int], branch: Any, own: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    below = 0
    for size in sizes:
        if size > below + 1:
            found[f"comm_size<={size - 1}"] = own
        found[f"comm_size<={size}"] = branch
        below = size
    found["comm_size=any"] = own
    return found
