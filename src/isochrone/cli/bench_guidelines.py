# SPDX-License-Identifier: BSD-3-Clause
"""What ``isochrone bench --guidelines`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from isochrone.cli.options import print_json

if TYPE_CHECKING:
    from isochrone.tune.guidelines import Checked


def print_guidelines(found: Sequence[Checked], output: Path, as_json: bool) -> None:
    """A line for each guideline that is not kept, and one for each recipe."""
    from isochrone.units import format_bytes, number_of

    if as_json:
        print_json({"bench": str(output), "guidelines": [each.document() for each in found]})
        return
    for each in found:
        if not each.violated:
            continue
        is_own = each.than == (each.collective,)
        than = "the same of more bytes" if is_own else " + ".join(each.than)
        ratio = f"{each.ratio.estimate:.2f} [{each.ratio.low:.2f}, {each.ratio.high:.2f}]"
        size = format_bytes(each.total_bytes)
        typer.echo(f"{each.recipe}: {each.collective} of {size} in all takes {ratio} times as long as {than}")
    open_ = sum(not each.is_provable for each in found)
    if open_:
        typer.echo(
            f"Too few repetitions to prove anything of {number_of(open_, 'guideline')}: "
            "give more with --repetitions"
        )
    for recipe in dict.fromkeys(each.recipe for each in found):
        of_recipe = [each.violated for each in found if each.recipe == recipe]
        checked = number_of(len(of_recipe), "guideline")
        typer.echo(f"{recipe}: {sum(of_recipe)} of {checked} not kept by more than 5 %")
