# SPDX-License-Identifier: BSD-3-Clause
"""Labs that are up: starting, finding and ending them.

What a lab is follows from its folder and its process. The process is the peer of the socket in the folder, so
a lab whose process is gone is known by a socket that nobody answers, whatever ended it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isochrone.errors import IsochroneError, UsageError
from isochrone.lab.network import Network
from isochrone.launch.process import end_with_parent

_TIMEOUT_S = 60
_MOST_STATUS_BYTES = 1 << 22
_PROGRAM = "isochrone-lab"
_TEMPORARY = "temporary"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")

# Each host's holder is found by name in the lab's own numbering of processes.
_ENTER = """\
#!/bin/sh
# enter HOST FOLDER COMMAND...: runs a command in a host of this lab.
host=$1 folder=$2
shift 2
process=$(awk -v host="$host" '$1 == host { print $2 }' '{folder}/processes')
if [ -z "$process" ]; then
    echo "no host $host in this lab" >&2
    exit 255
fi
if [ -f '{folder}/slurm/slurm.conf' ]; then
    export SLURM_CONF='{folder}/slurm/slurm.conf'
fi
exec nsenter --target "$process" --net --uts --mount --ipc -- env --chdir="$folder" "$@"
"""
_AGENT = """\
#!/bin/sh
# agent [OPTIONS OF SSH] HOST COMMAND...: takes ssh's place for launchers in this lab.
while [ $# -gt 0 ]; do
    case $1 in
    -[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
exec '{folder}/enter' "$host" / sh -c "$*"
"""


@dataclass(frozen=True)
class Lab:
    """A lab that is up.

    Attributes:
        name: of the lab; a network may be up twice under two names.
        folder: with its description, socket and scripts.
        network: that it emulates.
        process: that is the lab; everything in it ends with it.
        rootless: whether it is in a user namespace.
        temporary: whether it belongs to a command that is running, and ends with it.
    """

    name: str
    folder: Path
    network: Network
    process: int
    rootless: bool
    temporary: bool

    @property
    def agent(self) -> Path:
        """The program that takes ssh's place for launchers."""
        return self.folder / "agent"

    def command(self, host: str, words: Sequence[str]) -> list[str]:
        """The command line that runs `words` in a host, in the current folder; it ends with its starter."""
        users = ["--user", "--preserve-credentials"] if self.rootless else []
        return [
            *("nsenter", "--target", str(self.process), *users, "--pid", "--mount", "--"),
            *("setpriv", "--pdeathsig", "TERM", "--"),
            *(str(self.folder / "enter"), host, str(Path.cwd()), *words),
        ]

    def status(self) -> dict[str, Any]:
        """The counters of every link, and how late packets were.

        Raises:
            IsochroneError: the lab is gone.
        """
        found = _ask(self.folder)
        if found is None:
            raise IsochroneError(f"the lab {self.name!r} is not up any more", str(self.folder))
        return found[1]


def labs_folder() -> Path:
    """The folder with one folder for each lab of this user."""
    if os.geteuid() == 0:
        return Path("/run/isochrone/labs")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) if runtime.startswith("/") else Path(tempfile.gettempdir())
    return base / f"isochrone-{os.geteuid()}" / "labs"


def running_labs() -> list[Lab]:
    """The labs of this user that are up, by name."""
    with contextlib.suppress(OSError):
        return [
            lab for folder in sorted(labs_folder().iterdir()) if (lab := find_lab(folder.name)) is not None
        ]
    return []


def find_lab(name: str) -> Lab | None:
    """The lab of that name, if it is up."""
    folder = labs_folder() / name
    # Anything else is a path, and may lead anywhere.
    if not _NAME.fullmatch(name) or not _is_ours(labs_folder()):
        return None
    answer = _ask(folder)
    if answer is None:
        return None
    return Lab(
        name, folder, _read_network(folder), answer[0], os.geteuid() != 0, (folder / _TEMPORARY).exists()
    )


def the_lab(name: str | None) -> Lab:
    """The lab of that name, or the only one that was brought up to stay.

    Raises:
        UsageError: there is none, or several and no name.
    """
    if name is not None:
        lab = find_lab(name)
        if lab is None:
            up = ", ".join(lab.name for lab in running_labs()) or "none"
            raise UsageError(f"no lab {name!r} is up", todo=f"up are: {up}; start it with: isochrone lab up")
        return lab
    labs = [lab for lab in running_labs() if not lab.temporary]
    if len(labs) != 1:
        what = "no lab is up" if not labs else "several labs are up"
        todo = (
            "start one with: isochrone lab up two-racks"
            if not labs
            else "name one of " + ", ".join(x.name for x in labs)
        )
        raise UsageError(what, todo=todo)
    return labs[0]


def up(network: Network, name: str | None = None) -> Lab:
    """Starts a lab that stays up until it is taken down.

    Raises:
        IsochroneError: one of that name is up, or the system does not let it.
    """
    name = name or network.name
    with _making(network, name) as folder, _starter(folder, []) as starter:
        if starter.wait(_TIMEOUT_S) != 0:
            raise _start_error(starter)
    return _just_started(name)


@contextlib.contextmanager
def temporary_lab(network: Network) -> Iterator[Lab]:
    """A lab of its own for as long as we use it; it ends with us, however we end.

    Raises:
        IsochroneError: the system does not let it.
    """
    name = f"{network.name}-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        with _making(network, name) as folder:
            (folder / _TEMPORARY).touch()
            starter = stack.enter_context(_starter(folder, ["--stay"]))
            stack.callback(remove_traces, name)
            stack.callback(starter.kill)
            if starter.stdout is None or not starter.stdout.readline():
                raise _start_error(starter)
        yield _just_started(name)


def down(lab: Lab) -> None:
    """Ends a lab and everything that runs in it, and leaves nothing behind.

    Raises:
        IsochroneError: it does not end.
    """
    try:
        handle = os.pidfd_open(lab.process)
    except ProcessLookupError:
        handle = None
    if handle is not None:
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            waiter = select.poll()
            waiter.register(handle, select.POLLIN)
            if not waiter.poll(_TIMEOUT_S * 1000):
                raise IsochroneError(f"the lab {lab.name!r} does not end", f"process {lab.process}")
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)
    remove_traces(lab.name)


