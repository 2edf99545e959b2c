# SPDX-License-Identifier: BSD-3-Clause
"""``isochrone probe``: times messages between pairs of ranks."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isochrone.cli.options import AsJson, parse_duration, parse_sizes, print_json
from isochrone.cli.target import on_target
from isochrone.errors import UsageError
from isochrone.launch.target import Target
from isochrone.units import format_rate, format_time

if TYPE_CHECKING:
    from isochrone.files import Clusters
    from isochrone.steps.estimate import Estimate
    from isochrone.steps.probe import Together


_SHARE = 0.25
"""Of the fast mode."""
_MAX_SIZE_BYTES = 1 << 21
"""Of PLogP parameters."""

_PAIR = re.compile("([0-9]{1,9})-([0-9]{1,9})")


@on_target
def probe(
    target: Target,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, or to go on writing.")
    ] = Path("measurements.jsonl"),
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="SIZE,...", help="Message sizes, ascending, 0 first.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", min=1, help="Timed ping-pongs for each pair and size.")
    ] = None,
    together: Annotated[
        str,
        typer.Option(
            "--together",
            metavar="none|nodes|all|FILE",
            help="Pairs to measure at once: none, those that share no node, all that share no rank, or those "
            "of separate clusters in a file such as detect --clusters writes.",
        ),
    ] = "nodes",
    plogp: Annotated[
        bool,
        typer.Option(
            "--plogp",
            help="Measure all PLogP parameters of each pair too: latency, overheads and gap by message size.",
        ),
    ] = False,
    max_size: Annotated[
        int | None,
        typer.Option("--max-size", min=1, metavar="BYTES", help="Largest size of --plogp (default: 2 MiB)."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="default|thesis",
            help="Of --plogp: with thesis, the send overhead is that of a synchronous send.",
        ),
    ] = "default",
    both: Annotated[
        bool, typer.Option("--both", help="Parameters of --plogp in both directions of a pair.")
    ] = False,
    pairs: Annotated[
        str | None, typer.Option("--pairs", metavar="RANK-RANK,...", help="Only these pairs.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="all|adaptive|fast",
            show_default="adaptive with more than 64 ranks",
            help="All pairs; those that tell the tree; or all among a share of the ranks of each host.",
        ),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Of the adaptive mode: host names are no hint.")
    ] = False,
    share: Annotated[
        float,
        typer.Option("--share", min=0.0, max=1.0, help="Of the fast mode: of the ranks of each host."),
    ] = _SHARE,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            show_default="0, or 0.02 with a budget",
            help="No more ping-pongs of a pair and size once the 95 % confidence interval of the median is "
            "narrower than this share of it.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="TIME",
            help="Time to measure in, such as 60s or 5m: as many ping-pongs as fit, at least one.",
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Measure a few pairs only, and say what all would take.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Time messages between pairs of ranks: all, or with many ranks those that tell how they are wired.

    The same command goes on with a run that was interrupted: only what is missing is measured.
    """
    from isochrone.plogp.protocol import protocol_step
    from isochrone.steps.probe import MODES, SIZES_BYTES, Plogp, ProbeOptions
    from isochrone.steps.probe import probe as run_probe

    if method not in ("default", "thesis"):
        raise UsageError(f"{method!r} is no method", "--method", "use default or thesis")
    if mode is not None and mode not in MODES:
        raise UsageError(f"{mode!r} is no mode", "--mode", f"use one of {', '.join(MODES)}")
    if mode not in (None, "all") and (pairs or plogp):
        option = "--pairs" if pairs else "--plogp"
        raise UsageError(f"{option} says itself which pairs are measured", "--mode", "leave one of them away")
    for option, given, of, holds in (
        ("--both", both, "--plogp", plogp),
        ("--max-size", max_size is not None, "--plogp", plogp),
        ("--method", method != "default", "--plogp", plogp),
        ("--blind", blind, "--mode adaptive", mode in (None, "adaptive") and not (pairs or plogp)),
        ("--share", share != _SHARE, "--mode fast", mode == "fast"),
    ):
        if given and not holds:
            raise UsageError(f"is of {of} only", option, f"give {of} too, or leave it away")
    options = ProbeOptions(
        sizes_bytes=parse_sizes(sizes) if sizes is not None else SIZES_BYTES,
        repetitions=repetitions,
        together=_at_once(together),
        plogp=Plogp(max_size or _MAX_SIZE_BYTES, method == "thesis", both) if plogp else None,
        pairs=_parse_pairs(pairs) if pairs is not None else (),
        mode=next((each for each in MODES if each == mode), None),
        blind=blind,
        share=share,
        precision=precision,
        budget_s=parse_duration(budget, "--budget") if budget is not None else None,
    )
    if estimate:
        from isochrone.steps.estimate import estimate as run_estimate

        _print_estimate(run_estimate(target, options), target.simulated, as_json)
        return
    found = run_probe(target, output, options)
    steps = [protocol_step(each) for each in found.parameters.values()]
    if as_json:
        print_json(
            {
                "measurements": str(output),
                "ranks": found.ranks,
                "pairs_measured": found.pairs_measured,
                "pairs_total": found.pairs_total,
                "probe_seconds": found.elapsed_s,
                "parameters": [
                    {
                        "to": each.receiver,
                        "latency_s": each.latency_s,
                        "protocol_step": step and step.document(),
                        **each.document(),
                    }
                    for each, step in zip(found.parameters.values(), steps, strict=True)
                ],
            }
        )
        return
    clock = "simulated " if found.simulated else ""
    typer.echo(
        f"{found.pairs_measured} of {found.pairs_total} pairs of {found.ranks} ranks "
        f"in {found.elapsed_s:.3g} {clock}s: {output}"
    )
    for each, step in zip(found.parameters.values(), steps, strict=True) if plogp else ():
        large = each.sizes_bytes[-1]
        rate = f", {format_rate(large / each.gap_s[-1])}" if large > 0 and each.gap_s[-1] > 0 else ""
        typer.echo(
            f"{each.sender} to {each.receiver}: L {format_time(each.latency_s)}, "
            f"o_s {format_time(each.send_overhead_s[0])}, o_r {format_time(each.receive_overhead_s[0])}, "
            f"g {format_time(each.gap_s[0])}{rate}{f', {step}' if step else ''}"
        )


