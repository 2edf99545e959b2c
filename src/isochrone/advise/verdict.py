# SPDX-License-Identifier: BSD-3-Clause
"""What a profile comes to, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from isochrone.advise.gains import Advice, Kind
from isochrone.units import format_bytes, format_percent, number_of

LITTLE = 0.05
"""Below this share of a run nobody would notice if collectives took no time at all."""
WORTH = 0.005
"""A smaller share of a run is not worth a sentence."""
MOSTLY = 0.5


def verdict(found: Advice) -> list[str]:
    """Sentences, the most important first; never none."""
    if not found.kinds:
        return ["The program makes no blocking collective calls: nothing to gain here.", *_not_covered(found)]
    lines = [_whole(found)]
    gains = [kind for kind in found.kinds if (kind.saved_share or 0.0) >= WORTH]
    open_gains = [kind for kind in found.kinds if kind.saved_share is None and kind.most_saved_share >= WORTH]
    if max(found.share, found.slowest_share) < LITTLE:
        lines[0] = lines[0].rstrip(".") + ": nothing to gain here."
        return [*lines, *_not_covered(found)]
    if (waiting := _waiting(found)) is not None:
        lines.append(waiting)
    if found.open_share < LITTLE:
        lines.append(
            f"At most {format_percent(found.open_share)} of the run could be saved: nothing to gain here."
        )
    elif found.saved_share >= WORTH or gains or open_gains:
        lines += [_gain(kind) for kind in gains]
        lines += [_open_gain(kind) for kind in open_gains]
        if found.saved_share >= WORTH:
            lines.append(_sum(found))
    elif not found.has_plan:
        lines.append(
            "Without a plan nothing is known of what could be saved; it is at most "
            f"{format_percent(found.open_share)} of the run. To know: isochrone survey."
        )
    elif _share_of(kind for kind in found.kinds if kind.gain.source == "unknown") > MOSTLY * _share_of(
        found.kinds
    ):
        lines.append(
            "The plan says nothing of most of these calls: it was made for other ranks, or other hosts."
        )
    elif any(kind.gain.factor > 1 for kind in found.kinds):
        lines.append(
            f"What is faster for these calls saves less than {format_percent(WORTH)} of the run: nothing to "
            "gain here."
        )
    else:
        lines.append("Nothing faster is known for these calls: nothing to gain here.")
    return [*lines, *_not_covered(found)]


def _share_of(kinds: Iterable[Kind]) -> float:
    """Of the time of all ranks."""
    return sum(kind.share for kind in kinds)


def _whole(found: Advice) -> str:
    share = f"Collectives take {format_percent(found.share)} of the run"
    if found.slowest_share > found.share + 0.01:
        share += f", and {format_percent(found.slowest_share)} on the rank that is in them most"
    return f"{share}."


def _waiting(found: Advice) -> str | None:
    """Where most of the time is before the last rank has come, and that is much of the run."""
    if found.waiting is None or found.waiting < MOSTLY or found.waiting * found.share < LITTLE:
        return None
    waited: dict[str, float] = defaultdict(float)
    spent: dict[str, float] = defaultdict(float)
    for kind in found.kinds:
        waited[kind.collective] += (kind.waiting or 0.0) * kind.share
        spent[kind.collective] += kind.share
    most = max(waited, key=lambda name: waited[name])
    if waited[most] <= 0:
        return None
    return (
        f"The program waits: {format_percent(waited[most] / spent[most])} of the time in {most} is before "
        "the last rank has come, which no algorithm helps. Look at what makes ranks late."
    )


def _calls(kind: Kind) -> str:
    size = "" if kind.size_bytes is None else f" of {format_bytes(round(kind.size_bytes))}"
    return (
        f"{kind.collective}{size} on {number_of(kind.ranks, 'rank')} takes {format_percent(kind.share)} of "
        "the run"
    )


_MAKES = {
    "measured": "the plan makes it",
    "interpolated": "the plan, by shapes around this one, makes it",
    "predicted": "the model (not measured) has a recipe that makes it",
}


def _gain(kind: Kind) -> str:
    return (
        f"{_calls(kind)}; {_MAKES[kind.gain.source]} {kind.gain.factor:.1f}x as fast: about "
        f"{format_percent(kind.saved_share or 0.0)} of the run."
    )


def _open_gain(kind: Kind) -> str:
    """Of calls of which none could be sampled, so that their waiting is not told from the operation."""
    return (
        f"{_calls(kind)}; {_MAKES[kind.gain.source]} {kind.gain.factor:.1f}x as fast: at most "
        f"{format_percent(kind.most_saved_share)} of the run. How much of the calls is waiting is not known: "
        "several threads of a rank made them, or ranks made different numbers of them."
    )


def _sum(found: Advice) -> str:
    text = f"In all about {format_percent(found.saved_share)} of the run could be saved"
    if found.saved_measured_share <= 0:
        return f"{text}, by the model alone: to be measured, tune for these ranks."
    if found.saved_share - found.saved_measured_share >= WORTH:
        measured = format_percent(found.saved_measured_share)
        return f"{text}, {measured} by what was measured and the rest by the model."
    return f"{text}: isochrone run."


def _not_covered(found: Advice) -> list[str]:
    words = {
        "nonblocking": "nonblocking collectives",
        "persistent": "persistent collectives",
        "neighbours": "neighbourhood collectives",
        "between_groups": "collectives between two groups",
    }
    counted = [
        f"{words[kind]} ({number_of(count, 'call')} of a rank)"
        for kind, count in found.untimed.items()
        if count
    ]
    return [f"Not covered: {', '.join(counted)}."] if counted else []
