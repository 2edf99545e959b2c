#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of docs/core-to-core.md: what detection finds in measured matrices of processors.

Usage: core_to_core.py FOLDER [--orders N]

FOLDER has the .csv files of the project core-to-core-latency (https://github.com/nviennot/core-to-core-latency).
With --orders it says instead in how many of so many orders of the rows the same groups are found.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from isochrone.detect import detect
from isochrone.detect.distance import distance_matrix_s, distances_of
from isochrone.detect.levels import find_levels
from isochrone.detect.partitions import numbered
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
    parser = argparse.ArgumentParser(description="What detection finds in measured matrices of processors.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--orders", type=int, default=0, metavar="N")
    wanted = parser.parse_args()
    if not wanted.folder.is_dir():
        parser.error(f"{wanted.folder} is no folder")
    if wanted.orders:
        return print_orders(wanted.folder, wanted.orders)
    print("| processor | threads | built of | found | confidence |")
    print("| --- | ---: | --- | --- | --- |")
    for name, built in BUILT.items():
        topology, _ = detect(read_matrix(wanted.folder / f"{name}.csv", "ns"))
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


def print_orders(folder: Path, orders: int) -> int:
    """A line for each matrix; fails where the order of the rows has a say."""
    differ = 0
    for name in BUILT:
        distance_s = distance_matrix_s(read_matrix(folder / f"{name}.csv", "ns"))
        np.fill_diagonal(distance_s, 1.0)
        ranks = len(distance_s)
        one_host = np.zeros(ranks, dtype=np.int64)
        found = []
        for seed in range(orders):
            order = np.random.default_rng(seed).permutation(ranks) if seed else np.arange(ranks)
            levels = find_levels(distances_of(np.log(distance_s[np.ix_(order, order)]), 0.0, one_host))
            back = np.argsort(order)
            found.append([numbered(labels[back].tolist()).tolist() for labels in levels])
        same = sum(each == found[0] for each in found)
        differ += same < orders
        print(f"{name}: the same groups in {same} of {orders} orders", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
