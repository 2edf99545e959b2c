# SPDX-License-Identifier: BSD-3-Clause
"""Dumps from their texts."""

from __future__ import annotations

import random
import re
from pathlib import Path

from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import Routes


def routes_of(folder: Path, **files: str) -> Routes:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return Routes(read_fabric(folder))


def in_another_order(text: str, begin: str) -> str:
    records = re.split(rf"^(?={begin})", text, flags=re.MULTILINE)
    random.Random(3).shuffle(records)
    return "".join(records)
