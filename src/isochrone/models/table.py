# SPDX-License-Identifier: BSD-3-Clause
"""All models, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isochrone.models.covariates import BENDS, Response, Term
from isochrone.models.hockney import fit_hockney
from isochrone.models.loggp import fit_loggp
from isochrone.models.logp import fit_logp
from isochrone.models.messages import FittedMessages, Messages
from isochrone.models.plogp import fit_plogp


@dataclass(frozen=True)
class MessageModel:
    """A row of the table of models of messages.

    Attributes:
        name: in output.
        formula: of a message.
        source: the paper.
        fit: to the messages of one level.
    """

    name: str
    formula: str
    source: str
    fit: Callable[[Messages], FittedMessages]


@dataclass(frozen=True)
class CovariateModel:
    """A row of the table of models of collectives that know nothing of algorithms but their names.

    Attributes:
        name: in output.
        words: what it is.
        response: what is linear in the terms: the time, or its logarithm.
        terms: products of covariates, beside a constant.
    """

    name: str
    words: str
    response: Response
    terms: tuple[Term, ...]

    @property
    def formula(self) -> str:
        """Such as "log T ~ 1 + algorithm + algorithm:log2(ranks)"."""
        left = "T" if self.response == "time" else "log T"
        return f"{left} ~ 1 + " + " + ".join(":".join(term) for term in self.terms)


MESSAGE_MODELS = (
    MessageModel("hockney", "T = alpha + beta m", "Hockney 1994", fit_hockney),
    MessageModel("logp", "T = L + 2 o + (ceil(m / w) - 1) g", "Culler et al. 1993", fit_logp),
    MessageModel("loggp", "T = L + 2 o + (m - 1) G", "Alexandrov et al. 1995", fit_loggp),
    MessageModel("plogp", "T = L + g(m)", "Kielmann et al. 2000", fit_plogp),
)

_PLACED: tuple[Term, ...] = (("algorithm",), ("mapping",), ("region",))
_SHAPE: tuple[Term, ...] = (("log2(ranks)",), ("log2(size)",), (BENDS,))

COVARIATE_MODELS = (
    CovariateModel(
        "linear",
        "microseconds as a linear model of algorithm, allocation, processes and message size",
        "time",
        (("algorithm",), ("mapping",), ("ranks",), ("size",)),
    ),
    CovariateModel(
        "linear-products",
        "the same, with all products of algorithm, allocation and processes",
        "time",
        (
            *(("algorithm",), ("mapping",), ("ranks",), ("size",)),
            *(("algorithm", "mapping"), ("algorithm", "ranks"), ("mapping", "ranks")),
            ("algorithm", "mapping", "ranks"),
        ),
    ),
    CovariateModel(
        "linear-regions",
        "the same, and what ranks and sizes add depends on the algorithm and the region",
        "time",
        (
            *(("algorithm",), ("mapping",), ("region",), ("ranks",), ("size",)),
            *(("algorithm", "mapping"), ("algorithm", "region"), ("region", "ranks"), ("region", "size")),
            *(("algorithm", "ranks"), ("algorithm", "size"), ("algorithm", "ranks", "size")),
        ),
    ),
    CovariateModel("log", "each covariate multiplies the time by something", "logarithm", _PLACED + _SHAPE),
    CovariateModel(
        "log-products",
        "the same, and what ranks and sizes do depends on the algorithm and the region",
        "logarithm",
        (
            *_PLACED,
            *_SHAPE,
            *(("algorithm", *term) for term in (("region",), ("mapping",), *_SHAPE)),
            *(("region", *term) for term in _SHAPE),
            ("log2(ranks)", "log2(size)"),
            ("algorithm", "log2(ranks)", "log2(size)"),
        ),
    ),
)
