#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of docs/lab-results.md from results of ``isochrone bench --lab ... --json``.

Usage: lab_table.py RESULT.json ...
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints tables of results of a lab.")
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULT.json")
    for path in parser.parse_args().results:
        print("\n".join(tables(json.loads(path.read_text(encoding="utf-8")))))
    return 0


def tables(document: dict[str, Any]) -> list[str]:
    """One table for each library and placement, and one for the bytes over the uplinks."""
    lines = [f"## {document['lab']}", "", f"{document['description']}. {document['ranks']} ranks.", ""]
    for survey in document["surveys"]:
        rows = [
            row
            for row in document["results"]
            if (row["mpi"], row["placement"]) == (survey["mpi"], survey["placement"])
        ]
        right = ", ".join(f"{level} {share:g}" for level, share in survey["accuracy"].items())
        idle = "idle ranks wait" if survey["idle_wait"] else "idle ranks poll"
        lines += [
            f"**{survey['mpi']}, {survey['placement']} placement**; accuracy: {right}; probed in "
            f"{survey['probe_seconds']:.0f} s; {idle}; root {rows[0]['root']}",
            "",
            "| bytes | native, ms | Isochrone, ms | speedup | best native, ms | bound, ms | ours/bound |",
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for row in rows:
            low, high = row["speedup_ci"]
            lines.append(
                f"| {row['size_bytes']} | {row['native_s'] * 1e3:.2f} | {row['isochrone_s'] * 1e3:.2f} "
                f"| {row['speedup']:.2f} [{low:.2f}, {high:.2f}] | {row['best_native_s'] * 1e3:.2f} "
                f"({row['best_native']}) | {row['bound_s'] * 1e3:.2f} | {row['isochrone_over_bound']:.2f} |"
            )
        lines.append("")
    lines += [*uplinks(document["surveys"]), ""]
    return lines


def uplinks(surveys: list[dict[str, Any]]) -> list[str]:
    """Over all uplinks together, up and down, in messages."""
    lines = [
        f"How often the message of a broadcast ({surveys[0]['uplink_message_bytes']} bytes) left and entered "
        "racks and sites, by the network's counters:",
        "",
        "| library | placement | native | Isochrone |",
        "| --- | --- | ---: | ---: |",
    ]
    for survey in surveys:
        total = {"native": 0.0, "isochrone": 0.0}
        for directions in survey["uplink_bytes"].values():
            for by in directions.values():
                for what in total:
                    total[what] += by.get(what, 0.0) / survey["uplink_message_bytes"]
        lines.append(
            f"| {survey['mpi']} | {survey['placement']} | {total['native']:.2f} | {total['isochrone']:.2f} |"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
