#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of docs/core-to-core.md: what detection finds in measured matrices of processors.

Usage: core_to_core.py FOLDER

FOLDER has the .csv files of the project core-to-core-latency (https://github.com/nviennot/core-to-core-latency).
"""

from __future__ import annotations

import sys
from pathlib import Path

from isochrone.detect import detect
from isochrone.files.matrix import read_matrix

# Groups and their size, in threads as the matrix has them, from the makers' descriptions; outermost first.
BUILT = {
    "AMD_EPYC_7773X": "8 x 16 (L3), 64 x 2 (SMT)",
    "AMD_Ryzen_9_5950X_3_40_GHz": "2 x 16 (L3), 16 x 2 (SMT)",
    "AWS_Graviton2": "",
    "Dual_AMD_EPYC_7742_64-Core_Processor": "2 x 128 (sockets), 32 x 8 (L3), 128 x 2 (SMT)",
    "Dual_IBM_Power7_8_cores_3_3_GHz_2010-Q1": "2 x 8 (sockets)",
    "Dual_Intel_R_Xeon_Gold_6242_2_8GHz": "2 x 32 (sockets), 32 x 2 (SMT)",
    "Dual_Intel_R_Xeon_R_CPU_E5-2680_v4_2_40GHz": "2 x 28 (sockets), 28 x 2 (SMT)",
    "HiSilicon_Kunpeng_920-6426_2_6GHz": "2 x 32 (dies)",
    "Intel_Core_i7-6700K": "4 x 2 (SMT)",
    "Intel_R_Xeon_Phi_TM_CPU_7210_1_30GHz": "32 x 2 (L2)",
}


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__.strip().splitlines()[2], file=sys.stderr)
        return 2
    print("| processor | threads | built of | found | confidence |")
    print("| --- | ---: | --- | --- | --- |")
    for name, built in BUILT.items():
        topology, _ = detect(read_matrix(Path(sys.argv[1]) / f"{name}.csv", "ns"))
        found = [
            (
                f"{len(level.groups)} x {'-'.join(map(str, sorted({len(g) for g in level.groups})))}",
                level.confidence,
            )
            for level in topology.levels[1:]
        ]
        cells = ", ".join(text for text, _ in found) or "one level"
        sure = ", ".join(f"{confidence:.2f}" for _, confidence in found)
        title = name.replace("_", " ")
        print(f"| {title} | {len(topology.ranks)} | {built or 'one die'} | {cells} | {sure} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
