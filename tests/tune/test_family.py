# SPDX-License-Identifier: BSD-3-Clause
"""Communicators that a survey tunes beside its own: fewer nodes, fewer ranks on each."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from isochrone.files import Place
from isochrone.tune.effort import NOISY
from isochrone.tune.family import LEAST_FAMILY, family, family_in_time, node_counts, node_shares


def _places(on_hosts: list[int], cyclic: bool = False) -> list[Place]:
    """So many ranks on each host, host by host or in turn."""
    places = [(host, cpu) for host, ranks in enumerate(on_hosts) for cpu in range(ranks)]
    if cyclic:
        places.sort(key=lambda place: (place[1], place[0]))
    return [Place(f"h{host}", str(cpu), "") for host, cpu in places]


@given(st.integers(2, 5000))
def test_counts_of_nodes_grow_by_a_half_at_least_and_end_with_all(nodes: int) -> None:
    counts = node_counts(nodes)
    assert counts[0] == 2
    assert counts[-1] == nodes
    assert all(low < high <= 2 * low for low, high in itertools.pairwise(counts))
    assert len(counts) <= 2 * nodes.bit_length()


def test_a_node_gives_all_half_or_one_of_its_ranks() -> None:
    assert node_shares(16) == [16, 8, 1]
    assert node_shares(2) == [2, 1]
    assert node_shares(1) == [1]


@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=9),
    st.booleans(),
    st.lists(st.integers(0, 2), min_size=9, max_size=9),
)
def test_each_is_a_list_of_some_of_the_ranks_once(
    on_hosts: list[int], cyclic: bool, racks: list[int]
) -> None:
    places = _places(on_hosts, cyclic)
    rack_of = [racks[int(place.host[1:])] for place in places]
    found = family(places, [rack_of])
    assert len(set(found)) == len(found)
    for ranks in found:
        assert list(ranks) == sorted(set(ranks))
        assert 2 <= len(ranks) < len(places)
        counts = [sum(places[rank].host == host for rank in ranks) for host in {p.host for p in places}]
        assert len({count for count in counts if count}) == 1


def test_two_nodes_are_taken_from_one_rack_and_from_two() -> None:
    places = _places([2] * 8)
    rack_of = [int(place.host[1:]) // 4 for place in places]
    found = family(places, [rack_of])
    assert (0, 1, 2, 3) in found
    assert (0, 1, 8, 9) in found
    # Of half the nodes all are of one rack, or half of either.
    assert tuple(range(8)) in found
    assert (0, 1, 2, 3, 8, 9, 10, 11) in found


def test_levels_that_tell_no_hosts_together_say_nothing_of_where_hosts_are() -> None:
    places = _places([2] * 8)
    rack_of = [int(place.host[1:]) // 4 for place in places]
    node_of = [int(place.host[1:]) for place in places]
    core_of = list(range(len(places)))
    for levels in ([rack_of, node_of], [node_of, rack_of, core_of], [rack_of, node_of, core_of]):
        assert family(places, levels) == family(places, [rack_of])
    assert family(places, [node_of, core_of]) == family(places, [])


def test_what_is_nearest_to_all_ranks_comes_first() -> None:
    places = _places([4] * 8)
    shapes = [
        (len({rank // 4 for rank in ranks}), max(rank % 4 for rank in ranks) + 1)
        for ranks in family(places, [])
    ]
    # Nodes and ranks on each.
    assert shapes[:6] == [(4, 4), (8, 2), (2, 4), (4, 2), (8, 1), (6, 4)]
    assert set(shapes) == set(itertools.product((8, 4, 2, 6, 3), (4, 2, 1))) - {(8, 4)}
    # As many in one rack as in several, one beside the other, as far as there are racks for it.
    racks = [int(place.host[1:]) // 4 for place in places]
    near, spread = family(places, [racks])[:2]
    assert [len({racks[rank] for rank in ranks}) for ranks in (near, spread)] == [1, 2]


def test_one_host_has_no_others() -> None:
    assert family(_places([8]), []) == []


def test_a_budget_has_some_communicators_and_leaves_out_the_sizes_that_take_longest() -> None:
    native_s = {("bcast", 8): 1e-5, ("bcast", 1 << 20): 1e-2, ("alltoall", 65536): 10.0}
    everything = {"bcast": {8, 1 << 20}, "alltoall": {65536}}
    assert family_in_time(native_s, NOISY, None, 4, 1e-3) == (everything, NOISY.family)
    sizes, room = family_in_time(native_s, NOISY, 120.0, 4, 1e-5)
    assert sizes == {"bcast": {8, 1 << 20}}
    assert LEAST_FAMILY <= room <= NOISY.family
    assert family_in_time(native_s, NOISY, 1e-3, 4, 1e-5) == ({}, 0)


def test_where_setting_up_takes_long_only_few_collectives_are_for_other_communicators() -> None:
    """However short their calls are, as inside a site of several: all ranks have a part in it."""
    native_s = {(name, 8): 1e-4 for name in ("bcast", "reduce", "allreduce")}
    sizes, room = family_in_time(native_s, NOISY, 72.0, 4, 1e-3)
    assert set(sizes) == {"bcast", "reduce", "allreduce"}
    assert room == NOISY.family
    few, room = family_in_time(native_s, NOISY, 72.0, 4, 40e-3)
    assert len(few) == 1
    assert room >= LEAST_FAMILY
    assert family_in_time(native_s, NOISY, 72.0, 4, 100e-3) == ({}, 0)
