# SPDX-License-Identifier: BSD-3-Clause
"""Where the figures come from and how to get them again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from isochrone.files import Measurements
from isochrone.labels import natural
from isochrone.report.facts import Facts
from isochrone.report.html import Child, Html, table, tag
from isochrone.report.sections.parts import section
from isochrone.units import format_bytes, format_time, number_of
from isochrone.words import counted, join_words

_MOST_HOSTS = 16


def provenance(facts: Facts) -> Html:
    """The section on provenance."""
    entries = [[tag("dt", name), tag("dd", value)] for name, value in _entries(facts)]
    rows: list[list[Child]] = [_file_row(name, provenance) for name, provenance in facts.files.items()]
    return section(
        "provenance",
        "Provenance",
        tag("dl", entries, class_="entries"),
        table(
            ("File", "Made by", "On host", "When", "Isochrone"),
            rows,
            "Files beside this page",
            words={1, 2, 3, 4},
        ),
        _repeat(facts),
    )


def _file_row(name: str, provenance: Mapping[str, object]) -> list[Child]:
    described = (tag("span", _text(provenance, key), class_="line") for key in ("host", "time", "version"))
    return [tag("a", name, href=name), _text(provenance, "command"), *described]


def _entries(facts: Facts) -> list[tuple[str, Child]]:
    probe = facts.measurements
    cores = facts.survey.cores if facts.survey else None
    shared = {True: "yes", False: "no", None: "not known"}[facts.oversubscribed]
    total = "" if probe.complete else f" of {probe.pairs_total:,}"
    pairs = f"{probe.pairs_measured:,}{total} pairs"
    sizes = join_words([format_bytes(size) for size in probe.sizes_bytes])
    entries: list[tuple[str, Child]] = [
        ("MPI library", facts.measurements.mpi.library),
        (
            "Kind of run",
            "simulated (times are those of the simulated cluster)" if facts.simulated else "real",
        ),
        ("Ranks", f"{facts.rank_count:,} on {_hosts(facts)}"),
        (
            "More ranks than cores",
            shared + (f" ({counted(cores, 'core')})" if cores is not None and not facts.simulated else ""),
        ),
        (
            "Probe",
            f"{pairs}, {_up_to(probe)}{number_of(probe.repetitions, 'round trip')} at each of {sizes}, "
            f"{format_time(probe.elapsed_s)}",
        ),
        ("Clock resolution", format_time(probe.resolution_s)),
    ]
    if facts.bench is not None:
        entries.append(("Error of the synchronised clocks", format_time(facts.bench.sync_error_s)))
    if facts.survey and facts.survey.elapsed_s is not None:
        entries.append(("Time of the whole survey", format_time(facts.survey.elapsed_s)))
    return entries


def _up_to(probe: Measurements) -> str:
    return "" if probe.counts is None else "up to "


def _hosts(facts: Facts) -> str:
    hosts = sorted(facts.hosts, key=natural)
    shown = list(hosts[:_MOST_HOSTS])
    more = [f"{len(hosts) - _MOST_HOSTS:,} more"] if len(hosts) > _MOST_HOSTS else []
    return join_words([*shown, *more])


def _text(provenance: Mapping[str, object], key: str) -> str:
    value = provenance.get(key)
    if isinstance(value, list | tuple):
        return _command([str(part) for part in value])
    return "–" if value is None else str(value)


def _command(arguments: Sequence[str]) -> str:
    return shlex.join(arguments)


def _repeat(facts: Facts) -> Html | None:
    command = facts.survey.command if facts.survey else ()
    if not command:
        return None
    return tag("div", tag("h3", "To repeat it"), tag("pre", tag("code", _command(command))))
