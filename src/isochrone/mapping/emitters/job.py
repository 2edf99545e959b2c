# SPDX-License-Identifier: BSD-3-Clause
"""What is to be launched where, and what all forms need of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from isochrone.errors import IsochroneError, UsageError
from isochrone.files.place import Place
from isochrone.files.text import quoted
from isochrone.mapping.hosts import is_host_name

MOST_WORD_BYTES = 1 << 17
"""Linux takes no longer word in a command line."""


@dataclass(frozen=True)
class Job:
    """A program and the places of its ranks.

    Attributes:
        places: [rank], where it shall run.
        program: with its arguments; empty where it is not known yet.
        extra: more options for the launcher.
    """

    places: tuple[Place, ...]
    program: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def hosts(self) -> list[str]:
        """[rank], the name of its host.

        Raises:
            IsochroneError: there are no ranks, or a name would be read otherwise.
        """
        if not self.places:
            raise IsochroneError("there are no ranks to place")
        for host in {place.host for place in self.places}:
            if not is_host_name(host):
                raise IsochroneError(f"{quoted(host)} is no name of a host that launchers know")
        return [place.host for place in self.places]

    @property
    def counts(self) -> Counter[str]:
        """How many ranks each host gets, in order of first appearance."""
        return Counter(self.hosts)

    def runs(self) -> Iterator[tuple[str, int]]:
        """Hosts of consecutive ranks, and how many ranks these are."""
        for host, ranks in itertools.groupby(self.hosts):
            yield host, len(list(ranks))

    def needed_program(self, form: str) -> tuple[str, ...]:
        """The program. Raises UsageError where there is none."""
        if not self.program:
            raise UsageError(f"{form} files name the program", todo="give it with its arguments")
        return self.program

    def count_words(self) -> list[str]:
        """``-n RANKS``, and the extra options."""
        return ["-n", str(len(self.places)), *self.extra]

    def unless_given(self, option: str, value: str) -> list[str]:
        """An option with its value, if the extra options have no other: some launchers take it only once."""
        given = any(word == option or word.startswith(f"{option}=") for word in self.extra)
        return [] if given else [option, value]
