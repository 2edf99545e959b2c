# SPDX-License-Identifier: BSD-3-Clause
"""Names for the levels that were found, from the known partitions that they match."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from isochrone.detect.accuracy import matched
from isochrone.detect.distance import Ints
from isochrone.detect.evidence import NEARLY_EVERY
from isochrone.detect.known import TRUTH, Known
from isochrone.files.text import Json

LOG = logging.getLogger("isochrone.detect")

# Where several known partitions are one and the same, the level has the first of these names.
_CONVENTION = ("node", "socket", "numa", "l3", "core", "l2", "switch", "rack", "machine", "site")


def level_names(partitions: Sequence[Ints], known: Sequence[Known], hosts: int) -> tuple[str, ...]:
    """The name of each level; ``group-N``, N counted from the outermost, for one that matches nothing.

    Args:
        partitions: group of each rank at each level, [rank], outermost first.
        known: partitions of the ranks from elsewhere.
        hosts: number of hosts; 0 where it is not known.
    """
    names: dict[int, str] = {}
    # A tier of switches is switch-2 and so on.
    candidates = sorted(
        (part for part in known if part.name.partition("-")[0] in _CONVENTION and part.labels.max() > 0),
        key=lambda part: (_CONVENTION.index(part.name.partition("-")[0]), part.name),
    )
    # A level that noise kept from matching wholly still is called by the name of what it nearly matches.
    for least in (1.0, NEARLY_EVERY):
        for part in candidates:
            scores = {
                k: matched(partitions[k], part.labels) for k in range(1, len(partitions)) if k not in names
            }
            best = max(scores, key=lambda k: scores[k], default=None)
            if best is not None and scores[best] >= least and part.name not in names.values():
                names[best] = part.name
    return with_outermost([names.get(k, f"group-{k}") for k in range(1, len(partitions))], hosts)


def with_outermost(inside: Sequence[str], hosts: int) -> tuple[str, ...]:
    """The names of all levels, outermost first, no two alike, from those of the levels inside the outermost:
    one whose name that has to have is ``group-N``, and so is one that is called as another outside it.
    """
    own = ("node",) if hosts == 1 else ("machine", "site")
    names = [next((name for name in own if name not in inside), own[0])]
    for k, name in enumerate(inside, 1):
        names.append(f"group-{k}" if name in names else name)
    return tuple(names)


def accuracies(partitions: Sequence[Ints], known: Sequence[Known]) -> dict[str, float]:
    """Accuracy, 0 to 1, at every level of the truth, of the partition that fits best; where there is no
    truth, of what is known from elsewhere.

    Args:
        partitions: of the ranks, the levels found and the single places.
        known: partitions of the ranks from elsewhere.
    """
    judges = [part for part in known if part.source == TRUTH] or list(known)
    return {part.name: max(matched(found, part.labels) for found in partitions) for part in judges}


def agreement(partitions: Sequence[Ints], names: Sequence[str], known: Sequence[Known]) -> Json:
    """What host names, hardware and the fabric say about the levels found, by name of the known partition.

    Each entry has the source, the accuracy of the level that fits best, that level's name (null for single
    places), and whether the two agree. Disagreements are logged.

    Args:
        partitions: of the ranks, the levels found and then the single places.
        names: of the levels.
        known: partitions of the ranks from elsewhere.
    """
    result: Json = {}
    for part in known:
        if part.source == TRUTH:
            continue
        scores = [matched(partition, part.labels) for partition in partitions]
        best = max(range(len(scores)), key=lambda k: scores[k])
        result[part.name] = {
            "source": part.source,
            "accuracy": scores[best],
            "level": names[best] if best < len(names) else None,
            "agrees": scores[best] == 1.0,
        }
        if scores[best] < 1.0:
            message = "message times and %s disagree: by the times %.1f %% of the ranks are in the right %s"
            log = LOG.warning if part.name == "node" else LOG.info
            log(message, part.source, 100 * scores[best], part.name)
    return result
