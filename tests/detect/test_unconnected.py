# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that do not connect all that they are about, and sizes that were left out of slow pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from isochrone.detect import detect
from isochrone.errors import IsochroneError

US = 1e-6


@pytest.mark.parametrize(
    ("hosts", "pairs", "named"),
    [
        ("abcdef", [(1, 2), (4, 5)], "ranks 1 and 4"),
        ("aabbcd", [(0, 1), (0, 2), (1, 3), (4, 5)], "ranks 0 and 4"),
        ("abcd", [(0, 1), (0, 2), (1, 3)], ""),
    ],
)
def test_ranks_without_a_way_to_each_other_are_named_by_their_own_numbers(
    make_regular, make_measurements, hosts, pairs, named
):
    found = make_measurements(make_regular([len(hosts)], [US]), hosts=list(hosts), cpus=[None] * len(hosts))
    some = found.only_pairs(pairs)
    if named:
        with pytest.raises(IsochroneError, match=f"do not connect {named}"):
            detect(some)
    else:
        detect(some)


@pytest.mark.parametrize(
    ("hosts", "pairs"),
    [
        ("aaabbbc", [(0, 1), (0, 2), (0, 6), (3, 4), (3, 5), (3, 6)]),
        ("aaabbb", [(0, 3), (1, 4), (2, 5)]),
    ],
)
def test_of_hosts_that_only_other_ranks_connect_nothing_is_said_inside(
    make_regular, make_measurements, hosts, pairs
):
    found = make_measurements(make_regular([len(hosts)], [US]), hosts=list(hosts), cpus=[None] * len(hosts))
    topology, _ = detect(found.only_pairs(pairs))
    assert len(topology.places) == len(set(hosts))
    assert not [reason for reason in topology.reasons if "not bound" in reason.why]


@pytest.mark.parametrize("slow_share", [0.2, 0.4, 0.6, 0.8])
def test_where_large_messages_were_left_out_of_slow_pairs_links_are_no_faster_than_the_median_pair(
    make_regular, make_measurements, slow_share
):
    found = make_measurements(make_regular([8], [50 * US]), hosts=[f"n{rank}" for rank in range(8)])
    count = len(found.first)
    is_slow = np.arange(count) < round(slow_share * count)
    byte_s = np.where(is_slow, 8e-7, 8e-8)
    rtt_s = 100 * US + 2 * byte_s[:, None] * np.array(found.sizes_bytes)
    rtt_s[is_slow, -1] = np.nan
    overhead_s = np.where(np.isnan(rtt_s), np.nan, US)
    (links,) = [
        level.links
        for level in detect(replace(found, rtt_min_s=rtt_s, rtt_median_s=rtt_s, send_overhead_s=overhead_s))[
            0
        ].levels
        if level.links is not None
    ]
    sizes, gaps_s = np.array(links.gap_s).T
    per_byte_s = np.diff(gaps_s) / np.diff(sizes)
    assert per_byte_s == pytest.approx([np.median(byte_s)] * len(per_byte_s), rel=0.01)
    assert sizes[-1] == (1024 if slow_share > 0.5 else 65536)
