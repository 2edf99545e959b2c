# SPDX-License-Identifier: BSD-3-Clause
"""Says what is wrong with a document, in the words of the JSON Schemas in ``schemas/``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from isochrone.errors import IsochroneError
from isochrone.files.text import Json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMA_VERSION: Final = 1

KINDS = (
    "measurements",
    "topology",
    "plan",
    "library",
    "work",
    "bench",
    "survey",
    "graph",
    "mapping",
    "fabric",
    "profile",
    "learned",
    "study",
)

_MADE_BY = {
    "measurements": "isochrone probe",
    "topology": "isochrone detect",
    "plan": "isochrone tune",
    "library": "isochrone library tune",
    "work": "isochrone bench",
    "bench": "isochrone bench",
    "survey": "isochrone survey",
    "graph": "isochrone record",
    "mapping": "isochrone map",
    "fabric": "isochrone fabric dump",
    "profile": "isochrone advise",
    "learned": "isochrone run --learn",
    "study": "isochrone study",
}


@cache
def schema(kind: str) -> Json:
    """The JSON Schema of a kind of file, one of ``KINDS``."""
    text = resources.files("isochrone.files").joinpath("schemas", f"{kind}.json").read_text("utf-8")
    loaded: Json = json.loads(text)
    return loaded


def make(kind: str) -> str:
    """What to do about a file that is not there."""
    return f"make it with `{_MADE_BY[kind]}`"


def make_again(kind: str) -> str:
    """What to do about a file that cannot be used."""
    return f"make it again with `{_MADE_BY[kind]}`"


def check(document: Json, kind: str, where: str, part: str) -> None:
    """Raises IsochroneError where the document does not have the form that the schema says.

    Args:
        document: what was read, or is to be written.
        kind: one of ``KINDS``.
        where: file, or file:line.
        part: definition within the schema.
    """
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind, part).iter_errors(document))
    if error is not None:
        raise IsochroneError(_describe(error), where, make_again(kind))


def check_kind(document: Json, kind: str, where: str) -> None:
    """Raises IsochroneError where the document is another file, or of another version of Isochrone."""
    found = document.get("isochrone")
    if found != kind:
        what = f"this is a {found} file, not {kind}" if found in KINDS else "this is no file of Isochrone's"
        raise IsochroneError(what, where, f"give a {kind} file")
    version = document.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise IsochroneError(
            f"schema_version {short(version)} is not {SCHEMA_VERSION}, the one known here",
            where,
            make_again(kind),
        )


def _unique(_: Any, unique: bool, items: Any, __: Json) -> Iterator[ValidationError]:
    """``uniqueItems`` of texts and numbers, in one pass: jsonschema's own compares each item with each, which
    takes minutes for a list of some ten thousand. Items of other types are for ``items`` to refuse.
    """
    from jsonschema.exceptions import ValidationError

    if unique and isinstance(items, list):
        plain = [item for item in items if type(item) in (str, int, float)]
        if len(set(plain)) != len(plain):
            yield ValidationError("items occur twice")


@cache
def _validator(kind: str, part: str) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    validator: Any = extend(Draft202012Validator, {"uniqueItems": _unique})  # type: ignore[no-untyped-call]
    return validator({"$defs": schema(kind)["$defs"], "$ref": f"#/$defs/{part}"})


def _describe(error: ValidationError) -> str:
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".")
    message = f"{short(error.instance)}: {_rule(error)}"
    return f"{path}: {message}" if path else message


def _rule(error: ValidationError) -> str:
    if error.validator in ("required", "additionalProperties"):
        return error.message[:200]
    return f"violates {error.validator} {short(error.validator_value)}"


def short(value: Any) -> str:
    """A value as a message quotes it: forty characters at most."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