def remove_traces(name: str) -> bool:
    """Removes the folder of a lab that is not up; says whether there was one."""
    if not _NAME.fullmatch(name) or not _is_ours(labs_folder()):
        return False
    folder = labs_folder() / name
    existed = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name(f".{name}.lock").unlink(missing_ok=True)
    return existed


def _write_files(network: Network, folder: Path) -> None:
    content = json.dumps(network.to_json(), indent=1) + "\n"
    (folder / "description.json").write_text(content, encoding="utf-8")
    lines = ["127.0.0.1 localhost"]
    lines += [f"{network.address(number)} {name}" for number, name in enumerate(network.host_names)]
    (folder / "hosts").write_text("\n".join(lines) + "\n", encoding="ascii")
    for script, text in (("enter", _ENTER), ("agent", _AGENT)):
        path = folder / script
        path.write_text(text.replace("{folder}", str(folder)), encoding="utf-8")
        path.chmod(0o700)


@contextlib.contextmanager
def _making(network: Network, name: str) -> Iterator[Path]:
    """The folder of a lab that is about to be started, with its files; gone again if it can't be."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a lab", "--name", "use letters, digits and hyphens")
    folder = labs_folder() / name
    try:
        for parent in (folder.parent.parent, folder.parent):
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_ours(folder.parent):
            raise IsochroneError(
                "is not ours alone", str(folder.parent), "set XDG_RUNTIME_DIR to a folder of your own"
            )
        with _locked(folder.with_name(f".{name}.lock")):
            if find_lab(name) is not None:
                raise IsochroneError(f"the lab {name!r} is up already", todo=f"isochrone lab down {name}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                _write_files(network, folder)
                yield folder
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
    except OSError as error:
        raise IsochroneError(f"the lab cannot be started: {error.strerror}", str(error.filename)) from None
    except subprocess.TimeoutExpired:
        raise IsochroneError("the lab does not come up", str(folder)) from None


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can put files there: what is in it is run."""
    try:
        found = [os.lstat(path) for path in (folder.parent, folder)]
    except OSError:
        return False
    return all(stat.S_ISDIR(f.st_mode) and f.st_uid == os.geteuid() and not f.st_mode & 0o022 for f in found)


def _starter(folder: Path, options: Sequence[str]) -> subprocess.Popen[str]:
    rootless = ["--user-namespace"] if os.geteuid() != 0 else []
    return subprocess.Popen(
        [str(lab_program()), *rootless, *options, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=end_with_parent,  # noqa: PLW1509 - we start no threads before it
    )


def _start_error(starter: subprocess.Popen[str]) -> IsochroneError:
    _, errors = starter.communicate(timeout=_TIMEOUT_S)
    said = (errors.strip() or "no message").removeprefix(f"{_PROGRAM}: ")
    return IsochroneError(f"the lab cannot be started: {said}", todo=_advice(said))


def _just_started(name: str) -> Lab:
    lab = find_lab(name)
    if lab is None:
        raise IsochroneError(f"the lab {name!r} ended as soon as it was up")
    return lab


def _read_network(folder: Path) -> Network:
    path = folder / "description.json"
    try:
        return Network.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IsochroneError(f"the lab's description cannot be read: {error}", str(path)) from None


def _advice(said: str) -> str | None:
    if "/dev/net/tun" in said:
        return "a lab needs the kernel's TUN driver, and the right to open it: run as root"
    if "user namespace" in said:
        return "this system has no user namespaces for everyone: run as root"
    return None if os.geteuid() == 0 else "run as root"


def lab_program() -> Path:
    """``isochrone-lab``, which is installed beside the command ``isochrone``.

    Raises:
        IsochroneError: it is missing.
    """
    for folder in (sysconfig.get_path("scripts"), str(Path(sys.argv[0]).resolve().parent)):
        path = Path(folder) / _PROGRAM
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(_PROGRAM)
    if found is None:
        raise IsochroneError(f"{_PROGRAM} was not found", todo="labs need Linux; install isochrone again")
    return Path(found)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _ask(folder: Path) -> tuple[int, dict[str, Any]] | None:
    """The lab's process and what its socket says; None if nobody answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(_TIMEOUT_S)
        try:
            peer.connect(str(folder / "status"))
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            data = b""
            while part := peer.recv(65536):
                data += part
                if len(data) > _MOST_STATUS_BYTES:
                    return None
            content = json.loads(data)
        except (OSError, ValueError):
            return None
    process, _, _ = struct.unpack("3i", credentials)
    return (process, content) if isinstance(content, dict) else None
