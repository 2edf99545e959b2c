#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Held-out error of each model of times, for broadcasts and barriers by algorithm, placement, ranks and size.

Usage: models.py RESULT.json --sim NAME,... [--folder FOLDER]
       models.py RESULT.json --lab LAB [--mpi NAME,...] [--folder FOLDER]
       models.py RESULT.json --table
       models.py RESULT.json --covariates FOLDER/PLACE/study
       models.py RESULT.json --predicted FOLDER/PLACE

Of each place some ranks are probed, so that the models of messages have their parameters; then `isochrone
study placement` is run, and `isochrone model` judges all models by the sizes and numbers of ranks that they
were not fitted to. What RESULT.json has is not measured again. --folder keeps surveys, studies, all
parameters with their intervals, and plots. --table prints the tables of docs/models.md,
--covariates that of linear models of the small broadcasts of one study, --predicted that of times predicted
from a survey over those of the study, and of what the algorithms lose that the predictor finds cheapest.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import math
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from result_rows import write_rows
from scipy import stats

from isochrone.files import provenance
from isochrone.files.text import write_object
from isochrone.lab.target import LabTarget, Ranks, open_lab
from isochrone.launch.registry import find_library
from isochrone.launch.target import Target
from isochrone.models.candidate import Candidate
from isochrone.models.collective import from_links, is_priced
from isochrone.models.covariates import fit_covariates
from isochrone.models.figures import write_figures
from isochrone.models.holdout import judge
from isochrone.models.observation import Found, Observation
from isochrone.models.readers.labels import Labels
from isochrone.models.table import COVARIATE_MODELS
from isochrone.models.text import document
from isochrone.models.verdict import percent
from isochrone.sim.description import load_system
from isochrone.sim.target import SimTarget
from isochrone.statistics import geometric_mean
from isochrone.steps.detect import detect
from isochrone.steps.folder import MEASUREMENTS, TOPOLOGY, open_folder
from isochrone.steps.model import model, read_times
from isochrone.steps.probe import ProbeOptions, probe
from isochrone.steps.study import run_study
from isochrone.studies.study import Asked
from isochrone.studies.table import study_named

SIZES_BYTES = (1, 64, 1024, 8192, 65536, 524288)
MESSAGES_BYTES = (0, 1, 256, 4096, 16384, 65536, 262144, 1048576)
RANKS = {
    "idun": (2, 4, 8, 14, 16, 28, 32, 56, 84, 112),
    "betzy": (2, 4, 8, 16, 32, 64, 72, 128, 144),
}
"""Of a simulation, which takes long with many; of a lab, those that the study chooses."""
PROBE_BUDGET_S = 60.0
PROBED_NODES, PROBED_OF_A_SOCKET = 2, 16
SMALL_BYTES = (1, 1024)
WITHIN = 0.2
COLLECTIVES = ("bcast", "barrier")
LEAST_CHOICE_RANKS, LEAST_CHOICE_RECIPES = 8, 4
"""With fewer there is little to choose."""
_log = logging.getLogger("models")


@dataclass(frozen=True)
class Setting:
    """A place to measure at.

    Attributes:
        name: in tables.
        target: whose ranks the study places.
        probed: some of its ranks, of which some pair meets at each level.
        ranks: numbers of them; None: the study's choice.
    """

    name: str
    target: Target
    probed: Target
    ranks: tuple[int, ...] | None


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges models of times by what they were not fitted to.")
    parser.add_argument("result", type=Path, metavar="RESULT.json")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--sim", metavar="NAME,...", help="simulated clusters")
    place.add_argument("--lab", metavar="LAB", help="a lab, with each library of --mpi")
    place.add_argument("--table", action="store_true", help="print the tables of a result")
    place.add_argument("--covariates", type=Path, metavar="STUDY", help="linear models of a kept study")
    place.add_argument("--predicted", type=Path, metavar="PLACE", help="a kept survey's predictions")
    parser.add_argument("--mpi", default="mpich,openmpi,intel")
    parser.add_argument("--folder", type=Path, help="keep surveys, studies, plots, and go on with them")
    wanted = parser.parse_args()
    if wanted.table:
        rows = json.loads(wanted.result.read_text(encoding="utf-8"))["rows"]
        print("\n".join([*table(rows), "", *verdicts(rows)]))
        return 0
    if wanted.covariates is not None:
        print("\n".join(covariate_table(wanted.covariates)))
        return 0
    if wanted.predicted is not None:
        found = read_times([(wanted.predicted / "survey", Labels()), (wanted.predicted / "study", Labels())])
        print("\n".join([*predicted_table(found), "", *choice_table(found)]))
        return 0
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # embeds fonts in figures, and says so
    with tempfile.TemporaryDirectory(prefix="isochrone-models.") as made:
        folder = open_folder(wanted.folder or Path(made))
        if wanted.sim is not None:
            for name in wanted.sim.split(","):
                measure(wanted.result, simulated(name), folder)
        else:
            with open_lab(wanted.lab) as lab:
                for name in wanted.mpi.split(","):
                    target = LabTarget(lab, find_library(name), Ranks.on(lab.network, None, None, None, None))
                    setting = Setting(f"{lab.network.name}, {target.library.name}", target, target, None)
                    measure(wanted.result, setting, folder)
    return 0


