# SPDX-License-Identifier: BSD-3-Clause
"""What several files say of others: the topology that they are of, and the MPI library that they are for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from isochrone.files.fields import Fingerprint
from isochrone.files.form import Form


class TopologyReference(Form, frozen=True):
    """The topology that a file is of."""

    fingerprint: Fingerprint


class TopologyFileReference(TopologyReference, frozen=True):
    """The same, with the name of its file."""

    file: Annotated[
        str,
        Meta(max_length=255, pattern=r"^(?!\.{1,2}$)[^/\x00]+$", description="Its name, in the same folder."),
    ]


class LibraryReference(Form, frozen=True):
    """The MPI library that a file is for: its own version text, and the soname that its programs need."""

    library: Annotated[str, Meta(max_length=1024)]
    abi: Annotated[str, Meta(max_length=255)]
