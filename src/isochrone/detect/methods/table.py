# SPDX-License-Identifier: BSD-3-Clause
"""The methods, one row each. Adding one is a file and a row."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.detect.methods import (
    agglomerative,
    components,
    dbscan,
    hdbscan,
    kmeans,
    kmedoids,
    spectral,
    sss,
    ssstree,
)
from isochrone.detect.methods.method import Method, Objects
from isochrone.detect.methods.search import SEARCHED, thresholds_s


def _counts(objects: Objects) -> Sequence[float]:
    return range(2, min(len(objects), SEARCHED + 2))


METHODS = (
    Method(
        "kmedoids",
        "least sum of distances to medoids",
        "Schubert, Rousseeuw 2021",
        True,
        _counts,
        kmedoids.cluster,
    ),
    Method("kmeans", "least variance of the ranks' vectors", "Lloyd 1982", True, _counts, kmeans.cluster),
    Method(
        "agglomerative-single",
        "merges at the nearest pair",
        "Sneath 1957",
        True,
        _counts,
        agglomerative.by("single"),
    ),
    Method(
        "agglomerative-average",
        "merges at the mean of all pairs",
        "Sokal, Michener 1958",
        True,
        _counts,
        agglomerative.by("average"),
    ),
    Method(
        "agglomerative-complete",
        "merges at the farthest pair",
        "Sørensen 1948",
        True,
        _counts,
        agglomerative.by("complete"),
    ),
    Method(
        "agglomerative-ward",
        "merges that add least variance",
        "Ward 1963",
        True,
        _counts,
        agglomerative.by("ward"),
    ),
    Method("spectral", "eigenvectors of a similarity", "Shi, Malik 2000", True, _counts, spectral.cluster),
    Method(
        "hdbscan",
        "what persists as density rises",
        "Campello et al. 2013",
        False,
        hdbscan.settings,
        hdbscan.cluster,
    ),
    Method("dbscan", "regions of one density", "Ester et al. 1996", False, thresholds_s, dbscan.cluster),
    Method(
        "components", "chains of near pairs", "Reinfjell 2023, 3.2", False, thresholds_s, components.cluster
    ),
    Method("sss", "centres far from each other", "Reinfjell 2023, 2.5.3", False, sss.settings, sss.cluster),
    Method(
        "ssstree",
        "centres far from each other, from the top down",
        "Reinfjell 2023, 2.5.8",
        False,
        ssstree.settings,
        ssstree.cluster,
    ),
)
"""All but Isochrone's own, in the order in which results list them."""
