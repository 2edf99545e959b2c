# SPDX-License-Identifier: BSD-3-Clause
"""The identity of an MPI library, learned by compiling and running a small program with its ``mpicc``.

The program asks ``MPI_Get_library_version``, which may be called before ``MPI_Init``: no launcher and no
ranks are needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from isochrone.errors import IsochroneError
from isochrone.launch.folders import cache_folder

_PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    printf("%s\\n", text);
    return 0;
}
"""
_TIMEOUT_S = 120
_MPI_SONAME = re.compile(r"libmpi(?:ch|_abi)?\.so(?:\.\d+)?")
_VENDORS = (
    ("Open MPI", re.compile(r"Open MPI v?(\d[\w.]*)")),
    ("Intel MPI", re.compile(r"Intel\(R\) MPI Library (\d[\w.]*)")),
    ("MVAPICH", re.compile(r"MVAPICH2? Version\s*:\s*(\d[\w.]*)")),
    ("MPICH", re.compile(r"MPICH Version\s*:\s*(\d[\w.]*)")),
)


@dataclass(frozen=True)
class MpiLibrary:
    """An MPI library and the tools that belong to it.

    Attributes:
        name: short and unique among the libraries at hand, such as ``openmpi-4.1.4``.
        vendor: ``Open MPI``, ``MPICH``, ``MVAPICH`` or ``Intel MPI``.
        version: the library's own version, such as ``4.1.4``.
        abi: the soname that programs need, such as ``libmpi.so.40``.
        library_path: the file that the soname stood for.
        mpicc: the compiler wrapper.
        launcher: the launcher that belongs to it, where one was found.
        source: how it came to be known: ``PATH``, ``python``, ``added`` or ``launcher``.
    """

    name: str
    vendor: str
    version: str
    abi: str
    library_path: str
    mpicc: str
    launcher: str | None
    source: str

    @property
    def title(self) -> str:
        """Vendor and version, for people."""
        return f"{self.vendor} {self.version}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the library's tools need and that the user has not set."""
        return _environment(Path(self.mpicc))

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_json(value: object, where: str) -> MpiLibrary:
        """The library of a JSON object.

        Raises:
            IsochroneError: when the object does not have the fields of a library.
        """
        names = [field.name for field in fields(MpiLibrary)]
        if not isinstance(value, dict) or set(value) != set(names):
            raise IsochroneError("not the description of an MPI library", where)
        texts = {name: value[name] for name in names if not (name == "launcher" and value[name] is None)}
        if not all(isinstance(text, str) for text in texts.values()):
            raise IsochroneError("a field of an MPI library is not a text", where)
        return MpiLibrary(**{"launcher": None, **texts})


def parse_version(text: str) -> tuple[str, str] | None:
    """Vendor and version in what ``MPI_Get_library_version`` gives; None for an unknown library."""
    for vendor, pattern in _VENDORS:
        found = pattern.search(text)
        if found:
            return vendor, found.group(1).rstrip(".")
    return None


def normal_abi(soname: str) -> str:
    """The soname by which an ABI is known: Debian calls MPICH's ``libmpi.so.12`` ``libmpich.so.12``."""
    return soname.replace("libmpich.so.", "libmpi.so.")


def needed_libraries(program: Path) -> dict[str, str]:
    """The MPI libraries that the dynamic loader would load for an executable: soname to path, empty where
    none is.

    Scripts, static programs and files that cannot be read need none that can be known.
    """
    try:
        done = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, timeout=_TIMEOUT_S, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for line in done.stdout.splitlines():
        soname, arrow, rest = line.strip().partition(" => ")
        if arrow and _MPI_SONAME.fullmatch(soname):
            found[soname] = rest.rsplit(" (", 1)[0]
    return found


def identify(mpicc: Path, source: str, launcher: Path | None = None) -> MpiLibrary:
    """The library that `mpicc` compiles for. Its answer is remembered for as long as the wrapper and the
    library stay.

    Raises:
        IsochroneError: when the wrapper does not compile, the program does not run, or the library is
        unknown.
    """
    remembered = _recall(mpicc)
    if remembered is None:
        remembered = _ask(mpicc)
        _remember(mpicc, remembered)
    vendor, version, abi, library_path = remembered
    slug = vendor.lower().replace(" ", "")
    return MpiLibrary(
        name=f"{slug}-{version}",
        vendor=vendor,
        version=version,
        abi=abi,
        library_path=library_path,
        mpicc=str(mpicc),
        launcher=None if launcher is None else str(launcher),
        source=source,
    )


