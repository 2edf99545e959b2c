# SPDX-License-Identifier: BSD-3-Clause
"""The errors that a user can mend: one line that says what, where and what to do."""

from __future__ import annotations


class IsochroneError(Exception):
    """Something that the user or their files did.

    Args:
        what: what is wrong.
        where: the file, ``file:line``, option or host that it was found in.
        todo: what to do about it.
    """

    exit_code = 1

    def __init__(self, what: str, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo

    def __str__(self) -> str:
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        if self.todo is not None:
            text = f"{text}; {self.todo}"
        return _one_line(text)


class UsageError(IsochroneError):
    """The command line asks for something that cannot be."""

    exit_code = 2


class GateError(IsochroneError):
    """All went well, but a gate that the user set is not met."""

    exit_code = 3


def _one_line(text: str) -> str:
    """The text without line breaks and control characters: file contents may be quoted in a message."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
