# SPDX-License-Identifier: BSD-3-Clause
"""What is planted is named, and nothing is named where nothing is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.adaptive.choose_pairs import choose_pairs
from isochrone.adaptive.remeasure_slow import more_pairs, to_repeat
from isochrone.adaptive.table import Table
from isochrone.doctor.findings import Finding, findings
from isochrone.doctor.residuals import against_older, against_their_like, usual_levels
from isochrone.errors import IsochroneError
from isochrone.evaluate.noise import Noise, disturb
from isochrone.files import Measurements, PairParameters, Place, write_measurements
from isochrone.steps.doctor import doctor, examine

SIZES_BYTES = (0, 65536)
NODE = np.arange(64) // 8
SOCKET = np.arange(64) // 4
LATENCY_S = np.array([1.5e-6, 0.6e-6, 0.3e-6])
BYTE_S = np.array([1 / 6e9, 1 / 8e9, 1 / 10e9])


def some_of(seeds: int, few: int) -> list[object]:
    """The first few of some seeds, and the others where there is time."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(few, seeds))]


def cluster(order: np.ndarray | None = None) -> Measurements:
    """Eight nodes of two sockets of four cores, without noise."""
    order = np.arange(64) if order is None else order
    node, socket = NODE[order], SOCKET[order]
    shared = (node[:, None] == node).astype(int) + (socket[:, None] == socket)
    one_way_s = LATENCY_S[shared][:, :, None] + BYTE_S[shared][:, :, None] * np.array(SIZES_BYTES)
    one_way_s[np.arange(64), np.arange(64)] = np.nan
    places = tuple(Place(f"n{node[rank]}", str(order[rank] % 8), "simulated") for rank in range(64))
    return synthetic(2 * one_way_s, SIZES_BYTES, places=places)


def slowed(
    measurements: Measurements, pairs: np.ndarray, factor: float, sizes: slice = slice(None)
) -> Measurements:
    rtt_s = measurements.rtt_min_s.copy()
    rtt_s[(pairs | pairs.T)[measurements.first, measurements.second], sizes] *= factor
    return dataclasses.replace(measurements, rtt_min_s=rtt_s, rtt_median_s=rtt_s)


def noisy(measurements: Measurements, seed: int) -> Measurements:
    return disturb(measurements, Noise(0.1, 0.0, False, seed), [20])[0]


def of_pair(measurements: Measurements, first: int, second: int) -> np.ndarray:
    """Its least round trip of each size."""
    return measurements.rtt_min_s[measurements.find(first, second)]


def again(measurements: Measurements, first: int, second: int) -> np.ndarray:
    """It as what was measured alone: the least round trips and the medians, [2, size]."""
    at = measurements.find(first, second)
    return np.stack([measurements.rtt_min_s[at], measurements.rtt_median_s[at]])


def judged(measurements: Measurements) -> list[Finding]:
    return findings(against_their_like(measurements), measurements.places)


def only(measurements: Measurements, measured: np.ndarray) -> Measurements:
    """As if the other pairs had not been measured."""
    return measurements.only_pairs([pair for pair in measurements.pairs if (measured | measured.T)[pair]])


def adaptive(measurements: Measurements, seed: int = 1) -> Measurements:
    """What an adaptive probe would have measured."""
    table = Table(measurements.ranks)
    for pairs in choose_pairs(table, [place.host for place in measurements.places], seed):
        for pair in pairs:
            at = measurements.find(*pair)
            times_s = measurements.rtt_min_s[at, 0] / 2, measurements.rtt_median_s[at, 0] / 2
            table.add(pair, *times_s, measurements.repetitions)
    told = measurements.only_pairs(table.measured)
    more = more_pairs(told, usual_levels(told), np.random.default_rng(seed))
    return measurements.only_pairs([*table.measured, *more])


