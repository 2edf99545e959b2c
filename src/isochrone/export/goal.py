# SPDX-License-Identifier: BSD-3-Clause
"""Schedules in GOAL, the Group Operation Assembly Language, for LogGOPSim and what else reads it.

Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language - A Flexible Way to Express Collective
Communication", ICPP 2009; the words are those that LogGOPSim's txt2bin takes (Hoefler, Schneider and
Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", LSAP 2010).
"""

from __future__ import annotations

from collections import Counter

from isochrone.errors import IsochroneError
from isochrone.show import Step, Timeline, headline


def goal(timeline: Timeline) -> str:
    """One block for each rank. ``requires`` is what the schedule makes an operation wait for, ``irequires``
    what is to start in order: messages of one pair, and segments. Messages of a pair have tags of their own,
    from 0 on. Local work is ``calc``, in nanoseconds. A message has at least one byte, since LogGP counts
    those beyond the first.

    Raises:
        IsochroneError: a part is the MPI library's own, which has no schedule.
    """
    if any(step.kind == "collective" for step in timeline.steps):
        raise IsochroneError(
            "what the MPI library does inside groups is not known, so GOAL cannot say it",
            timeline.call.recipe,
            "name an algorithm in the place of native",
        )
    of_rank: list[list[int]] = [[] for _ in range(timeline.call.layout.size)]
    for index, step in enumerate(timeline.steps):
        of_rank[step.rank].append(index)
    tags = _tags(timeline)
    lines = [f"// {headline(timeline.call)}", f"num_ranks {len(of_rank)}"]
    for rank, mine in enumerate(of_rank):
        lines += ["", f"rank {rank} {{"]
        label = {index: f"l{number}" for number, index in enumerate(mine, 1)}
        for index in mine:
            step = timeline.steps[index]
            lines.append(f"{label[index]}: {_operation(step, tags.get(index, 0))}")
            lines += [f"{label[index]} requires {label[before]}" for before in step.after]
            if step.behind is not None and step.behind not in step.after:
                lines.append(f"{label[index]} irequires {label[step.behind]}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _operation(step: Step, tag: int) -> str:
    if step.kind == "send":
        return f"send {max(1, step.size_bytes)}b to {step.peer} tag {tag}"
    if step.kind == "recv":
        return f"recv {max(1, step.size_bytes)}b from {step.peer} tag {tag}"
    return f"calc {round((step.free_s - step.begin_s) * 1e9)}"


def _tags(timeline: Timeline) -> dict[int, int]:
    """Of each send and receive, by its index: the number of the message among those of the pair."""
    found: dict[int, int] = {}
    sent: Counter[tuple[int, int]] = Counter()
    for index, step in enumerate(timeline.steps):
        if step.kind == "send":
            found[index] = sent[step.rank, step.peer]
            sent[step.rank, step.peer] += 1
        elif step.sent_by is not None:
            found[index] = found[step.sent_by]
    return found
