# SPDX-License-Identifier: BSD-3-Clause
"""Opening what may be a pipe: one with a writer is read to its end, one without keeps nobody waiting for
ever.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PATIENCE_S = 10.0
"""How long a pipe may have no writer."""


def opened(path: Path) -> BinaryIO:
    """The file, opened to be read. Raises OSError, also while it is read from a pipe that has no writer."""
    # Plainly opened, a pipe waits for its writer, whatever signals come.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        os.set_blocking(descriptor, not is_pipe)
        return io.BufferedReader(_Pipe(descriptor)) if is_pipe else os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


class _Pipe(io.RawIOBase):
    """A pipe whose descriptor does not block."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._until = time.monotonic() + PATIENCE_S
        self._begun = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while True:
            try:
                count = os.readv(self._descriptor, [buffer])
            except BlockingIOError:
                # There is a writer: it may take its time.
                select.select([self._descriptor], [], [])
                self._begun = True
                continue
            self._begun = self._begun or count > 0
            if count > 0 or self._begun:
                return count
            # Nobody has opened it yet, or somebody has and wrote nothing.
            left_s = self._until - time.monotonic()
            if left_s <= 0:
                raise OSError(errno.EPIPE, "nobody writes to this pipe")
            ready, _, _ = select.select([self._descriptor], [], [], left_s)
            self._begun = bool(ready)
