# SPDX-License-Identifier: BSD-3-Clause
"""Forms: what a file, or one line of it, holds, said once as a type.

From the type come the decoder, the writer and the JSON Schema in ``schemas/``. Text as Isochrone writes it is
decoded in one pass; whatever is not goes the strict way, which says what is wrong in the words of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.schema import SCHEMA_VERSION, check, check_kind, make, make_again
from isochrone.files.text import (
    Json,
    check_depth,
    decoded,
    parse_object,
    raw_lines,
    read_bytes,
    write_object,
    write_text,
)


def _plain_number(value: Any) -> Any:
    """Numbers of numpy as Python has them."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a form cannot hold {type(value).__name__}")


_encode = msgspec.json.Encoder(enc_hook=_plain_number).encode


def written(default: Any) -> Any:
    """A default value, or its type for an empty one, that is written nevertheless."""
    return msgspec.field(default_factory=lambda: default() if isinstance(default, type) else default)


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all forms. A field that has its default value is not written."""

    def document(self) -> Json:
        """As JSON."""
        document: Json = msgspec.json.decode(self.text())
        return document

    def text(self) -> str:
        """As JSON, in one line. Words of a command line may be no text: of these, what is none is a question
        mark.
        """
        try:
            return _encode(self).decode()
        except UnicodeEncodeError:
            text = json.dumps(msgspec.to_builtins(self, enc_hook=_plain_number), ensure_ascii=False)
            return text.encode("utf-8", "replace").decode()


class Head(Form, frozen=True, kw_only=True, tag_field="isochrone"):
    """Base of what begins a file. Its tag is the kind of the file."""

    # What a function makes is written always.
    schema_version: Literal[1] = msgspec.field(default_factory=lambda: SCHEMA_VERSION)


class Tail(Form, frozen=True, kw_only=True):
    """Base of what ends a file, or what one run has added to it."""

    end: Annotated[bool, Meta(extra_json_schema={"const": True})]

    def __post_init__(self) -> None:
        """What the schema says and types do not."""
        if not self.end:
            raise ValueError("not the end")


_LOOKED_AT = 100
"""Entries of a list that are described in the words of the schema, where one of them is wrong."""

FormT = TypeVar("FormT", bound=Form)
HeaderT = TypeVar("HeaderT", bound=Form)


class Decoder(Generic[FormT]):
    """Decodes one kind of file: the whole, or a line that has one of several forms.

    Attributes:
        kind: of the file.
    """

    def __init__(
        self, kind: str, *forms: type[FormT], check: Callable[[FormT, str], None] = lambda *_: None
    ) -> None:
        """The forms are tried in this order. No two may take the same object.

        Args:
            check: raises IsochroneError for what types cannot tell, contradictions; is given where it stands.
        """
        self.kind = kind
        self._check = check
        self._forms = forms
        self._decode = [msgspec.json.Decoder(form).decode for form in forms]

    def schema(self) -> Json:
        """The JSON Schema of the file."""
        return _schema(f"{self.kind}.json", self._forms)

    def line(self, text: bytes, where: str, todo: str | None = None) -> FormT:
        """The form of a line, or of a whole file. Raises DamagedError for what is no JSON, and
        IsochroneError for what is none of the forms.
        """
        # Within a text without escapes every string has two quotes: as many as when it is written again, or
        # some key occurs twice.
        if b"\\" not in text:
            for decode in self._decode:
                try:
                    form = decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    continue
                if _encode(form).count(b'"') == text.count(b'"'):
                    return form
        return self.form(parse_object(text, where, todo), where)

    def form(self, document: Json, where: str) -> FormT:
        """The form of what was parsed. Raises IsochroneError for what is none of the forms."""
        form = max(self._forms, key=lambda form: len(document.keys() & set(form.__struct_encode_fields__)))
        if form.__struct_config__.tag is not None:
            check_kind(document, self.kind, where)
        try:
            return msgspec.convert(document, form)
        except msgspec.ValidationError as error:
            check(_begin(document), self.kind, where, form.__name__)
            raise IsochroneError(_words(error), where, make_again(self.kind)) from None

    def file(self, path: Path) -> FormT:
        """The form of a whole file. Raises IsochroneError for what is damaged, is none of the forms, or is
        contradictory.
        """
        text, where, todo = read_bytes(path, make(self.kind)), str(path), make_again(self.kind)
        form = self.line(text, where, todo)
        if _is_deep(form):
            parse_object(text, where, todo)
        self._check(form, where)
        return form

    def write(self, path: Path, form: FormT) -> None:
        """Writes a whole file. Raises IsochroneError for a form that could not be read again."""
        document = form.document()
        self._check(self.form(document, str(path)), str(path))
        write_object(path, document)


class LineFile(Generic[HeaderT, FormT]):
    """Reads and writes one kind of JSON Lines file.

    Attributes:
        kind: of the file.
        header: decodes the first line.
        lines: decodes those after it.
    """

    def __init__(self, kind: str, header: type[HeaderT], *lines: type[FormT]) -> None:
        """`lines`: their forms, the one that most of them have first."""
        self.kind = kind
        self.header = Decoder(kind, header)
        self.lines = Decoder(kind, *lines)
        self._forms = (header, *lines)

    def schema(self) -> Json:
        """The JSON Schema of a line of the file."""
        return _schema(f"{self.kind}.jsonl", self._forms)

    def read(self, path: Path) -> tuple[HeaderT, str, Iterator[tuple[int, FormT]]]:
        """The header and where it is, and number and form of each line after it.

        A last line that is damaged was cut off when its writer was killed: it is reported and dropped. Raises
        IsochroneError, with file and line, for what is damaged or has no such form.
        """
        raw, todo = raw_lines(path, make(self.kind)), make_again(self.kind)
        number, first = next(raw, (0, b""))
        if number == 0:
            raise IsochroneError("the file is empty", str(path), todo)
        where = f"{path}:{number}"
        header = self.header.form(parse_object(first, where, todo), where)
        return header, where, decoded(path, raw, lambda text, place: self.lines.line(text, place, todo))

    def write(self, path: Path, header: HeaderT, lines: Iterable[FormT]) -> None:
        """Writes a form a line; a reader finds the old file or the whole new one. Raises IsochroneError for a
        form that could not be read again.
        """
        texts = [header.text()]
        self.header.line(texts[0].encode(), str(path))
        for form in lines:
            texts.append(form.text())
            self.lines.line(texts[-1].encode(), f"{path}:{len(texts)}")
        write_text(path, "".join(f"{text}\n" for text in texts))


def _begin(value: Any) -> Any:
    """A document with the beginning of each list: a schema takes minutes for millions of entries."""
    if isinstance(value, dict):
        return {name: _begin(part) for name, part in value.items()}
    return [_begin(part) for part in value[:_LOOKED_AT]] if isinstance(value, list) else value


def _is_deep(form: Form) -> bool:
    """Whether what has no type is nested more deeply than what is read the strict way may be."""
    free = [value for name in form.__struct_fields__ if isinstance(value := getattr(form, name), dict)]
    try:
        check_depth(free)
    except RecursionError:
        return True
    return False


def _schema(title: str, forms: Iterable[type[Form]]) -> Json:
    components = msgspec.json.schema_components(forms, ref_template="#/$defs/{name}")
    parts, definitions = msgspec.json.decode(_encode(components))
    definitions = {name: _form_schema(form) for name, form in definitions.items()}
    head: Json = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    if len(parts) == 1:
        return {**head, **parts[0], "$defs": definitions}
    what = "One line of the file. The first is the header."
    return {**head, "description": what, "anyOf": parts, "$defs": definitions}


def _form_schema(form: Json) -> Json:
    """The schema of a form, plainer than msgspec has it."""
    required = form["required"]
    if "isochrone" in form["properties"]:
        required.insert(1, "schema_version")
    described = " ".join(form.get("description", "").partition("\n\n")[0].split())
    return {
        **({"description": described} if described else {}),
        "type": "object",
        # The first that is broken is what an error tells of: a key that was mistyped, not that it is missing.
        "additionalProperties": False,
        "required": required,
        "properties": {name: _plain(field) for name, field in form["properties"].items()},
    }


def _plain(schema: Any) -> Any:
    """A schema in which what may be null has a list of types."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _plain(value) for key, value in schema.items()}
    if "anyOf" in found:
        found["anyOf"].sort(key=lambda each: each == {"type": "null"})
    match found.get("anyOf"):
        case [{"type": str(kind), **rest}, {"type": "null"}]:
            del found["anyOf"]
            found |= {"type": [kind, "null"], **rest}
    return found


def _words(error: msgspec.ValidationError) -> str:
    """The error as those of the schema are: the place first."""
    what, _, place = str(error).partition(" - at `$")
    what = what.replace("`", "")
    return f"{place.rstrip('`').lstrip('.')}: {what}" if place else what
