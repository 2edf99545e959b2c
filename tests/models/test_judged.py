# SPDX-License-Identifier: BSD-3-Clause
"""What models are judged by: errors on what they were not fitted to, and which of them is trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from timed import SIZES, collectives, messages

from isochrone.files import Links
from isochrone.models.candidate import Candidate, Prediction
from isochrone.models.collective import from_links
from isochrone.models.covariates import fit_covariates
from isochrone.models.holdout import Errors, Judged, groups_of, judge
from isochrone.models.messages import Parameter
from isochrone.models.observation import Found, Observation, with_regions
from isochrone.models.subjects import Subject, subjects
from isochrone.models.table import COVARIATE_MODELS
from isochrone.models.trust import trust
from isochrone.models.verdict import verdict

WITHIN = 0.2


def hockney_s(size: int) -> float:
    return 2e-6 + 1e-10 * size


def stepped_s(size: int) -> float:
    return hockney_s(size) + (8e-6 if size > 8192 else 0.0)


def only(found: Sequence[Observation]) -> Subject:
    (subject,) = subjects(Found(tuple(found)), WITHIN)
    return subject


def polynomial(degree: int) -> Candidate:
    """log T as a polynomial of log size."""

    def fit(observations: Sequence[Observation]) -> Prediction:
        def x(others: Sequence[Observation]) -> np.ndarray:
            return np.log2([max(each.size_bytes, 1) for each in others]) / 22

        found = np.polynomial.Polynomial.fit(
            x(observations), np.log([each.time_s for each in observations]), degree
        )
        return Prediction((Parameter("p", "", 0.0),), degree + 1, lambda others: np.exp(found(x(others))))

    return Candidate(f"degree {degree}", "", fit)


def test_where_times_are_straight_the_simplest_model_is_trusted() -> None:
    subject = only(messages(hockney_s, 0.02, 1))
    chosen = subject.trust.chosen
    assert chosen is not None
    assert chosen.prediction.fitted == 2
    by_name = {each.candidate.name: each for each in subject.judged}
    # PLogP goes through all of them, and knows less of what it has not seen.
    assert by_name["plogp"].in_sample.p95 < 1e-6
    assert by_name["plogp"].held_out["size"].median > by_name["hockney"].held_out["size"].median
    assert subject.sentences[0].startswith("Trust hockney, within 20 %, for 0 B to 4 MiB")


def test_a_protocol_step_breaks_hockney_and_not_plogp() -> None:
    subject = only(messages(stepped_s, 0.02, 2))
    assert subject.trust.chosen is not None
    assert subject.trust.chosen.candidate.name == "plogp"
    worse = {rank.name for rank in subject.trust.ranking if rank.proven_worse}
    assert {"hockney", "loggp"} <= worse
    # It is told where: nobody who has not seen either side of the step foresees it.
    assert "8 KiB" in subject.sentences[1]
    assert "16 KiB" in subject.sentences[1]


def test_a_model_that_overfits_loses() -> None:
    observations = messages(hockney_s, 0.1, 3)
    simple, wild = (judge(polynomial(degree), observations) for degree in (4, 16))
    assert wild.in_sample.median < simple.in_sample.median
    assert wild.held_out["size"].p95 > simple.held_out["size"].p95
    chosen = trust([wild, simple]).chosen
    assert chosen is simple


def test_held_out_errors_are_those_of_a_fit_that_never_saw_the_size() -> None:
    observations = messages(hockney_s, 0.05, 4, pairs=2)
    seen: list[set[int]] = []

    def fit(kept: Sequence[Observation]) -> Prediction:
        sizes = {each.size_bytes for each in kept}
        seen.append(sizes)

        def times_s(others: Sequence[Observation]) -> np.ndarray:
            # Right for what it was told, ten times too long for all else.
            return np.array([each.time_s * (1 if each.size_bytes in sizes else 10) for each in others])

        return Prediction((), 0, times_s)

    judged = judge(Candidate("memory", "", fit), observations)
    assert judged.in_sample.median == pytest.approx(0.0, abs=1e-12)
    assert judged.held_out["size"].median == pytest.approx(math.log(10))
    assert sorted(len(each) for each in seen) == [len(SIZES) - 1] * len(SIZES) + [len(SIZES)]


def test_many_sizes_are_left_out_with_their_neighbours_and_few_not_at_all() -> None:
    many = [Observation("bcast", size, 4, 1e-6) for size in range(1, 1001)]
    groups = groups_of(many, "size")
    assert groups is not None
    assert len(set(groups.tolist())) == 32
    assert np.all(np.diff(groups) >= 0)
    assert groups_of(many, "ranks") is None


def test_collectives_follow_from_messages_by_their_algorithm() -> None:
    made = collectives("bcast", ("binomial", "chain", "flat"), (4, 8, 16), (1, 1024, 65536, 1 << 20), 0.03)
    found = subjects(Found((*messages(hockney_s, 0.01, 5), *made)), WITHIN)
    bcast = found[-1]
    assert bcast.name == "bcast"
    assert bcast.trust.chosen is not None
    assert bcast.trust.chosen.candidate.name == "hockney"
    # Nothing was fitted to them: 3 % of noise is all that is off.
    assert bcast.trust.chosen.prediction.fitted == 0
    assert bcast.trust.chosen.in_sample.p95 < 0.12
    assert "for 1 B to 1 MiB, and for 4 to 16 ranks" in bcast.sentences[0]


def test_algorithms_of_which_no_messages_are_known_are_apart() -> None:
    made = collectives("bcast", ("binomial",), (4, 8, 16), (1, 1024, 65536), 0.03)
    own = [replace(each, algorithm="native") for each in made]
    plan = [replace(each, algorithm="plan") for each in made]
    found = subjects(Found((*messages(hockney_s, 0.01, 5), *made, *own, *plan)), WITHIN)
    assert [each.name for each in found] == [
        "messages",
        "bcast",
        "bcast, by algorithms of which no messages are known",
    ]
    assert "hockney" in found[2].unfitted
    assert {each.algorithm for each in found[2].observations} == {"native", "plan"}


def multiplied(seed: int) -> list[Observation]:
    """Times of two algorithms, of which one takes three times as long, by the square root of ranks."""
    generator = np.random.default_rng(seed)
    return [
        Observation(
            "bcast",
            1 << bits,
            ranks,
            1e-6 * factor * ranks**0.5 * float(np.exp(0.05 * generator.normal())),
            name,
        )
        for bits in range(0, 16, 2)
        for ranks in (2, 4, 8, 16, 32)
        for name, factor in (("a", 1.0), ("b", 3.0))
    ]


def test_coefficients_are_recovered_within_their_intervals_as_often_as_these_promise() -> None:
    (log,) = (model for model in COVARIATE_MODELS if model.name == "log")
    hits = []
    for seed in range(60):
        prediction = fit_covariates(log.response, log.terms, multiplied(seed))
        told = {each.name: each for each in prediction.parameters}
        for name, truth in (("algorithm=b", math.log(3)), ("log2(ranks)", 0.5 * math.log(2))):
            hits.append(told[name].low <= truth <= told[name].high)
            assert told[name].high - told[name].low < 0.1
    assert 105 <= sum(hits) < 120


def test_the_least_error_is_not_said_to_have_parameters_that_it_has_not() -> None:
    observations = messages(hockney_s, 0.0, 1)

    def told(name: str, factor: float) -> Judged:
        prediction = Prediction(
            (), 0, lambda others: np.array([factor * hockney_s(each.size_bytes) for each in others])
        )
        return judge(Candidate(name, "", lambda _: prediction), observations)

    judged = [told("first", 1.003), told("second", 1.0)]
    chosen = trust(judged)
    assert chosen.chosen is judged[0]
    assert chosen.best is judged[1]
    sentences = verdict(chosen, judged, observations, WITHIN)
    assert "second has the least error, and is not proven better." in sentences


def test_what_would_be_simulated_for_hours_has_no_answer() -> None:
    links = Links(1e-6, ((0, 0.0),), ((0, 0.0),), ((0, 1e-7), (1, 1.1e-7)))
    predicted = from_links({"machine": links}).times_s(
        [
            Observation("bcast", 1 << 20, 8, 1.0, "chain@65536"),
            Observation("bcast", 1 << 40, 8, 1.0, "chain@1"),
            Observation("alltoall", 8, 4_000_000, 1.0, "pairwise"),
        ]
    )
    assert np.isnan(predicted).tolist() == [False, True, True]


def test_covariates_that_multiply_are_trusted_where_times_are_multiplied() -> None:
    subject = only(multiplied(1))
    assert subject.trust.chosen is not None
    assert subject.trust.chosen.candidate.name == "log"
    assert {rank.name for rank in subject.trust.ranking if rank.proven_worse} >= {"linear"}


def test_products_with_names_have_the_bends_too() -> None:
    """Algorithms go from one protocol to another at other slopes."""
    made = [
        replace(
            each, time_s=each.time_s * (max(1.0, each.size_bytes / 2048) if each.algorithm == "b" else 1.0)
        )
        for name in ("a", "b")
        for each in (
            Observation("bcast", 1 << bits, ranks, 1e-5 * ranks**0.5, name)
            for bits in range(16)
            for ranks in (2, 4, 8, 16)
        )
    ]
    (products,) = (each for each in COVARIATE_MODELS if each.name == "log-products")
    found = fit_covariates(products.response, products.terms, made)
    names = [each.name for each in found.parameters]
    assert any(name.startswith("algorithm=b") and "beyond" in name for name in names), names
    errors = np.abs(np.log(found.times_s(made) / [each.time_s for each in made]))
    assert errors.max() < 0.5


def test_few_groups_that_all_differ_one_way_prove_nothing() -> None:
    """Of three all do in one case of four by chance."""
    for count, proves in ((3, False), (5, False), (6, True), (12, True)):
        groups = np.repeat(np.arange(count), 4)
        good, bad = (
            Judged(
                Candidate(name, "", lambda _: None),
                Prediction((), fitted, lambda others: np.ones(len(others))),
                Errors(np.full(len(groups), error), groups),
                {"size": Errors(np.full(len(groups), error), groups)},
            )
            for name, fitted, error in (("good", 5, 0.01), ("bad", 1, 0.5))
        )
        assert trust([bad, good]).chosen is (good if proves else bad)


def test_times_that_add_up_are_best_told_by_the_linear_model() -> None:
    generator = np.random.default_rng(7)
    observations = [
        Observation("barrier", 0, ranks, (5e-6 + 1e-7 * ranks) * float(np.exp(0.01 * generator.normal())))
        for ranks in range(2, 66)
    ]
    subject = only(observations)
    assert subject.trust.chosen is not None
    assert subject.trust.chosen.candidate.name == "linear"
    told = {each.name: each for each in subject.trust.chosen.prediction.parameters}
    assert told["ranks"].low <= 1e-7 <= told["ranks"].high
    assert list(subject.trust.chosen.held_out) == ["ranks"]


def test_a_linear_model_that_says_less_than_nothing_is_named() -> None:
    made = collectives(
        "bcast", ("binomial", "flat"), (4, 8, 16, 32), (1, 1024, 65536, 1 << 20, 1 << 22), 0.03
    )
    subject = only(made)
    assert any("take no time, or less" in each for each in subject.sentences)
    linear = next(each for each in subject.judged if each.candidate.name == "linear")
    assert linear.in_sample.impossible > 0


def test_a_region_that_was_never_seen_has_no_answer() -> None:
    made = with_regions(
        collectives("bcast", ("binomial",), (4, 8, 16, 32), (1, 1024, 65536, 1 << 20), 0.03), (8,)
    )
    assert {each.region for each in made} == {"up to 8 ranks", "beyond 8 ranks"}
    lonely = [replace(each, region="node" if each.ranks == 4 else "machine") for each in made]
    subject = only(lonely)
    log = next(each for each in subject.judged if each.candidate.name == "log")
    here = [each.ranks == 4 for each in lonely]
    assert np.array_equal(np.isnan(log.held_out["ranks"].logs), here)


def test_too_little_is_not_judged() -> None:
    subject = only(messages(hockney_s, 0.02, 1, sizes=(1, 1024)))
    assert subject.trust.chosen is None
    assert subject.sentences[0].startswith("No model can be judged")
