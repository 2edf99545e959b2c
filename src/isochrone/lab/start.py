# SPDX-License-Identifier: BSD-3-Clause
"""Starting and ending labs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.lab.labs import NAME, TEMPORARY, Lab, find_lab, is_ours, labs_folder
from isochrone.lab.network import Network
from isochrone.launch.lock import locked
from isochrone.launch.process import end_with_parent

_TIMEOUT_S = 60
_PROGRAM = "isochrone-lab"

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


def up(network: Network, name: str | None = None) -> Lab:
    """Starts a lab that stays up until it is taken down.

    Raises:
        IsochroneError: one of that name is up, or the system does not let it.
    """
    name = name or network.name
    with _making(network, name) as folder, _starter(folder, []) as starter, _ended_on_error(starter):
        if starter.wait(_TIMEOUT_S) != 0:
            raise _start_error(starter)
    return _just_started(name)


@contextlib.contextmanager
def temporary_lab(network: Network) -> Iterator[Lab]:
    """A lab of its own for as long as we use it; it ends with us, however we end.

    Raises:
        IsochroneError: the system does not let it.
    """
    _remove_abandoned()
    name = f"{network.name}-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        with _making(network, name) as folder:
            # Its name is nobody else's, so that nobody waits for its lock.
            stack.callback(_lock_file(folder).unlink, missing_ok=True)
            (folder / TEMPORARY).touch()
            starter = stack.enter_context(_starter(folder, ["--stay"]))
            stack.callback(remove_traces, name)
            stack.callback(_end_starter, starter)
            with _ended_on_error(starter):
                _wait_until_up(starter)
        yield _just_started(name)


def _remove_abandoned() -> None:
    """Removes what is left of temporary labs whose programs were killed: nobody else looks for them."""
    with contextlib.suppress(OSError):
        for folder in list(labs_folder().iterdir()):
            process = folder.name.rpartition("-")[2]
            if (folder / TEMPORARY).exists() and not Path("/proc", process).exists():
                remove_traces(folder.name)
                _lock_file(folder).unlink(missing_ok=True)


def down(lab: Lab) -> None:
    """Ends a lab and everything that runs in it, and leaves nothing of it behind.

    Raises:
        IsochroneError: it does not end.
    """
    _end(lab)
    remove_traces(lab.name)


def _end(lab: Lab) -> None:
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


def remove_traces(name: str) -> bool:
    """Removes the folder of a lab that is not up; says whether there was one. A lab that is being made is
    waited for, and stays.
    """
    if not NAME.fullmatch(name) or not is_ours(labs_folder()):
        return False
    folder = labs_folder() / name
    if not folder.is_dir():
        return False
    with locked(_lock_file(folder)):
        if find_lab(name) is not None:
            return False
        existed = folder.is_dir()
        shutil.rmtree(folder, ignore_errors=True)
    return existed


def _lock_file(folder: Path) -> Path:
    """What whoever makes or removes the folder of a lab holds. It stays: who waits for one that was removed
    would hold another file than who comes later.
    """
    return folder.with_name(f".{folder.name}.lock")


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
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a lab", "--name", "use letters, digits and hyphens")
    folder = labs_folder() / name
    try:
        for parent in (folder.parent.parent, folder.parent):
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not is_ours(folder.parent):
            raise IsochroneError(
                "is not ours alone", str(folder.parent), "set XDG_RUNTIME_DIR to a folder of your own"
            )
        with locked(_lock_file(folder)):
            if find_lab(name) is not None:
                raise IsochroneError(f"the lab {name!r} is up already", todo=f"isochrone lab down {name}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                _write_files(network, folder)
                yield folder
            except BaseException:
                # One that came up at the last moment could not be found any more without its socket.
                lab = find_lab(name)
                if lab is not None:
                    _end(lab)
                shutil.rmtree(folder, ignore_errors=True)
                raise
    except OSError as error:
        raise IsochroneError(f"the lab cannot be started: {error.strerror}", str(error.filename)) from None
    except subprocess.TimeoutExpired:
        raise IsochroneError("the lab does not come up", str(folder)) from None


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


@contextlib.contextmanager
def _ended_on_error(starter: subprocess.Popen[str]) -> Iterator[None]:
    """Popen's own context waits for the starter's end without limit, and so for a lab to come up."""
    try:
        yield
    except BaseException:
        _end_starter(starter)
        raise


def _end_starter(starter: subprocess.Popen[str]) -> None:
    """With it ends a lab that is not up yet, or that is to stay with it."""
    starter.kill()
    starter.wait()


def _wait_until_up(starter: subprocess.Popen[str]) -> None:
    """Until a starter that stays says so."""
    if starter.stdout is None:
        raise TypeError("the starter was started without pipes")
    waiter = select.poll()
    waiter.register(starter.stdout, select.POLLIN)
    if not waiter.poll(_TIMEOUT_S * 1000):
        raise subprocess.TimeoutExpired(starter.args, _TIMEOUT_S)
    if not starter.stdout.readline():
        raise _start_error(starter)


def _start_error(starter: subprocess.Popen[str]) -> IsochroneError:
    _, errors = starter.communicate(timeout=_TIMEOUT_S)
    said = (errors.strip() or "no message").removeprefix(f"{_PROGRAM}: ")
    return IsochroneError(f"the lab cannot be started: {said}", todo=_advice(said))


def _just_started(name: str) -> Lab:
    lab = find_lab(name)
    if lab is None:
        raise IsochroneError(f"the lab {name!r} ended as soon as it was up")
    return lab


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
