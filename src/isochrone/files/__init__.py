# SPDX-License-Identifier: BSD-3-Clause
"""Readers and writers of every file between the steps, their JSON Schemas, and provenance.

A reader takes files for hostile: what it returns is well formed, and what is not raises IsochroneError in
one line.
"""

from isochrone.files.bench import (
    BCAST,
    NATIVE,
    PLAN_RECIPE,
    TOLD,
    Bench,
    BenchCase,
    BenchKey,
    in_turn,
    merged,
    read_bench,
    write_bench,
)
from isochrone.files.clusters import Clusters, clusters_of, read_clusters, write_clusters
from isochrone.files.graph import Graph, read_graph, write_graph
from isochrone.files.library import (
    LibraryEvidence,
    LibraryRule,
    LibraryTuning,
    compared,
    is_compared,
    is_to_be_compared,
    read_library,
    write_library,
)
from isochrone.files.mapping import LevelTraffic, MappingFile, Prediction, read_mapping, write_mapping
from isochrone.files.measurement_lines import read_measurements, write_measurements
from isochrone.files.measurements import Measurements
from isochrone.files.parameters import PairParameters
from isochrone.files.place import (
    MpiLibrary,
    Place,
    distinct_places,
    format_members,
    parse_cpus,
    parse_members,
)
from isochrone.files.plan import (
    Evidence,
    MessageCost,
    Plan,
    PlannedTopology,
    Rule,
    read_plan,
    read_planned_topology,
    write_plan,
)
from isochrone.files.provenance import provenance
from isochrone.files.references import LibraryReference, TopologyFileReference, TopologyReference
from isochrone.files.study import StudyFile, read_study, write_study
from isochrone.files.survey import Survey, read_survey, write_survey
from isochrone.files.topology import (
    KnownGroups,
    Level,
    Links,
    Reason,
    Topology,
    read_topology,
    topology_document,
    write_topology,
)
from isochrone.files.work import Case, Loop, Work, read_work, work_document, write_work

__all__ = [
    "BCAST",
    "NATIVE",
    "PLAN_RECIPE",
    "TOLD",
    "Bench",
    "BenchCase",
    "BenchKey",
    "Case",
    "Clusters",
    "Evidence",
    "Graph",
    "KnownGroups",
    "Level",
    "LevelTraffic",
    "LibraryEvidence",
    "LibraryReference",
    "LibraryRule",
    "LibraryTuning",
    "Links",
    "Loop",
    "MappingFile",
    "Measurements",
    "MessageCost",
    "MpiLibrary",
    "PairParameters",
    "Place",
    "Plan",
    "PlannedTopology",
    "Prediction",
    "Reason",
    "Rule",
    "StudyFile",
    "Survey",
    "Topology",
    "TopologyFileReference",
    "TopologyReference",
    "Work",
    "clusters_of",
    "compared",
    "distinct_places",
    "format_members",
    "in_turn",
    "is_compared",
    "is_to_be_compared",
    "merged",
    "parse_cpus",
    "parse_members",
    "provenance",
    "read_bench",
    "read_clusters",
    "read_graph",
    "read_library",
    "read_mapping",
    "read_measurements",
    "read_plan",
    "read_planned_topology",
    "read_study",
    "read_survey",
    "read_topology",
    "read_work",
    "topology_document",
    "work_document",
    "write_bench",
    "write_clusters",
    "write_graph",
    "write_library",
    "write_mapping",
    "write_measurements",
    "write_plan",
    "write_study",
    "write_survey",
    "write_topology",
    "write_work",
]
