# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the ranks leave no trace in what is measured: no band, no corner, no slow first rank."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from squares import square

from isochrone.files import Measurements
from isochrone.files.measurements import VALUES
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.steps.probe import ProbeOptions, Together, probe

pytestmark = pytest.mark.usefixtures("simgrid")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LINKS = """
links:
  socket:  {latency: 0.4us, bandwidth: 9GB/s}
  node:    {latency: 0.7us, bandwidth: 7GB/s}
  network: {latency: 1.3us, bandwidth: 6GB/s}
"""
SIMGRID_PRECISION_S = 1e-9


def by_place(measurements: Measurements) -> tuple[list[tuple[str, int]], Floats]:
    """The places in order, and [value, rank, rank, size] with the ranks in the order of their places."""
    places = [(place.host, int(place.cpus or "-1")) for place in measurements.places]
    order = np.array(sorted(range(len(places)), key=lambda rank: places[rank]))
    values = np.stack([square(measurements, name) for name in VALUES])
    return sorted(places), values[:, order][:, :, order]


@pytest.mark.parametrize("placement", ["cyclic", "random"])
# Pairs at once are disturbed a little by tokens and by records on their way to rank 0. One repetition of a
# few pairs shows that; the least and the median of several do not.
@pytest.mark.parametrize(("together", "repetitions"), [("none", 1), ("nodes", 5)])
def test_a_cluster_measured_in_another_rank_order_has_the_same_matrix(
    tmp_path: Path, placement: str, together: Together, repetitions: int
) -> None:
    system = tmp_path / "system.yaml"
    system.write_text(f"name: small\nnodes: 3\nsockets: 2\ncores: 2\n{LINKS}")
    found = []
    for name, seed in (("block", 1), (placement, 2)):
        target = SimTarget(load_system(str(system), name, seed))
        output = tmp_path / f"{name}.jsonl"
        found.append(probe(target, output, ProbeOptions((0, 1024, 65536), repetitions, seed, together)))
    first, other = found
    assert [p.document() for p in first.places] != [p.document() for p in other.places]
    (places, values), (other_places, other_values) = by_place(first), by_place(other)
    assert places == other_places
    assert first.complete
    assert other.complete
    np.testing.assert_allclose(values, other_values, rtol=0, atol=SIMGRID_PRECISION_S)


# --- The order in time --------------------------------------------------------------------------------------

RANKS = 24
SEEDS = range(1, 9)
RELABELLINGS = 400

# What the position in time might go with, for a pair i < j: with these, what changes during a probe becomes
# a gradient across the matrix, a slow first or last rank, or a band along the diagonal.
TRACES: dict[str, Callable[[Ints, Ints], Ints]] = {
    "i + j": lambda i, j: i + j,
    "min(i, j)": np.minimum,
    "max(i, j)": np.maximum,
    "|i - j|": lambda i, j: abs(i - j),
    "i + j modulo the ranks": lambda i, j: (i + j) % RANKS,
}


def correlation(pairs: Ints, trace: Callable[[Ints, Ints], Ints], label: Ints) -> float:
    """Of the position in time of the pairs, which they are in the order of, with the trace, for ranks that
    are numbered so.
    """
    return float(np.corrcoef(np.arange(len(pairs)), trace(label[pairs[:, 0]], label[pairs[:, 1]]))[0, 1])


def relabellings(nodes: int) -> Iterator[Ints]:
    """Numbers for the ranks that are as good as their own: nodes in any order, and the ranks of each."""
    chance = np.random.default_rng(1)
    for _ in range(RELABELLINGS):
        ranks = np.arange(RANKS).reshape(nodes, -1)
        yield chance.permuted(ranks[chance.permutation(nodes)], axis=1).ravel()


def standard_score(pairs: Ints, trace: Callable[[Ints, Ints], Ints], nodes: int) -> float:
    """How far the correlation is from what it would be if the ranks had other numbers, in standard
    deviations.

    Pairs that share a rank, and pairs between two nodes, are not independent of each other, so that the
    textbook's deviation of a correlation does not hold. That of the same order in time, with ranks numbered
    at random, does.
    """
    others = [correlation(pairs, trace, label) for label in relabellings(nodes)]
    return (correlation(pairs, trace, np.arange(RANKS)) - float(np.mean(others))) / float(np.std(others))


@pytest.fixture(scope="module", params=[1, 4], ids=["one node", "four nodes"])
def orders(
    request: pytest.FixtureRequest, simgrid: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, list[Ints]]:
    """The number of nodes; for each seed all pairs in the order in which they were measured."""
    nodes: int = request.param
    folder = tmp_path_factory.mktemp("orders")
    described = folder / "system.yaml"
    described.write_text(f"name: flat\nnodes: {nodes}\nsockets: 1\ncores: {RANKS // nodes}\n{LINKS}")
    target = SimTarget(load_system(str(described)))
    found = []
    for seed in SEEDS:
        path = folder / f"{seed}.jsonl"
        probe(target, path, ProbeOptions((0,), seed=seed))
        found.append(pairs_in_time(path))
    return nodes, found


def pairs_in_time(path: Path) -> Ints:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = [line for line in lines[1:-1] if "pair" in line and "alone" not in line]
    return np.array([line["pair"] for line in sorted(first, key=lambda line: line["at_s"])])


@pytest.mark.parametrize("trace", TRACES)
def test_when_a_pair_is_measured_does_not_go_with_its_ranks(
    orders: tuple[int, list[Ints]], trace: str
) -> None:
    # If the order knows nothing of the numbers, each score has mean 0 and deviation 1, and their mean over
    # the seeds a deviation of 1 / sqrt(seeds). One correlation alone is bounded by 4.5 deviations, their mean
    # by 3.5: of all that is asked here, less than one in 300 would fail by chance. The seeds are fixed, so
    # that what holds once holds always, until the order is another.
    nodes, found = orders
    scores = [standard_score(pairs, TRACES[trace], nodes) for pairs in found]
    assert max(map(abs, scores)) < 4.5, scores
    assert abs(np.mean(scores)) * np.sqrt(len(scores)) < 3.5, scores


@pytest.mark.parametrize("trace", ["i + j", "min(i, j)"])
def test_an_order_by_rank_would_be_seen(trace: str) -> None:
    by_rank = np.stack(np.triu_indices(RANKS, 1), axis=1)
    assert standard_score(by_rank, TRACES[trace], nodes=1) > 4.5


def test_a_tournament_in_rank_order_would_be_seen() -> None:
    """The circle method without its shuffling: pairs with i + j constant are neighbours in time."""
    by_rank = np.stack(np.triu_indices(RANKS, 1), axis=1)
    in_rounds = by_rank[np.argsort(by_rank.sum(axis=1) % RANKS, kind="stable")]
    assert standard_score(in_rounds, TRACES["i + j modulo the ranks"], nodes=1) > 4.5
