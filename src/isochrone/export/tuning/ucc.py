# SPDX-License-Identifier: BSD-3-Clause
"""UCC's scores: ``UCC_TL_UCP_TUNE=bcast:0-4096:host:[16-16]:@knomial:inf#...`` (UCC's FAQ, "What
is TL scoring and how to select a certain TL?").

UCC was not measured, but an MPI library. What is written are UCC's algorithms of the same kind. UCC follows
nothing of a text in which it does not know one name, or that names one for a collective without names, as
barriers are. In older versions a range ends before its last number. In UCC 1.9 it does where the next range
begins with that number, and else it ends with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isochrone.export.tuning.material import Exported, Material, bounds, described
from isochrone.launch.tellable import parted

# UCC's algorithm for the names that Open MPI and MPICH have for one of its kind; of Intel's numbers none.
_KINDS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "bcast": {
        "knomial": ("binomial", "knomial"),
        "sag_knomial": ("scatter_allgather", "scatter_recursive_doubling_allgather"),
    },
    "reduce": {"knomial": ("binomial",)},
    "allreduce": {
        "knomial": ("recursive_doubling", "recursive_multiplying"),
        "sra_knomial": ("rabenseifner", "reduce_scatter_allgather"),
    },
    "allgather": {
        "ring": ("ring",),
        "neighbor": ("neighbor",),
        "bruck": ("bruck", "brucks"),
        "knomial": ("recursive_doubling",),
    },
    "alltoall": {"pairwise": ("pairwise",), "bruck": ("modified_bruck", "bruck", "brucks")},
}
# UCC counts the blocks of all ranks of these.
_TOTALS = frozenset({"allgather", "alltoall"})


def write_scores(material: Material) -> Exported:
    """A shell's line that sets the scores of UCC's transport over UCX."""
    tuning = material.needed_tuning
    left_out = material.recipes_left_out()
    tokens = []
    for rule in tuning.told():
        kinds = _KINDS.get(rule.collective, {})
        name = next((ucc for ucc, names in kinds.items() if parted(rule.algorithm)[0] in names), None)
        if name is None:
            left_out.append(f"{described(rule)}: UCC has no choice of its kind")
            continue
        low, high = bounds(rule, tuning.ranks, rule.collective in _TOTALS)
        tokens.append(f"{rule.collective}:{low}-{high + 1}:host:[{tuning.ranks}-{tuning.ranks}]:@{name}:inf")
    settings = {"UCC_TL_UCP_TUNE": "#".join(tokens)} if tokens else {}
    text = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    head = f"# Made by Isochrone for {tuning.ranks} ranks, from times of {material.version[0]}.\n"
    return Exported(head + text, settings, left_out)
