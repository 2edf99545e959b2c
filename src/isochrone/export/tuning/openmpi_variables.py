# SPDX-License-Identifier: BSD-3-Clause
"""Variables of Open MPI's component ``han``: the segments into which it cuts messages between nodes,
``coll_han_bcast_segsize`` and so on.

Its file of rules has no place for them. A variable is for all sizes of a collective, and for communicators of
every size.
"""

from __future__ import annotations

from isochrone.export.tuning.material import Exported, Material, described
from isochrone.files.library import DEFAULT, LibraryRule, LibraryTuning
from isochrone.launch.tellable import HAN, parted

_OWN_SEGMENT_BYTES = 65536
"""That it has by itself (Open MPI 5.0, coll_han_component.c)."""


def says(_collective: str, name: str) -> bool:
    """Whether a variable can have an algorithm."""
    algorithm, segment_bytes = parted(name)
    return algorithm == HAN and segment_bytes > 0


def against_one_for_all(tuning: LibraryTuning, collective: str) -> list[LibraryRule]:
    """The rules of a collective by which no segment size is right for all that HAN runs: where there are some
    it has no variable. A message of one segment either way is like any other.
    """
    rules = [rule for rule in tuning.rules if rule.collective == collective and _is_of_han(rule)]
    told = {segment for _, segment in (parted(rule.algorithm) for rule in rules) if segment > 0}
    if len(told) > 1:
        return [rule for rule in rules if says(collective, rule.algorithm)]
    least = min([_OWN_SEGMENT_BYTES, *told])
    return [rule for rule in rules if not says(collective, rule.algorithm) and rule.max_bytes > least]


def write_variables(material: Material) -> Exported:
    """A shell's lines that set them."""
    tuning = material.needed_tuning
    left_out = material.recipes_left_out()
    settings: dict[str, str] = {}
    for rule in tuning.told():
        if not says(rule.collective, rule.algorithm):
            if not _is_of_han(rule):
                left_out.append(f"{described(rule)}: it is for openmpi-rules")
            continue
        if against_one_for_all(tuning, rule.collective):
            left_out.append(f"{described(rule)}: HAN has one segment size for all sizes of messages")
            continue
        settings[f"OMPI_MCA_coll_han_{rule.collective}_segsize"] = str(parted(rule.algorithm)[1])
    text = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    return Exported(f"# Made by Isochrone for {tuning.ranks} ranks.\n{text}", settings, left_out)


def _is_of_han(rule: LibraryRule) -> bool:
    """HAN's, where it has segments at all: there it is the library's own choice."""
    return parted(rule.algorithm)[0] in (HAN, DEFAULT)
