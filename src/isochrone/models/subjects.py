# SPDX-License-Identifier: BSD-3-Clause
"""What is modelled by itself: the messages of a level, and each collective, by the models that compete for
it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isochrone.files import Links
from isochrone.models.candidate import Candidate, Prediction
from isochrone.models.collective import from_links, is_priced
from isochrone.models.covariates import fit_covariates
from isochrone.models.holdout import Judged, judge
from isochrone.models.messages import FittedMessages, TooLittleError, messages_of
from isochrone.models.observation import MESSAGE, Cost, Found, Observation
from isochrone.models.table import COVARIATE_MODELS, MESSAGE_MODELS, CovariateModel, MessageModel
from isochrone.models.trust import Trust, trust
from isochrone.models.verdict import verdict
from isochrone.progress import part

SURVEY = "survey"
"""The name of what tuning predicts from."""

_UNKNOWN = "the messages of these algorithms, or the links of a level, are not known"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Subject:
    """What is modelled by itself, and how its models did.

    Attributes:
        name: such as "messages at node", "bcast".
        observations: in the order of all errors.
        judged: the models that could be fitted, in the order of the table.
        unfitted: why the others could not, by name.
        trust: which is trusted.
        sentences: that, for people.
    """

    name: str
    observations: tuple[Observation, ...]
    judged: tuple[Judged, ...]
    unfitted: Mapping[str, str]
    trust: Trust
    sentences: tuple[str, ...]


def subjects(found: Found, within: float) -> list[Subject]:
    """Fits and judges all models of all that was found: messages of each level first, then collectives.

    The algorithms whose messages are known are apart from the library's own, which models of messages cannot
    price, where both were measured together with messages.
    """
    messages: dict[str, list[Observation]] = {}
    collectives: dict[str, list[Observation]] = {}
    for each in found.observations:
        if each.operation == MESSAGE:
            messages.setdefault(each.region, []).append(each)
        else:
            collectives.setdefault(each.operation, []).append(each)
    made = []
    fitted: dict[str, dict[str, FittedMessages]] = {model.name: {} for model in MESSAGE_MODELS}
    for level, observations in messages.items():
        costs = [cost for cost in found.costs if cost.region in (level, "")]
        name = f"messages at level {level}" if level else "messages"
        made.append(_subject(name, observations, _of_messages(costs), within))
        for model in MESSAGE_MODELS:
            try:
                fitted[model.name][level] = model.fit(messages_of(observations, costs))
            except TooLittleError as why:
                _log.debug("%s: %s: %s", name, model.name, why)
    for collective, observations in collectives.items():
        priced = [each for each in observations if is_priced(each)]
        others = [each for each in observations if not is_priced(each)]
        kinds = {collective: priced, f"{collective}, by algorithms of which no messages are known": others}
        if not (messages or found.links) or not priced or not others:
            kinds = {collective: observations}
        for name, chosen in kinds.items():
            candidates = [*_of_links(fitted, found.links), *_of_covariates()]
            made.append(_subject(name, chosen, candidates, within))
    return made


def _subject(
    name: str,
    observations: Sequence[Observation],
    candidates: Sequence[Candidate],
    within: float,
) -> Subject:
    judged: list[Judged] = []
    unfitted: dict[str, str] = {}
    with part(f"fitting models of {name}") as advance:
        for number, candidate in enumerate(candidates):
            advance(number, len(candidates))
            try:
                each = judge(candidate, observations)
            except TooLittleError as why:
                unfitted[candidate.name] = str(why)
                continue
            if each.in_sample.unanswered == len(observations):
                unfitted[candidate.name] = _UNKNOWN
            else:
                judged.append(each)
    chosen = trust(judged)
    sentences = verdict(chosen, judged, observations, within)
    return Subject(name, tuple(observations), tuple(judged), unfitted, chosen, tuple(sentences))


def _of_messages(costs: Sequence[Cost]) -> list[Candidate]:
    def candidate(model: MessageModel) -> Candidate:
        def fit(observations: Sequence[Observation]) -> Prediction:
            fitted = model.fit(messages_of(observations, costs))
            return Prediction(
                fitted.parameters,
                fitted.fitted,
                lambda others: fitted.time_s(messages_of(others, ()).sizes_bytes),
            )

        return Candidate(model.name, model.formula, fit)

    return [candidate(model) for model in MESSAGE_MODELS]


def _of_links(
    fitted: Mapping[str, Mapping[str, FittedMessages]], surveyed: Mapping[str, Links]
) -> list[Candidate]:
    """Models of messages that were fitted to any, and the survey: whatever is left out, they are the same."""
    by_name: dict[str, tuple[str, Mapping[str, Links]]] = {
        model.name: (model.formula, {level: each.links for level, each in fitted[model.name].items()})
        for model in MESSAGE_MODELS
    }
    by_name[SURVEY] = ("the links of topology.json, with shared ways", surveyed)

    def candidate(name: str, formula: str, links: Mapping[str, Links]) -> Candidate:
        prediction = from_links(links)
        return Candidate(name, f"the schedule of the algorithm, with {formula}", lambda _: prediction)

    return [candidate(name, *each) for name, each in by_name.items() if each[1]]


def _of_covariates() -> list[Candidate]:
    def candidate(model: CovariateModel) -> Candidate:
        return Candidate(
            model.name, model.formula, lambda each: fit_covariates(model.response, model.terms, each)
        )

    return [candidate(model) for model in COVARIATE_MODELS]
