# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone detect``: finds the topology in measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import structs

from isochrone.cli.options import AsJson, Fabric, MatrixUnit, print_json, unit_of
from isochrone.errors import UsageError
from isochrone.units import format_percent, format_rate, format_time, number_of

if TYPE_CHECKING:
    from isochrone.detect import Clustering
    from isochrone.files import Links


def detect(
    measurements: Annotated[
        Path,
        typer.Argument(
            help="measurements.jsonl, or the folder it is in; or a plain matrix of latencies, .csv, .txt, "
            ".dat or .npy, full or one triangle; - for such text on standard input."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; beside the measurements if not given."),
    ] = None,
    unit: MatrixUnit = None,
    distance: Annotated[
        str,
        typer.Option(
            "--distance",
            metavar="rtt|piecewise|linear|vectors",
            help="Round trips of the smallest message; or, after probe --plogp, t(m) by either fit, or how "
            "alike the ranks' parameters are.",
        ),
    ] = "rtt",
    size: Annotated[
        int | None,
        typer.Option(
            "--size", min=0, metavar="BYTES", help="m of --distance, if that is not rtt (default: 0)."
        ),
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            "--clusters",
            metavar="FILE",
            help="Write the ranks as clusters within clusters too, for probe --together.",
        ),
    ] = None,
    fabric: Fabric = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="Another clustering method, to compare: kmedoids, kmeans, agglomerative-single, "
            "agglomerative-average, agglomerative-complete, agglomerative-ward, spectral, hdbscan, dbscan, "
            "components, sss or ssstree. It needs all pairs.",
        ),
    ] = "isochrone",
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="COUNT,...",
            help="Of --method: how many groups at each level, for the first seven of these; chosen from the "
            "data if not given.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a topology that a plan was made for.")
    ] = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Say of each level what it rests on, and of what else was looked at why it is none."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the topology in measurements: its levels, and which ranks are together at each."""
    from isochrone.fabric.tree import read_tree
    from isochrone.files import clusters_of, write_clusters
    from isochrone.plogp.predict import DISTANCES
    from isochrone.steps.detect import detect as run_detect
    from isochrone.steps.detect import topology_beside
    from isochrone.steps.folder import MEASUREMENTS, in_folder

    predicted = next(((each, size or 0) for each in DISTANCES if each == distance), None)
    if predicted is None and distance != "rtt":
        raise UsageError(f"{distance!r} is no distance", "--distance", f"use rtt, {', '.join(DISTANCES)}")
    if predicted is None and size is not None:
        what = "is of a message whose time is predicted"
        raise UsageError(what, "--size", f"give --distance {' or '.join(DISTANCES)} too, or leave it away")
    source = in_folder(measurements, MEASUREMENTS)
    path = output or topology_beside(source)
    switches = None if fabric is None else read_tree(fabric)
    topology = run_detect(
        source,
        path,
        unit=unit_of(unit, source),
        predicted=predicted,
        switches=switches,
        clustering=_clustering(method, groups),
        replace_any=force or output is not None,
    )
    if clusters is not None:
        write_clusters(clusters, clusters_of(topology))
    members = {level.name: topology.members(level) for level in topology.levels}
    if as_json:
        print_json(
            {
                "topology": str(path),
                "clusters": None if clusters is None else str(clusters),
                "ranks": len(topology.ranks),
                "levels": [level.figures() | {"members": members[level.name]} for level in topology.levels],
                "accuracy": topology.accuracy,
                "agreement": topology.agreement,
                "reasons": [structs.asdict(reason) | {"why": reason.why} for reason in topology.reasons],
            }
        )
        return
    for level in topology.levels:
        sizes = sorted({len(group) for group in members[level.name]})
        of = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"
        sure = "" if level.confidence is None else f", confidence {format_percent(level.confidence)}"
        typer.echo(f"{level.name:<10} {len(level.groups)} x {of} ranks{_links(level.links)}{sure}")
    for reason in topology.reasons if why else ():
        typer.echo(f"{reason.level or 'no level':<10} {reason.what}: {reason.why}")
    typer.echo(f"Topology: {path}")
    if clusters is not None:
        typer.echo(f"Clusters: {clusters}")


def _clustering(name: str, groups: str | None) -> Clustering | None:
    """What ``--method`` and ``--groups`` say; None for Isochrone's own method."""
    from isochrone.detect import Clustering
    from isochrone.detect.methods.table import METHODS

    method = next((each for each in METHODS if each.name == name), None)
    if method is None and name != "isochrone":
        names = ", ".join(each.name for each in METHODS)
        raise UsageError(f"{name!r} is no method", "--method", f"use isochrone, {names}")
    if groups is None:
        return None if method is None else Clustering(method)
    if method is None or not method.told:
        raise UsageError(f"{name} finds the number of groups itself", "--groups", "leave it away")
    words = groups.split(",")
    if not all(word.isascii() and word.isdigit() and len(word) < 7 and int(word) > 0 for word in words):
        raise UsageError(f"{groups!r} is no list of numbers of groups", "--groups", "write 4 or 4,8")
    return Clustering(method, tuple(map(int, words)))


def _links(links: Links | None) -> str:
    """What a line of text says about the pairs of a level."""
    if links is None:
        return ""
    words = [format_time(links.latency_s)]
    if links.spread is not None and links.pairs is not None:
        words[0] += f" ± {links.spread:.1%} over {number_of(links.pairs, 'pair')}"
    if links.capacity_bytes_per_s is not None:
        words.append(f"{format_rate(links.capacity_bytes_per_s)} out of a group")
    return "".join(f", {word}" for word in words)
