# SPDX-License-Identifier: BSD-3-Clause
"""Files whose forms are types: schemas follow from them, and no text is taken that strict reading refuses."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files import Level, Place, Topology, read_plan, read_topology, write_topology
from isochrone.files.bench import FILE
from isochrone.files.form import Form, written
from isochrone.files.generate import schemas
from isochrone.files.schema import KINDS, schema
from isochrone.files.text import DamagedError

TIME = {"bytes": 8, "root": 0, "recipe": "native", "repetition": 0, "slowest_s": 1e-6}


def decode(line: str) -> Any:
    return FILE.lines.line(line.encode(), "bench.jsonl:2")


def test_every_kind_of_file_has_forms() -> None:
    assert set(schemas()) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_are_those_of_the_types(kind: str) -> None:
    # `python -m isochrone.files.generate` writes them anew.
    assert schema(kind) == schemas()[kind]
    written = resources.files("isochrone.files").joinpath("schemas", f"{kind}.json").read_text("utf-8")
    assert json.loads(written) == schemas()[kind]


def test_a_line_says_the_same_however_it_is_written() -> None:
    expected = decode(json.dumps(TIME))
    assert decode(json.dumps(TIME, indent=None, separators=(",", ":"))) == expected
    assert decode(json.dumps(TIME).replace("native", "nat\\u0069ve")) == expected
    assert decode(json.dumps(dict(reversed(TIME.items())))) == expected
    assert decode(json.dumps({**TIME, "slowest_s": 1})).slowest_s == 1.0


@pytest.mark.parametrize(
    "twice",
    [
        '{"bytes":8,"root":0,"recipe":"native","repetition":0,"slowest_s":1e-6,"bytes":9}',
        '{"bytes" :8,"root":0,"recipe":"native","repetition":0,"slowest_s":1e-6,"bytes" :9}',
        r'{"bytes":8,"root":0,"recipe":"a\u0022\u0022b","repetition":0,"slowest_s":1e-6,"bytes":9}',
    ],
)
def test_a_key_that_occurs_twice_is_refused_whatever_is_between(twice: str) -> None:
    with pytest.raises(DamagedError, match="a key occurs twice"):
        decode(twice)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slowest_s": -1}, "slowest_s: -1: violates minimum 0"),
        ({"bytes": "8"}, 'bytes: "8": violates type "integer"'),
        ({"bytes": True}, "bytes: true: violates type"),
        ({"bytes": 8.5}, "bytes: 8.5: violates type"),
        ({"recipe": "two words"}, "recipe: .*pattern"),
        ({"surprise": 1}, "surprise"),
        ({"members": ""}, "members"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_what_to_do(change: dict[str, Any], message: str) -> None:
    with pytest.raises(IsochroneError, match=message) as raised:
        decode(json.dumps({**TIME, **change}))
    assert str(raised.value).startswith("bench.jsonl:2: ")
    assert "make it again with `isochrone bench`" in str(raised.value)


def test_an_end_that_is_none_is_refused() -> None:
    with pytest.raises(IsochroneError, match="end: false: violates const true"):
        decode('{"end":false,"elapsed_s":1,"calls":2}')


def test_a_whole_number_written_with_a_point_is_said_to_be_none() -> None:
    with pytest.raises(IsochroneError, match=r"bench\.jsonl:2: bytes: Expected int, got float"):
        decode(json.dumps({**TIME, "bytes": 8.0}))


class _Part(Form, frozen=True):
    size: Annotated[int, Meta(ge=0)]
    note: str = ""
    cores: int | None = written(None)
    names: tuple[str, ...] = written(tuple)


def test_what_has_its_default_is_not_written_but_where_that_is_wanted() -> None:
    assert _Part(3).document() == {"size": 3, "cores": None, "names": []}
    assert _Part(3, "x").document() == {"size": 3, "note": "x", "cores": None, "names": []}


def test_numbers_of_numpy_are_written_as_pythons() -> None:
    assert _Part(np.int64(3)).text() == _Part(3).text()


@pytest.mark.parametrize(("depth", "refused"), [(40, False), (100, True), (5000, True)])
def test_what_has_no_type_is_not_nested_without_end(tmp_path: Path, depth: int, refused: bool) -> None:
    plan = {
        "isochrone": "plan",
        "schema_version": 1,
        "topology": {"fingerprint": "0" * 64, "file": "topology.json"},
        "mpi": {"library": "", "abi": ""},
        "rules": [],
        "provenance": "deep",
    }
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan).replace('"deep"', '{"x":' * depth + "1" + "}" * depth))
    if refused:
        with pytest.raises(DamagedError, match="nested too deeply"):
            read_plan(path)
    else:
        assert "x" in read_plan(path).provenance


def test_what_a_list_has_far_behind_is_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "topology.json"
    places = tuple(Place(f"n{k}", None, "") for k in range(1000))
    whole = tuple(range(1000))
    write_topology(path, Topology(places, whole, (Level("machine", (whole,), None, None),)))
    document = json.loads(path.read_text())
    document["places"][999]["host"] = ""
    path.write_text(json.dumps(document))
    with pytest.raises(IsochroneError, match=r"places\[999\]\.host: Expected str of length >= 1; make it"):
        read_topology(path)