def _environment(mpicc: Path) -> dict[str, str]:
    """Intel MPI is told by variables where it is; its wheel comes without the script that sets them. It opens
    libfabric by name alone: unless its own is searched first it works with the system's, which is slower.
    """
    prefix = mpicc.parent.parent
    libraries = prefix / "lib"
    if not (libraries / "libmpi_ilp64.so").is_file():
        return {}
    wanted = {"I_MPI_ROOT": str(prefix), "FI_PROVIDER_PATH": str(libraries)}
    found = {name: value for name, value in wanted.items() if name not in os.environ}
    searched = [each for each in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if each]
    if str(libraries) not in searched:
        found["LD_LIBRARY_PATH"] = os.pathsep.join([str(libraries), *searched])
    return found


Identity = tuple[str, str, str, str]


def _ask(mpicc: Path) -> Identity:
    with tempfile.TemporaryDirectory(prefix="isochrone-") as folder:
        source = Path(folder) / "identity.c"
        program = Path(folder) / "identity"
        source.write_text(_PROGRAM, encoding="utf-8")
        environment = os.environ | _environment(mpicc)
        try:
            _run([str(mpicc), "-o", str(program), str(source)], f"{mpicc} does not compile", environment)
        except IsochroneError:
            _check_compiler(mpicc, environment)
            raise
        if not program.exists():
            raise IsochroneError("compiles nothing", str(mpicc), "give the library's mpicc")
        text = _run([str(program)], f"a program compiled by {mpicc} does not run", environment)
        libraries = needed_libraries(program)
    parsed = parse_version(text)
    if parsed is None:
        first = text.strip().splitlines()[0] if text.strip() else "nothing"
        raise IsochroneError(f"an MPI library that Isochrone does not know: {first!r}", str(mpicc))
    if not libraries:
        raise IsochroneError("the MPI library is linked statically", str(mpicc), "a shared one is needed")
    soname, path = next(iter(libraries.items()))
    return *parsed, normal_abi(soname), path


def _run(argv: list[str], failure: str, environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=_TIMEOUT_S, errors="replace", env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IsochroneError(f"{failure}: {error}") from None
    if done.returncode != 0:
        raise IsochroneError(f"{failure}: {_telling(done.stderr or done.stdout)}")
    return done.stdout


def _telling(said: str) -> str:
    """The line with the error, or else what was said last, which wrappers break into several lines and draw
    lines of dashes around.
    """
    lines = [line.strip() if any(c.isalnum() for c in line) else "" for line in said.splitlines()]
    for line in lines:
        if "error" in line:
            return line
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return " ".join(paragraphs[-1].split()) or "no message"


def _check_compiler(mpicc: Path, environment: Mapping[str, str]) -> None:
    """Raises IsochroneError if the compiler that a wrapper calls is missing, which each says in its own
    way.
    """
    # All wrappers know -show, Open MPI's too: the command line that they would run.
    try:
        shown = _run([str(mpicc), "-show"], f"{mpicc} does not show its compiler", environment).split()
    except IsochroneError:
        return
    if shown and shutil.which(shown[0]) is None:
        raise IsochroneError(
            f"the compiler {shown[0]}, which {mpicc} calls, is missing",
            todo=f"install {shown[0]}, and one for C++ such as g++",
        )


def _memory(mpicc: Path) -> Path:
    key = hashlib.sha256(str(mpicc).encode()).hexdigest()[:16]
    return cache_folder() / "identities" / f"{key}.json"


def _stamp(path: str) -> list[int]:
    found = Path(path).stat()
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _recall(mpicc: Path) -> Identity | None:
    try:
        kept = json.loads(_memory(mpicc).read_text(encoding="utf-8"))
        identity = kept["identity"]
        if kept["stamps"] != [_stamp(str(mpicc)), _stamp(identity[3])]:
            return None
        vendor, version, abi, library_path = (str(text) for text in identity)
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return vendor, version, abi, library_path


def _remember(mpicc: Path, identity: Identity) -> None:
    path = _memory(mpicc)
    try:
        stamps = [_stamp(str(mpicc)), _stamp(identity[3])]
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"identity": identity, "stamps": stamps}), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return  # a cache that cannot be written only costs time