def simulated(name: str) -> Setting:
    """A simulated cluster, of which some ranks on two nodes are probed."""
    system = load_system(name, "block", 1, 0.0)
    whole = system.cores_per_node
    socket = next((each.cores for each in system.core_groups if each.name == "socket"), whole)
    cores = [
        node * whole + first + core
        for node in range(min(PROBED_NODES, system.nodes))
        for first in range(0, whole, socket)
        for core in range(min(PROBED_OF_A_SOCKET, socket))
    ]
    target = SimTarget(system)
    return Setting(target.name, target, target.arranged(cores), RANKS.get(name))


def measure(result: Path, setting: Setting, kept: Path) -> None:
    """Adds the rows of one place, unless they are there."""
    rows = json.loads(result.read_text(encoding="utf-8"))["rows"] if result.exists() else []
    if any(row["place"] == setting.name for row in rows):
        return
    begin = time.monotonic()
    folder = open_folder(kept / "".join(c if c.isalnum() else "-" for c in setting.name))
    survey, study = open_folder(folder / "survey"), folder / "study"
    if setting.target.simulated:
        # Also what several pairs share, and all parameters of some.
        options = ProbeOptions(MESSAGES_BYTES, mode="adaptive")
    else:
        options = ProbeOptions(MESSAGES_BYTES, budget_s=PROBE_BUDGET_S)
    probe(setting.probed, survey / MEASUREMENTS, options)
    detect(survey / MEASUREMENTS, survey / TOPOLOGY, setting.probed.truth)
    probed = time.monotonic()
    _log.info("%s: probed in %.0f s", setting.name, probed - begin)
    asked = Asked(SIZES_BYTES, setting.ranks)
    run_study(study_named("placement"), setting.target, study, asked, ["bench/models.py"])
    studied = time.monotonic()
    _log.info("%s: studied in %.0f s", setting.name, studied - probed)
    judged, _ = model([(survey, Labels()), (study, Labels())], None, (), WITHIN)
    documents = [document(each, WITHIN) for each in judged]
    write_object(folder / "models.json", {"subjects": documents, "provenance": provenance()})
    write_figures(judged, folder, WITHIN)
    _log.info("%s: modelled in %.0f s", setting.name, time.monotonic() - studied)
    rows += [{"place": setting.name, **compact(each)} for each in documents]
    write_rows(result, {"command": "bench/models.py", "provenance": provenance()}, rows)


