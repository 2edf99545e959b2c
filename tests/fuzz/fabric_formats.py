# SPDX-License-Identifier: BSD-3-Clause
"""Dumps of fabrics, damaged in all ways that reach other code: run by `make fuzz`.

The first byte says which formats the parts of the rest are of. What can be read must also route.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import atheris

from isochrone.errors import IsochroneError
from isochrone.fabric.check import check
from isochrone.fabric.folder import untold
from isochrone.fabric.formats import FORMATS
from isochrone.fabric.model import Fabric
from isochrone.fabric.routes import Routes

_BETWEEN = b"\0\0"
_MOST_VERTICES = 64

_NODES = b"""vendid=0x2c9
switchguid=0x10(10)
Switch	3 "S-0000000000000010"		# "leaf" base port 0 lid 3 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "a HCA-1" lid 1 4xHDR
[2]	"H-0000000000000030"[1](31) 		# "b mlx5_0" lid 2 4xFDR10

caguid=0x20
Ca	1 "H-0000000000000020"		# "a HCA-1"
[1](21) 	"S-0000000000000010"[1]		# lid 1 lmc 0 "leaf" lid 3 4xHDR

Ca	1 "H-0000000000000030"		# "b mlx5_0"
[1](31) 	"S-0000000000000010"[2]		# lid 2 lmc 1 "leaf" lid 3 4xFDR10
"""
_LINKS = b"""Switch: 0x0000000000000010 leaf:
   3    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       1    1[  ] "a HCA-1" (Could be 12X )
           3    3[  ] ==( Down/ Polling)==>             [  ] "" ( )
"""
_TABLES = b"""Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000010 (leaf):
  Lid  Out   Destination
       Port     Info
0x0001 001 : (Channel Adapter portguid 0x0000000000000021: 'a HCA-1')
0x0002 002
0x0003 000 # Switch portguid 0x0000000000000010: 'leaf'
3 valid lids dumped
"""
SEEDS = (
    bytes([0]) + _BETWEEN.join((_NODES, _LINKS, _TABLES)),
    bytes([1]) + _BETWEEN.join((_LINKS, _TABLES, _NODES)),
    bytes([2]) + _TABLES,
)


@atheris.instrument_func
def one_input(data: bytes) -> None:
    """Any error but the user's own is a fault."""
    if not data:
        return
    fabric = Fabric("fuzz")
    try:
        for index, part in enumerate(data[1:].split(_BETWEEN)):
            FORMATS[(data[0] + index) % len(FORMATS)].read(part, "fuzz", fabric)
    except IsochroneError:
        return
    untold(fabric)
    routes = Routes(fabric)
    vertices = range(min(len(routes.switches) + len(routes.ends), _MOST_VERTICES))
    routes.hops(vertices)
    routes.rates_gbps(vertices)
    check(routes)


if __name__ == "__main__":
    corpus = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    for folder in corpus[:1]:
        for index, seed in enumerate(SEEDS):
            (folder / f"seed-{index}").write_bytes(seed)
    atheris.enabled_hooks.add("RegEx")
    # One by one: what watches imports does not see those of an editable installation.
    for name, module in list(sys.modules.items()):
        if name.startswith("isochrone.fabric"):
            for _, function in inspect.getmembers(module, inspect.isfunction):
                atheris.instrument_func(function)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
