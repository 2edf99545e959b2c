#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long after the subnet manager a server has the new routes, when a cable is cut and restored.

Usage: reroute.py RESULT.json

Fabrics of 16 and 648 hosts under ibsim and OpenSM; `isochrone fabric dump --watch` follows OpenSM's log, and
`isochrone fabric serve` its folder, all on one machine. The time runs from OpenSM's "SUBNET UP" to the first
answer in which a route no longer takes the cut cable, or takes the restored one again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isochrone.files import provenance

ROOT = Path(__file__).resolve().parents[2]
CHANGES = {"16": 10, "648": 5}
WAIT_S = 60.0


def waited_s(holds: Callable[[], bool]) -> float:
    """The clock when something holds."""
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            sys.exit("waited in vain")
        time.sleep(0.001)
    return time.monotonic()


def measure(hosts: str, room: Path) -> dict[str, Any]:
    """Seconds of each change."""
    from fat_trees import two_level
    from ibsim import subnet
    from served import serving

    net = two_level(4, 4, 2) if hosts == "16" else two_level(36, 18, 18)
    guid = net.guids()["leaf-00"]
    folder = room / "dumps"
    found: dict[str, list[float]] = {"cut_s": [], "restored_s": []}
    with subnet(net.text(), room / "subnet") as up, up.following(folder, up.log), serving(folder) as server:
        pair = f"{net.hosts[0]}:{net.hosts[-1]}"
        step = server.ask(f"ports {pair}\n").decode().split()[1]
        port = int(step.split(":")[2])

        def is_used() -> bool:
            return step in server.ask(f"ports {pair}\n").decode()

        for _ in range(CHANGES[hosts]):
            for name, command, wanted in (
                ("cut_s", "Unlink", False),
                ("restored_s", "ReLink", True),
            ):
                before = up.sweeps()
                with (up.folder / "console").open("w") as console:
                    console.write(f'{command} "S-{guid:016x}"[{port}]\n')
                begin = waited_s(lambda seen=before: up.sweeps() > seen)
                end = waited_s(lambda state=wanted: is_used() == state)
                found[name].append(end - begin)
                up.settle()
                time.sleep(1.0)
    return {
        name: {"median": statistics.median(times), "most": max(times), "changes": len(times)}
        for name, times in found.items()
    }


def main(result: Path) -> None:
    """Measures all, and writes it."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    found: dict[str, Any] = {"provenance": {**provenance(), "cores": os.cpu_count()}}
    for hosts in CHANGES:
        with tempfile.TemporaryDirectory() as name:
            found[hosts] = measure(hosts, Path(name))
        print(hosts, found[hosts], file=sys.stderr)
    result.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Times how soon a server has new routes.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    main(parser.parse_args().result)