def compact(subject: Mapping[str, Any]) -> dict[str, Any]:
    """What the tables need: errors and verdict."""
    kept = ("model", "formula", "fitted", "in_sample", "held_out")
    models = [{key: each[key] for key in kept} for each in subject["models"]]
    return {**subject, "models": models}


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Markdown: held-out errors by model, a table for each way of leaving out, and for algorithms whose
    messages are known and others.
    """
    lines = []
    for others in (False, True):
        for left, words in (("ranks", "one number of ranks"), ("size", "one message size")):
            columns = [
                row
                for row in rows
                if row["name"].partition(",")[0] in COLLECTIVES
                and ("," in row["name"]) == others
                and any(left in each["held_out"] for each in row["models"])
            ]
            names = dict.fromkeys(each["model"] for row in columns for each in row["models"])
            whose = "The library's algorithms" if others else "Our algorithms"
            heads = [f"{title(row)}: {row['times']:,} times" for row in columns]
            lines += [f"{whose}, {words} left out at a time:", "", f"| model | {' | '.join(heads)} |"]
            lines.append(f"| --- {'| --- ' * len(columns)}|")
            for name in names:
                lines.append(f"| `{name}` | {' | '.join(errors(row, name, left) for row in columns)} |")
            lines.append("")
    return lines


def title(row: Mapping[str, Any]) -> str:
    """Of a column."""
    return f"{row['name'].partition(',')[0]}, {row['place'].removesuffix(' (simulated)')}"


def errors(row: Mapping[str, Any], name: str, left: str) -> str:
    """The median and what 95 % keep to, as people read them; bold of what is trusted."""
    model = next((each for each in row["models"] if each["model"] == name), None)
    summary = None if model is None else model["held_out"].get(left)
    if summary is None:
        return "-"
    both = [summary["median"], summary["p95"]]
    words = " · ".join("beyond use" if each is None else percent(math.log1p(each)) for each in both)
    return f"**{words}**" if row["trusted"] == name else words


def covariate_table(study: Path) -> list[str]:
    """Markdown: how each linear model does on small broadcasts by our algorithms."""
    found = read_times([(study, Labels())]).observations
    ours = [each for each in found if each.operation == "bcast" and is_priced(each)]
    lines = [
        "| sizes | model | coefficients (told from 0) | $R^2$ | in sample, half within | left-out ranks "
        "| left-out size | no time or less |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for largest in SMALL_BYTES:
        here = [each for each in ours if each.size_bytes <= largest]
        times_s = np.array([each.time_s for each in here])
        for row in COVARIATE_MODELS:
            fit = functools.partial(fit_covariates, row.response, row.terms)
            judged = judge(Candidate(row.name, row.formula, fit), here)
            told = [each for each in judged.prediction.parameters if each.low > 0 or each.high < 0]
            left = judged.prediction.times_s(here) - times_s
            explained = 1 - float(np.sum(left**2) / np.sum((times_s - times_s.mean()) ** 2))
            ways = [judged.held_out.get(way) for way in ("ranks", "size")]
            shown = [f"{percent(e.median)} · {percent(e.p95)}" if e is not None else "-" for e in ways]
            impossible = sum(each.impossible for each in judged.held_out.values())
            cells = [
                f"up to {largest:,} B ({len(here)} times)",
                f"`{row.name}`",
                f"{judged.prediction.fitted} ({len(told)})",
                f"{explained:.3f}",
                percent(judged.in_sample.median),
                *shown,
                f"{impossible} of {len(judged.held_out) * len(here)}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def predicted_broadcasts(found: Found) -> list[tuple[Observation, float]]:
    """Broadcasts whose messages are known, and what the survey says that they take."""
    ours = [each for each in found.observations if each.operation == "bcast" and is_priced(each)]
    return list(zip(ours, from_links(found.links).times_s(ours).tolist(), strict=True))


def choice_table(found: Found) -> list[str]:
    """Markdown: by size, how much slower than the best algorithm the one is that the predictor finds
    cheapest, and the best of its cheapest three (geometric means over placements and ranks), and Spearman's
    correlation.
    """
    cases: dict[tuple[int, int, int], dict[str, tuple[list[float], float]]] = defaultdict(dict)
    for each, price_s in predicted_broadcasts(found):
        case = cases[each.size_bytes, id(each.layout), each.ranks]
        case.setdefault(each.algorithm, ([], price_s))[0].append(each.time_s)
    rows: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for (size, _, ranks), recipes in cases.items():
        if ranks < LEAST_CHOICE_RANKS or len(recipes) < LEAST_CHOICE_RECIPES:
            continue
        times_s = np.array([np.median(times) for times, _ in recipes.values()])
        prices_s = np.array([price_s for _, price_s in recipes.values()])
        by_price = times_s[np.argsort(prices_s)] / times_s.min()
        correlation = float(stats.spearmanr(prices_s, times_s).statistic)
        rows[size].append((float(by_price[0]), float(by_price[:3].min()), correlation))
    lines = [
        "| bytes | cases | loss of the cheapest | of the best of three | rank correlation |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for size, few in sorted(rows.items()):
        first, three, correlations = zip(*few, strict=True)
        lines.append(
            f"| {size:,} | {len(few)} | {geometric_mean(first) - 1:.1%} | {geometric_mean(three) - 1:.1%} | "
            f"{float(np.median(correlations)):.2f} |"
        )
    return lines


def predicted_table(found: Found) -> list[str]:
    """Markdown: medians of predicted over measured broadcasts, by algorithm and size."""
    ours = predicted_broadcasts(found)
    ratios: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each, time_s in ours:
        ratios[each.algorithm.partition("@")[0]][each.size_bytes].append(time_s / each.time_s)
    sizes = sorted({each.size_bytes for each, _ in ours})
    lines = [
        f"| algorithm | {' | '.join(f'{size:,} B' for size in sizes)} | times of each |",
        f"| --- {'| ---: ' * (len(sizes) + 1)}|",
    ]
    for name, by_size in sorted(ratios.items()):
        medians = [f"{float(np.median(by_size[size])):.2f}" for size in sizes]
        lines.append(f"| `{name}` | {' | '.join(medians)} | {len(by_size[sizes[0]])} |")
    return lines


def verdicts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is trusted where."""
    return [f"* **{row['place']}, {row['name']}**: {' '.join(row['verdict'])}" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