def _at_once(text: str) -> Together | Clusters:
    """What ``--together`` says."""
    from isochrone.files import read_clusters
    from isochrone.steps.probe import TOGETHER

    word = next((each for each in TOGETHER if each == text), None)
    if word is not None:
        return word
    try:
        is_file = Path(text).exists()
    except OSError:
        is_file = False
    if not is_file:
        raise UsageError(
            f"{text!r} is no such choice, and no file",
            "--together",
            f"use one of {', '.join(TOGETHER)}, or a file",
        )
    return read_clusters(text)


def _print_estimate(found: Estimate, simulated: bool, as_json: bool) -> None:
    if as_json:
        print_json(dataclasses.asdict(found))
        return
    about = "about " if found.rough else ""
    clock = "simulated " if simulated else ""
    guess = " (the number of pairs is a guess: it follows from what is measured)" if found.rough else ""
    typer.echo(
        f"{about}{found.pairs} of {found.pairs_total} pairs of {found.ranks} ranks in {about}{found.steps} "
        f"steps would take about {found.expected_s:.2g} {clock}s, each of them measured once "
        f"{found.least_s:.2g} {clock}s{guess}"
    )


def _parse_pairs(text: str) -> list[tuple[int, int]]:
    pairs = []
    for word in text.split(","):
        pair = _PAIR.fullmatch(word)
        if pair is None or not int(pair[1]) < int(pair[2]):
            shown = word if len(word) <= 40 else f"{word[:40]}…"
            raise UsageError(
                f"{shown!r} is no pair of ranks", "--pairs", "write the lesser first, as 0-5,2-3"
            )
        pairs.append((int(pair[1]), int(pair[2])))
    return pairs
