# SPDX-License-Identifier: BSD-3-Clause
"""What a file does not say itself, written behind its name: ``bcast.txt:ranks=64,algorithm=chain``."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

from isochrone.errors import UsageError

# Values are recipes too: in brackets, commas and signs of equality belong to them.
_LABEL = re.compile(r"([a-z]+)=((?:[^,=()]|\([^()]*\))*)")
_LABELS = re.compile(rf"(.+?):({_LABEL.pattern}(?:,{_LABEL.pattern})*)")
MOST_RANKS = 1 << 22


@dataclass(frozen=True)
class Labels:
    """Of all lines of a file; None: not told.

    Attributes:
        ranks: how many there were.
        collective, algorithm, mapping, region: as in an Observation.
    """

    ranks: int | None = None
    collective: str | None = None
    algorithm: str | None = None
    mapping: str | None = None
    region: str | None = None


def parse_argument(text: str) -> tuple[Path, Labels]:
    """The file and the labels of an argument.

    Raises:
        UsageError: a label is unknown, there twice, or no number of ranks.
    """
    match = None if Path(text).exists() else _LABELS.fullmatch(text)
    if match is None:
        return Path(text), Labels()
    known = [each.name for each in fields(Labels)]
    told: dict[str, str] = {}
    for name, value in _LABEL.findall(match[2]):
        if name not in known or name in told or not value:
            what = "is unknown" if name not in known else "is there twice" if name in told else "is empty"
            raise UsageError(f"the label {name!r} {what}", text, f"labels are {', '.join(known)}")
        told[name] = value
    ranks = told.pop("ranks", None)
    if ranks is not None and not (re.fullmatch(r"\d{1,7}", ranks) and 1 < int(ranks) <= MOST_RANKS):
        raise UsageError(f"{ranks!r} is no number of ranks", text, "write for example ranks=64")
    return Path(match[1]), Labels(None if ranks is None else int(ranks), **told)
