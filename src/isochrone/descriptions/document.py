# SPDX-License-Identifier: BSD-3-Clause
"""A YAML file as plain data together with the line of every value, so that every complaint can name one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from isochrone.descriptions.quantity import Kind, parse_quantity
from isochrone.errors import IsochroneError

_MAX_BYTES = 1 << 20
_MAX_DEPTH = 20

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """The data of a file and, for each path of keys and indices in it, its line (from 1)."""

    file: str
    data: Any
    lines: dict[Steps, int]

    def error(self, what: str, steps: Sequence[str | int] = (), todo: str | None = None) -> IsochroneError:
        """A complaint about the value at ``steps``, or about what would hold it if it is not there."""
        known = tuple(steps)
        while known and known not in self.lines:
            known = known[:-1]
        name = spell(steps)
        text = f"{name}: {what}" if name else what
        return IsochroneError(text, where=f"{self.file}:{self.lines.get(known, 1)}", todo=todo)

    def check(self, schema: dict[str, Any], steps: Sequence[str | int] = ()) -> None:
        """Raises IsochroneError if the value at ``steps``, the whole unless given, is not of a JSON
        Schema's form.
        """
        validator = jsonschema.Draft202012Validator(schema)
        error = jsonschema.exceptions.best_match(validator.iter_errors(self.value(steps)))
        if error is not None:
            message = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"
            raise self.error(message, (*steps, *error.absolute_path), todo="mend the description")

    def has(self, steps: Sequence[str | int]) -> bool:
        """Whether there is a value at ``steps``."""
        return tuple(steps) in self.lines

    def value(self, steps: Sequence[str | int]) -> Any:
        """The value at ``steps``, which must be there."""
        value: Any = self.data
        for step in steps:
            value = value[step]
        return value

    def quantity(self, steps: Sequence[str | int], kind: Kind, default: float | None = None) -> float:
        """The quantity at ``steps`` in its kind's first unit, or the default where there is none.

        Raises:
            IsochroneError: it is no such quantity; with file and line.
        """
        if default is not None and not self.has(steps):
            return default
        try:
            return parse_quantity(self.value(steps), kind)
        except ValueError as error:
            raise self.error(str(error), steps) from None


def spell(steps: Sequence[str | int]) -> str:
    """``links.node`` or ``network.uplinks[0]``."""
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps).lstrip(".")


def read_document(path: Path) -> Document:
    """Reads one YAML file of at most 1 MiB, as plain data: no anchors, no tags that make objects, no key
    twice.

    Raises:
        IsochroneError: with file and line.
    """
    file = str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise IsochroneError(f"cannot be read: {error.strerror or error}", where=file) from None
    if len(raw) > _MAX_BYTES:
        raise IsochroneError("is larger than 1 MiB", where=file, todo="give a file that describes a cluster")
    try:
        return _parse(file, raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise IsochroneError("is not UTF-8 text", where=file) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = file if mark is None else f"{file}:{mark.line + 1}"
        raise IsochroneError(f"is not YAML: {error.problem or error.context}", where=where) from None
    except (yaml.YAMLError, ValueError) as error:
        raise IsochroneError(f"is not YAML: {error}", where=file) from None


def _parse(file: str, text: str) -> Document:
    _refuse_hostile(file, text)
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            raise IsochroneError("is empty", where=file, todo="describe a cluster in it")
        lines: dict[Steps, int] = {}
        _find_lines(file, root, (), lines)
        return Document(file, loader.construct_document(root), lines)
    finally:
        loader.dispose()


def _refuse_hostile(file: str, text: str) -> None:
    """A few anchors can stand for billions of values, and deep nesting takes the parser quadratic time."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        where = f"{file}:{event.start_mark.line + 1}" if event.start_mark else file
        if isinstance(event, yaml.AliasEvent):
            raise IsochroneError("anchors and aliases are not supported", where=where)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise IsochroneError("is nested too deeply", where=where)


def _find_lines(file: str, node: yaml.Node, steps: Steps, lines: dict[Steps, int]) -> None:
    lines.setdefault(steps, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _find_lines(file, value, (*steps, index), lines)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise IsochroneError("a key that is not a word", where=f"{file}:{line}")
            if key.tag == "tag:yaml.org,2002:merge":
                # What it brings would have no lines of its own.
                raise IsochroneError("merge keys (<<) are not supported", where=f"{file}:{line}")
            inner = (*steps, key.value)
            if inner in lines:
                raise IsochroneError(f"{spell(inner)} is there twice", where=f"{file}:{line}")
            lines[inner] = line
            _find_lines(file, value, inner, lines)
