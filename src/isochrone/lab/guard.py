# SPDX-License-Identifier: BSD-3-Clause
"""Refuses results that the emulated network cannot have given.

An MPI library may find out that all hosts of a lab are one machine, and go around the network between
them. Nothing fails then, and every figure is wrong. But no message between two hosts can arrive before the
delays of the links between them are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isochrone.errors import GateError
from isochrone.files import BCAST, parse_members, read_bench, read_measurements
from isochrone.lab.network import Network

_ADVICE = "the MPI library goes around the lab's network"


def check_probe(path: Path, network: Network, hosts: Sequence[int]) -> None:
    """Checks measurements; `hosts` has the host of each rank.

    Raises:
        GateError: a pair on two hosts took less than the delay between them.
    """
    measurements = read_measurements(path)
    for (a, b), rtt_s in zip(measurements.pairs, measurements.rtt_min_s[:, 0].tolist(), strict=True):
        least_s = network.delay_s(hosts[a], hosts[b])
        if rtt_s / 2 < least_s:
            raise GateError(
                f"ranks {a} and {b} are {least_s * 1e6:g} µs apart, and a message took "
                f"{rtt_s / 2 * 1e6:.3g} µs: {_ADVICE}",
                str(path),
            )


def check_bench(path: Path, network: Network, hosts: Sequence[int]) -> None:
    """Checks the times of broadcasts; `hosts` has the host of each rank.

    Raises:
        GateError: a broadcast took less than the links allow (``Network.bound_s``).
    """
    bench = read_bench(path)
    for key, times in bench.slowest_s.items():
        # The bound is of what all hosts get from one; a reduction to a root goes the other way.
        if key.collective != BCAST:
            continue
        among = [hosts[rank] for rank in sorted(parse_members(key.members))] if key.members else hosts
        least_s = network.bound_s(among[key.root], among, key.size_bytes)
        # Starts are aligned to within the error of the clocks.
        time_s = float(times.min()) + bench.sync_error_s
        if time_s < least_s:
            raise GateError(
                f"a broadcast of {key.size_bytes} bytes from rank {key.root} takes the links at least "
                f"{least_s * 1e6:.6g} µs, and one by {key.recipe} took {time_s * 1e6:.6g} µs: {_ADVICE}",
                str(path),
            )
