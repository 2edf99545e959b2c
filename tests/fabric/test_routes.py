# SPDX-License-Identifier: BSD-3-Clause
"""What the core says of all pairs at once, against each route walked by itself, on faulty fabrics."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from fat_trees import three_level
from hypothesis import given
from hypothesis import strategies as st

from isochrone._core import FabricRoutes
from isochrone.fabric.folder import read_fabric
from isochrone.fabric.routes import ENDINGS, Routes

UNREACHABLE = 65535


class Arrays:
    """A few switches and ends, cables anywhere, some of unknown speed, and tables of whatever numbers, which
    need not reach up to the highest LID.
    """

    def __init__(self, seed: int, switches: int, ends: int, correct: float) -> None:
        random = np.random.default_rng(seed)
        ports = 5
        self.switches, self.ends = switches, ends
        self.peer = np.full((switches, ports), -1, np.int32)
        self.peer_port = np.zeros((switches, ports), np.uint8)
        self.rate = np.zeros((switches, ports), np.float32)
        self.above = np.full(ends, -1, np.int32)
        self.above_port = np.zeros(ends, np.uint8)
        self.above_rate = np.zeros(ends, np.float32)
        sockets = [(at, port) for at in range(switches) for port in range(1, ports)]
        random.shuffle(sockets)
        for end in range(ends):
            if end and self.above[end - 1] < 0 and random.random() < 0.3:
                for one, other in ((end, end - 1), (end - 1, end)):
                    self.above[one], self.above_port[one], self.above_rate[one] = switches + other, 1, 8.0
            elif sockets and random.random() < 0.9:
                at, port = sockets.pop()
                rate = random.choice([0.0, 8.0, 16.0], p=[0.1, 0.5, 0.4])
                self.peer[at, port], self.peer_port[at, port], self.rate[at, port] = switches + end, 1, rate
                self.above[end], self.above_port[end], self.above_rate[end] = at, port, rate
        while len(sockets) > 1:
            (one, own), (other, far) = sockets.pop(), sockets.pop()
            rate = random.choice([0.0, 8.0, 16.0, 100.0], p=[0.1, 0.3, 0.3, 0.3])
            self.peer[one, own], self.peer_port[one, own], self.rate[one, own] = other, far, rate
            self.peer[other, far], self.peer_port[other, far], self.rate[other, far] = one, own, rate
        lids = switches + ends + 1
        self.lid = np.arange(1, lids, dtype=np.int32)
        self.lid[random.random(lids - 1) < 0.1] = 0
        self.lmc = np.zeros(lids - 1, np.uint8)
        told = max(1, lids - random.choice([0, 0, 1, 2]))
        self.out = random.choice([0, 1, 2, 3, 4, 255], (switches, told)).astype(np.uint8)
        for target in range(switches + ends):
            self._route_to(target, random, correct)

    def _route_to(self, target: int, random: np.random.Generator, correct: float) -> None:
        """Breadth first from the target; some entries are left as they are."""
        if self.lid[target] >= self.out.shape[1]:
            return
        seen, front = {target}, [target]
        while front:
            nearer, front = front, []
            for at in range(self.switches):
                for port in range(1, self.peer.shape[1]):
                    if at not in seen and self.peer[at, port] in nearer:
                        seen.add(at)
                        front.append(at)
                        if random.random() < correct and self.lid[target]:
                            self.out[at, self.lid[target]] = port
        if target < self.switches and self.lid[target]:
            self.out[target, self.lid[target]] = 0

    def core(self) -> FabricRoutes:
        return FabricRoutes(
            self.peer, self.peer_port, self.rate, self.out, self.lid, self.lmc, self.above, self.above_port,
            self.above_rate,
        )  # fmt: skip

    def walk(self, source: int, target: int) -> tuple[int, list[tuple[int, int, int]], float]:
        """A route, step by step."""
        if source == target:
            return 0, [], 0.0
        lid = int(self.lid[target])
        if not lid:
            return 1, [], 0.0
        here, into, rate = source, 0, float("inf")
        if source >= self.switches:
            end = source - self.switches
            if self.above[end] < 0:
                return 1, [], 0.0
            here, into, rate = int(self.above[end]), int(self.above_port[end]), float(self.above_rate[end])
            if here >= self.switches:
                return (0 if here == target else 4), [], rate
        hops: list[tuple[int, int, int]] = []
        while True:
            if here in [hop[0] for hop in hops]:
                return 3, hops, rate
            out = int(self.out[here, lid]) if lid < self.out.shape[1] else 255
            if here == target or out == 0:
                return (0 if here == target else 4), [*hops, (here, into, 0)], rate
            hops.append((here, into, out))
            if out >= self.peer.shape[1] or self.peer[here, out] < 0:
                return 2, hops, rate
            rate = min(rate, float(self.rate[here, out]))
            here, into = int(self.peer[here, out]), int(self.peer_port[here, out])
            if here >= self.switches:
                return (0 if here == target else 4), hops, rate


fabrics = st.builds(
    Arrays,
    seed=st.integers(0, 2**32),
    switches=st.integers(1, 9),
    ends=st.integers(0, 9),
    correct=st.sampled_from([0.5, 0.9, 1.0]),
)


@given(fabrics)
def test_every_route_is_the_walked_one(arrays: Arrays) -> None:
    core = arrays.core()
    everything = range(arrays.switches + arrays.ends)
    for source in everything:
        for target in everything:
            ending, hops, rate = core.route(source, target)
            wanted = arrays.walk(source, target)
            assert (ending, hops) == wanted[:2]
            if ending == 0 and source != target:
                assert rate == wanted[2]


@given(fabrics)
def test_matrices_and_counts_are_those_of_the_routes(arrays: Arrays) -> None:
    core = arrays.core()
    vertices = list(range(arrays.switches + arrays.ends))
    hops, rates = core.hops(vertices), core.rates(vertices)
    pairs, examples = core.broken(vertices, 2)
    counted = [0] * len(ENDINGS)
    for source, target in permutations(vertices, 2):
        ending, way, rate = core.route(source, target)
        counted[ending] += 1
        assert hops[source, target] == (UNREACHABLE if ending else len(way))
        assert np.isnan(rates[source, target]) == (ending == 0 and rate == 0)
        assert np.isnan(rates[source, target]) or rates[source, target] == (0 if ending else rate)
    assert pairs == counted
    assert all(core.route(source, target)[0] == ending != 0 for source, target, ending in examples)
    assert len(examples) == sum(min(2, number) for number in counted[1:])


@given(fabrics)
def test_loads_are_those_of_the_routes(arrays: Arrays) -> None:
    core = arrays.core()
    ends = list(range(arrays.switches, arrays.switches + arrays.ends))
    wanted = np.zeros(arrays.peer.shape)
    up = np.zeros(arrays.ends)
    together: dict[tuple[int, int], int] = {}
    lost = 0
    for source, target in permutations(ends, 2):
        ending, way, _ = core.route(source, target)
        lost += ending != 0
        for at, _, out in way if ending == 0 else ():
            wanted[at, out] += 1
            together[at, target] = together.get((at, target), 0) + 1
        up[source - arrays.switches] += ending == 0
    pairs = np.array(list(permutations(ends, 2)), np.int32).reshape(-1, 2)
    found = core.loads(pairs[:, 0].copy(), pairs[:, 1].copy(), np.ones(len(pairs)))
    uniform, most = core.uniform(ends)
    for out, into, missed in (found, uniform):
        np.testing.assert_array_equal(out, wanted)
        np.testing.assert_array_equal(into, up)
        assert missed == lost
    for at in range(arrays.switches):
        assert most[at] == max((number for (where, _), number in together.items() if where == at), default=0)


@given(fabrics)
def test_ways_back(arrays: Arrays) -> None:
    core = arrays.core()
    vertices = list(range(arrays.switches, arrays.switches + arrays.ends))
    differ = [
        (one, other)
        for at, one in enumerate(vertices)
        for other in vertices[at + 1 :]
        if core.route(one, other)[0] == core.route(other, one)[0] == 0
        and [hop[0] for hop in core.route(one, other)[1]]
        != [hop[0] for hop in core.route(other, one)[1]][::-1]
    ]
    assert core.asymmetric(vertices, 3) == (len(differ), differ[:3])


def test_what_cannot_be_is_refused() -> None:
    arrays = Arrays(0, 3, 2, 1.0)
    with pytest.raises(IndexError):
        arrays.core().route(0, 5)
    arrays.peer[0, 1] = 99
    with pytest.raises(ValueError, match="cable"):
        arrays.core()


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Routes:
    net = three_level(3, 2, 3, 2, 2)
    return Routes(read_fabric(net.dump(tmp_path_factory.mktemp("fabric"))))


def test_names(routes: Routes) -> None:
    vertex = routes.vertex("node-000-001")
    guid = routes.wiring.guids[vertex]
    assert routes.vertex("node-000-001.site.org") == vertex
    assert routes.vertex(f"0x{guid:x}") == vertex
    assert routes.vertex(f"0X{guid:016X}") == vertex


def test_hops_of_a_tree(routes: Routes) -> None:
    hosts = list(routes.wiring.hosts)
    hops = routes.hops([routes.vertex(name) for name in hosts])
    for row, one in enumerate(hosts):
        for column, other in enumerate(hosts):
            leaf = [int(name.split("-")[1]) for name in (one, other)]
            same_pod = leaf[0] // 2 == leaf[1] // 2
            wanted = 0 if one == other else 1 if leaf[0] == leaf[1] else 3 if same_pod else 5
            assert hops[row, column] == wanted