HOST = NODE[:, None] * np.ones(64, dtype=int)
RANK = np.arange(64)[:, None] * np.ones(64, dtype=int)
FAULTS = {
    "cable": ((HOST == 3) & (HOST.T != 3), 1.5, slice(0, 2), "node n3, to others"),
    "bandwidth": ((HOST == 5) & (HOST.T != 5), 2.0, slice(1, 2), "node n5, to others"),
    "node": ((HOST == 2) & (HOST.T == 2), 1.5, slice(0, 2), "node n2, inside"),
    "way": ((HOST == 1) & (HOST.T == 6), 1.5, slice(0, 2), "nodes n1 and n6, between them"),
    "rank": ((RANK == 11) & (HOST.T == 1), 2.0, slice(0, 2), "rank 11 on n1, CPU 3"),
    "pair": ((RANK == 4) & (RANK.T == 40), 2.5, slice(0, 2), "ranks 4 on n0 and 40 on n5"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("noise", [0, 1, 2])
def test_what_is_planted_is_the_only_finding(fault: str, noise: int) -> None:
    pairs, factor, sizes, name = FAULTS[fault]
    measurements = slowed(cluster(), pairs, factor, sizes)
    (found,) = judged(noisy(measurements, noise) if noise else measurements)
    assert found.suspect.name == name
    assert found.factor == pytest.approx(factor, rel=0.1)


def test_what_a_finding_takes_and_what_is_expected_have_its_factor_between_them() -> None:
    # A way on the slow cable is slow beyond that.
    on_the_cable = (HOST == 3) & (HOST.T == 6)
    measurements = slowed(slowed(cluster(), *FAULTS["cable"][:3]), on_the_cable, 1.5)
    for seed in (0, 4):
        cable, way = judged(noisy(measurements, seed) if seed else measurements)
        assert [cable.suspect.name, way.suspect.name] == [FAULTS["cable"][3], "nodes n3 and n6, between them"]
        for each in (cable, way):
            assert each.time_s / each.expected_s == pytest.approx(each.factor, rel=0.05)
            assert each.factor == pytest.approx(1.5, rel=0.1)


def test_two_faults_are_two_findings_the_worse_one_first() -> None:
    measurements = slowed(cluster(), *FAULTS["way"][:3])
    measurements = slowed(measurements, *FAULTS["cable"][:3])
    assert [each.suspect.name for each in judged(noisy(measurements, 4))] == [
        FAULTS["cable"][3],
        FAULTS["way"][3],
    ]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_named_where_nothing_is_slow(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(64)
    assert judged(noisy(cluster(order), 100 * seed + 1)) == []


def test_lasting_differences_of_pairs_are_no_finding() -> None:
    (measurements,) = disturb(cluster(), Noise(0.1, 0.03, False, 5), [32])
    assert judged(measurements) == []


def test_a_level_of_the_machine_is_no_finding() -> None:
    racks = NODE // 4
    measurements = slowed(cluster(), racks[:, None] != racks, 1.5)
    assert judged(noisy(measurements, 3)) == []


def test_against_older_measurements_only_what_changed_is_named() -> None:
    before = slowed(cluster(), *FAULTS["way"][:3])
    after = slowed(before, *FAULTS["node"][:3])
    order = np.random.default_rng(1).permutation(64)
    moved = after.only(order.tolist())
    found = findings(against_older(moved, before), moved.places, with_levels=True)
    assert [each.suspect.name for each in found] == [FAULTS["node"][3]]
    assert findings(against_older(before, before), before.places, with_levels=True) == []


def test_a_machine_that_became_slower_as_a_whole_is_named() -> None:
    after = slowed(cluster(), HOST != HOST.T, 1.4)
    found = findings(against_older(after, cluster()), after.places, with_levels=True)
    assert [each.suspect.kind for each in found] == ["level"]
    assert found[0].factor == pytest.approx(1.4)


def test_measurements_of_another_machine_are_refused() -> None:
    other = dataclasses.replace(
        cluster(), places=tuple(Place(f"m{NODE[rank]}", str(rank % 8), "simulated") for rank in range(64))
    )
    with pytest.raises(IsochroneError, match="no two places"):
        against_older(cluster(), other)


@pytest.mark.parametrize("seed", some_of(20, 6))
def test_nothing_is_named_on_few_pairs_where_nothing_is_slow(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(64)
    measurements = adaptive(noisy(cluster(order), 100 * seed + 1), seed)
    assert measurements.pairs_measured < measurements.pairs_total / 4
    assert judged(measurements) == []


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "pair"])
@pytest.mark.parametrize("seed", some_of(6, 2))
def test_what_is_planted_is_named_by_few_pairs_which_are_the_evidence(fault: str, seed: int) -> None:
    pairs, factor, sizes, name = FAULTS[fault]
    measurements = adaptive(noisy(slowed(cluster(), pairs, factor, sizes), seed), seed)
    (found,) = judged(measurements)
    assert found.suspect.name == name
    assert found.factor == pytest.approx(factor, rel=0.15)
    slow = (pairs | pairs.T)[measurements.first, measurements.second]
    assert len(found.suspect.pairs) == np.count_nonzero(slow)


@pytest.mark.parametrize("node", range(8))
def test_a_slow_host_that_most_pairs_go_to_is_not_taken_for_what_is_usual(node: int) -> None:
    slow = (node == HOST) & (node != HOST.T)
    measurements = noisy(slowed(cluster(), slow, 1.5), 10 + node)
    first = (8 * node == RANK) | (HOST == HOST.T) | (np.random.default_rng(node).random((64, 64)) < 0.03)
    (found,) = judged(only(measurements, first))
    assert found.suspect.name == f"node n{node}, to others"


def test_a_slow_pair_that_was_not_measured_is_not_named() -> None:
    pairs, factor, sizes, name = FAULTS["pair"]
    measurements = slowed(cluster(), pairs, factor, sizes)
    (found,) = judged(measurements)
    assert found.suspect.name == name
    assert judged(only(measurements, ~(pairs | pairs.T))) == []


def test_pairs_with_one_other_host_tell_of_the_way_to_it_and_not_of_a_cable() -> None:
    measurements = noisy(slowed(cluster(), *FAULTS["way"][:3]), 1)
    elsewhere = (HOST == 1) & (HOST.T != 1) & (HOST.T != 6)
    (found,) = judged(only(measurements, ~(elsewhere | elsewhere.T)))
    assert found.suspect.name == FAULTS["way"][3]


def test_only_pairs_that_were_measured_both_times_are_compared() -> None:
    before = slowed(cluster(), *FAULTS["way"][:3])
    after = slowed(before, *FAULTS["node"][:3])
    some = np.random.default_rng(1).random((64, 64)) < 0.3
    for then, now in ((only(before, some), after), (before, only(after, some))):
        compared = against_older(now, then)
        assert len(compared.first) == np.count_nonzero(np.triu(some | some.T, 1))
        (found,) = findings(compared, now.places, with_levels=True)
        assert found.suspect.name == FAULTS["node"][3]
        assert len(found.suspect.pairs) < 28


def test_measurements_that_have_no_pair_in_common_are_refused() -> None:
    within = HOST == HOST.T
    first = (RANK % 8 == 0) & (RANK.T % 8 == 0)
    measured = within | first
    other = (RANK % 8 == 1) & ~within
    with pytest.raises(IsochroneError, match="no pair was measured both then and now"):
        against_older(only(cluster(), measured), only(cluster(), other & ~first))


def test_a_probe_that_did_not_come_to_its_end_is_refused() -> None:
    some = dataclasses.replace(only(cluster(), (RANK < 2) & (RANK.T < 2)), ended=False)
    with pytest.raises(IsochroneError, match="2015 of 2016 pairs are missing"):
        against_their_like(some)


def test_a_pair_that_was_only_disturbed_is_repeated_alone_and_no_finding() -> None:
    pairs, factor, sizes, name = FAULTS["pair"]
    slow = noisy(slowed(cluster(), pairs, factor, sizes), 1)
    (found,) = judged(slow)
    assert found.suspect.name == name
    (pair,) = to_repeat(slow, usual_levels(slow), np.random.default_rng(1))
    assert pair == (4, 40)
    fast = again(noisy(cluster(), 2), *pair)
    assert judged(dataclasses.replace(slow, alone={pair: fast})) == []
    (still,) = judged(dataclasses.replace(slow, alone={pair: again(slow, *pair)}))
    assert still.suspect.name == name


def repeated_alone(
    together: Measurements, alone: Measurements, seed: int = 1
) -> tuple[list[Finding], Measurements]:
    """What is found once all that looks slow was repeated alone, and with how many pairs."""
    levels = usual_levels(together)
    random = np.random.default_rng(seed)
    while pairs := to_repeat(together, levels, random):
        assert not set(pairs) & set(together.alone)
        more = {pair: again(alone, *pair) for pair in pairs}
        together = dataclasses.replace(together, alone={**together.alone, **more})
    return judged(together), together


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_pairs_that_disturbed_each_other_are_no_finding(share: float, seed: int) -> None:
    sound = noisy(cluster(), seed)
    across = (HOST // 4 == 0) & (HOST.T // 4 == 1)
    disturbed = across & (np.random.default_rng(seed).random((64, 64)) < share)
    found, _ = repeated_alone(slowed(sound, disturbed, 1.9), noisy(cluster(), seed + 100))
    assert found == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fault", ["cable", "way", "node", "rank"])
def test_among_pairs_that_disturbed_each_other_what_is_slow_is_named(fault: str, seed: int) -> None:
    pairs, factor, sizes, name = FAULTS[fault]
    broken = slowed(cluster(), pairs, factor, sizes)
    across = (HOST // 4 == 0) & (HOST.T // 4 == 1)
    disturbed = across & (np.random.default_rng(seed).random((64, 64)) < 0.1)
    found, repeated = repeated_alone(slowed(noisy(broken, seed), disturbed, 1.9), noisy(broken, seed + 100))
    assert [each.suspect.name for each in found] == [name]
    assert found[0].sure
    assert len(repeated.alone) < 250


def test_what_was_not_looked_at_alone_is_not_named_where_other_pairs_were(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs, factor, sizes, name = FAULTS["way"]
    slow = noisy(slowed(cluster(), pairs, factor, sizes), 1)
    other = {(0, 1): again(slow, 0, 1)}
    between = {(8, 48): again(slow, 8, 48)}
    for alone, named in (({}, [name]), (other, []), (between, [name])):
        caplog.clear()
        path = tmp_path / "m.jsonl"
        write_measurements(path, dataclasses.replace(slow, alone=alone))
        _, found = doctor(path)
        assert [finding.suspect.name for finding in found if isinstance(finding, Finding)] == named
        assert ("not named: 1 more part that looked slow" in caplog.text) == (not named)


def test_where_nothing_was_measured_at_once_all_that_is_slow_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs, factor, sizes, name = FAULTS["way"]
    slow = noisy(slowed(cluster(), pairs, factor, sizes), 1)
    for together in ("none", "nodes"):
        told = {"command": ["isochrone-probe", "--together", together]}
        found = dataclasses.replace(slow, alone={(0, 1): again(slow, 0, 1)}, provenance=told)
        named = [finding.suspect.name for finding in examine(found, tmp_path) if isinstance(finding, Finding)]
        assert named == ([name] if together == "none" else [])
        assert ("probe again with --together none" in caplog.text) == (together == "nodes")


def test_pairs_whose_parameters_were_measured_alone_count_as_such() -> None:
    pairs, factor, sizes, name = FAULTS["pair"]
    slow = noisy(slowed(cluster(), pairs, factor, sizes), 1)

    def with_parameters(of: Measurements) -> Measurements:
        rtt_s = np.repeat(of_pair(of, 4, 40)[:, None], 4, axis=1)
        none_s = np.zeros(len(SIZES_BYTES))
        found = PairParameters(40, 4, SIZES_BYTES, rtt_s, none_s, none_s, none_s)
        other = {(0, 1): again(slow, 0, 1)}
        return dataclasses.replace(slow, alone=other, parameters={(40, 4): found})

    (finding,) = judged(with_parameters(slow))
    assert (finding.suspect.name, finding.sure) == (name, True)
    assert judged(with_parameters(noisy(cluster(), 2))) == []
