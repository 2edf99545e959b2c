# SPDX-License-Identifier: BSD-3-Clause
"""Running an unmodified MPI program on a plan, or with its ranks in another order: preloads and their
settings go into the ranks' environment, and nowhere else.

Whatever stands against it, a damaged plan or one of another MPI library, costs one line on stderr, and the
program runs as it would have run without Isochrone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isochrone.errors import IsochroneError, UsageError
from isochrone.files.mapping import read_mapping
from isochrone.files.plan import Plan, read_plan, read_planned_topology
from isochrone.files.text import kind_of
from isochrone.files.topology import read_topology
from isochrone.launch.build import behind, build_for
from isochrone.launch.launcher import LaunchLine, launch_environment
from isochrone.launch.library import MpiLibrary, needed_libraries, normal_abi, parse_version
from isochrone.launch.options import Family
from isochrone.launch.registry import library_of
from isochrone.launch.told import Told, told

# Settings that this side reads, and the ranks do not.
_OWN_SETTINGS = frozenset({"ISOCHRONE_MPI", "ISOCHRONE_DEBUG"})


@dataclass(frozen=True)
class Start:
    """How a program is started.

    Attributes:
        argv: the launcher's command line.
        environment: variables for the launcher beyond our own.
        refusal: why it runs without the plan; None when it runs with it, or none is given.
        withheld: our variables that the launcher must not have.
        map_refusal: the same of what says how ranks are ordered.
        told: what the MPI library is told beside all that.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    refusal: str | None
    withheld: frozenset[str] = frozenset()
    map_refusal: str | None = None
    told: Told = field(default_factory=Told)


def prepare(
    line: LaunchLine,
    plan: Path | None,
    summary: bool = True,
    maps: Sequence[Path] = (),
    fabric: str | None = None,
    unsurveyed: bool = False,
    live: Mapping[str, str] | None = None,
) -> Start:
    """The command line that runs a program on a plan and with its ranks in order, or without either where
    that cannot be.

    Args:
        plan: None: there is none.
        summary: rank 0 says at the end what ran on the plan, unless ISOCHRONE_SUMMARY says otherwise.
        maps: a mapping, a topology or both, in any order; empty: ranks keep their order.
        fabric: the address of a server of routes that rank 0 asks, for recipes of the plan.
        unsurveyed: without a plan, recipes are tried on the tree that host names and hardware make.
        live: variables of trials.

    Raises:
        UsageError: there are two mappings, or two topologies.
    """
    refusal = map_refusal = None
    settings: dict[str, str] = {}
    if plan is not None or unsurveyed:
        try:
            settings = settings_for(_library(line), plan, line.programs)
            settings |= live or {}
            settings.setdefault("ISOCHRONE_SUMMARY", "1" if summary else "0")
            if fabric is not None:
                settings["ISOCHRONE_FABRIC"] = fabric
        except IsochroneError as error:
            refusal = refusal_for(error)
    if maps:
        try:
            settings = with_maps(settings, _library(line), maps, line.programs)
        except UsageError:
            raise
        except IsochroneError as error:
            map_refusal = _map_refusal_for(error)
    to_tell = _to_tell(line, plan) if plan is not None else Told()
    if settings or to_tell.variables:
        try:
            start = start_with(line, {**settings, **to_tell.variables})
            return replace(start, refusal=refusal, map_refusal=map_refusal, told=to_tell)
        except IsochroneError as error:
            refusal = refusal_for(error) if plan is not None or unsurveyed else None
            map_refusal = _map_refusal_for(error) if maps and plan is None else None
    plain = (str(line.executable), *line.argv[1:])
    untold = Told() if to_tell.variables else to_tell
    return Start(plain, launch_environment(line), refusal, map_refusal=map_refusal, told=untold)


def _to_tell(line: LaunchLine, plan: Path) -> Told:
    try:
        return told(plan.parent, _library(line), line.ranks, line.words, plan)
    except IsochroneError:
        return Told()  # said already, of the plan


def _library(line: LaunchLine) -> MpiLibrary:
    if line.family is Family.SIMGRID:
        raise IsochroneError("simulated programs cannot be preloaded", todo="run under a real MPI library")
    return library_of(line)


def start_with(line: LaunchLine, settings: Mapping[str, str]) -> Start:
    """The command line that gives the ranks these variables.

    Raises:
        IsochroneError: as `with_variables`.
    """
    argv = with_variables(line, settings)
    # For srun a variable of its own comes before what --export gives it.
    withheld = frozenset(settings) & os.environ.keys() if line.family is Family.SLURM else frozenset()
    return Start(argv, launch_environment(line), None, withheld)


def execute(start: Start) -> None:
    """Becomes the launcher, so that its exit code and the signals sent to us are its own. Does not return."""
    os.execve(start.argv[0], start.argv, environment_of(start))  # noqa: S606


def environment_of(start: Start) -> dict[str, str]:
    """All variables of the launcher."""
    ours = {name: value for name, value in os.environ.items() if name not in start.withheld}
    return {**ours, **start.environment}


def refusal_for(error: IsochroneError) -> str:
    """What is said where a plan does not hold."""
    return f"{error}; running without a plan"


def _map_refusal_for(error: IsochroneError) -> str:
    return f"{error}; ranks keep the order in which they are launched"


def settings_for(library: MpiLibrary, plan_path: Path | None, programs: Sequence[str]) -> dict[str, str]:
    """The variables of the ranks that put programs of a library on a plan; builds the preload where needed.

    Args:
        plan_path: None: there is none, and the hardware tells where ranks are.

    Raises:
        IsochroneError: when the plan does not hold for them.
    """
    files = {"ISOCHRONE_UNSURVEYED": "1"} if plan_path is None else _files_of(library, plan_path)
    for program in programs:
        check_program(program, library)
    # Ours comes last: a profiler in front of it sees the program's own calls, and passes them on to it.
    return _given_settings() | {
        "LD_PRELOAD": behind(os.environ.get("LD_PRELOAD", ""), build_for(library).preload),
        **files,
    }


def _files_of(library: MpiLibrary, plan_path: Path) -> dict[str, str]:
    _check_is_file(plan_path)
    plan = read_plan(plan_path)
    topology_path = plan_path.parent / plan.topology.file
    _check_is_file(topology_path)
    read_planned_topology(plan, plan_path)
    check_library(plan, library, str(plan_path))
    return {
        "ISOCHRONE_PLAN": str(plan_path.absolute()),
        "ISOCHRONE_TOPOLOGY": str(topology_path.absolute()),
    }


def with_maps(
    settings: Mapping[str, str], library: MpiLibrary, maps: Sequence[Path], programs: Sequence[str]
) -> dict[str, str]:
    """The variables of the ranks with those that put them in order; builds the preload where needed.

    Args:
        settings: those that put them on a plan; empty where there is none.
        maps: a mapping, a topology or both. The topology of the plan serves where none is given.

    Raises:
        IsochroneError: a file is damaged, or the programs are of another library.
        UsageError: there are two mappings, or two topologies.
    """
    if os.environ.get("ISOCHRONE_RECORD"):
        raise IsochroneError(
            "what is recorded are ranks as they are launched", "--map", "record without it, then map"
        )
    files: dict[str, Path] = {}
    for path in maps:
        _check_is_file(path)
        held = kind_of(path)
        if path.is_file() and held not in ("mapping", "topology"):
            raise IsochroneError(
                f"holds {f'a {held}' if held else 'neither a mapping nor a topology, or is damaged'}",
                str(path),
                "make one: isochrone map, or isochrone survey",
            )
        kind = "ISOCHRONE_MAP" if held == "mapping" else "ISOCHRONE_REORDER"
        if files.setdefault(kind, path) != path:
            raise UsageError(
                f"two {'mappings' if kind == 'ISOCHRONE_MAP' else 'topologies'} are given",
                "--map",
                "give one mapping, and one topology or survey",
            )
    if "ISOCHRONE_MAP" in files:
        read_mapping(files["ISOCHRONE_MAP"])
    if "ISOCHRONE_REORDER" in files:
        read_topology(files["ISOCHRONE_REORDER"])
    elif "ISOCHRONE_TOPOLOGY" in settings:
        files["ISOCHRONE_REORDER"] = Path(settings["ISOCHRONE_TOPOLOGY"])
    for program in programs:
        check_program(program, library)
    build = build_for(library)
    # In front of the plan's, which is to see the communicators that the program means.
    preloads = [build.reorder, *([build.preload] if settings else [])]
    return {
        **(settings or _given_settings()),
        "LD_PRELOAD": behind(os.environ.get("LD_PRELOAD", ""), *preloads),
        **{name: str(path.absolute()) for name, path in files.items()},
    }


def _given_settings() -> dict[str, str]:
    """Variables of Isochrone that the user has set for the ranks."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name == "ISOCHRONE" or name.startswith("ISOCHRONE_")) and name not in _OWN_SETTINGS
    }


def _check_is_file(path: Path) -> None:
    """Refuses pipes and devices, which give nothing to the ranks that read them again."""
    if path.exists() and not path.is_file():
        raise IsochroneError("is no regular file", str(path), "give one: the ranks read it too")


def check_library(plan: Plan, library: MpiLibrary, where: str) -> None:
    """Checks that a plan was made with this library.

    Raises:
        IsochroneError: when it was made with another library, another version, or another ABI of it.
    """
    made_with = parse_version(plan.mpi.library)
    if made_with != (library.vendor, library.version) or normal_abi(plan.mpi.abi) != library.abi:
        title = " ".join(made_with) if made_with else plan.mpi.library
        if plan.mpi.abi == "smpi":
            title = "a simulated cluster"
        raise IsochroneError(
            f"the plan is for {title} ({plan.mpi.abi}), "
            f"and the launcher is of {library.title} ({library.abi})",
            where,
            "survey with this launcher",
        )


def check_program(program: str, library: MpiLibrary) -> None:
    """Checks that a program does not need another MPI library than the launcher's.

    Scripts and interpreters need none that can be known beforehand; the preload looks again when MPI starts.

    Raises:
        IsochroneError: when it does.
    """
    found = shutil.which(program)
    needed = needed_libraries(Path(found)) if found else {}
    for soname in needed:
        if normal_abi(soname) != library.abi:
            raise IsochroneError(
                f"the program needs {soname}, and the launcher is of {library.title} ({library.abi})", program
            )


def with_variables(line: LaunchLine, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The launch line, with variables that only the ranks get.

    Raises:
        IsochroneError: when the line sets LD_PRELOAD itself, or a value cannot be passed on by this launcher.
    """
    if any("LD_PRELOAD" in word for option in line.options() for word in option):
        raise IsochroneError(
            "the launch line sets LD_PRELOAD itself", todo="set it in the environment instead"
        )
    words = [str(line.executable)]
    options = _options(line, variables)
    for number, context in enumerate(line.contexts):
        if number > 0:
            words.append(":")
        # Hydra's are global, and must come first; Open MPI's and Slurm's hold for one context each.
        if number == 0 or line.family is not Family.HYDRA:
            words += options
        given = line.argv[context.start : context.program]
        words += _without_export(given) if line.family is Family.SLURM else given
        words += line.argv[context.program : context.end]
    return tuple(words)


def _options(line: LaunchLine, variables: Mapping[str, str]) -> list[str]:
    if line.family is Family.OPENMPI:
        return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    if line.family is Family.HYDRA:
        return [word for name, value in variables.items() for word in ("-genv", name, value)]
    with_commas = sorted(name for name, value in variables.items() if "," in value)
    if with_commas:
        raise IsochroneError(
            f"srun cannot pass on values with commas: {', '.join(with_commas)}",
            todo="give files in another folder, and write ISOCHRONE_ONLY with blanks",
        )
    pairs = [f"{name}={value}" for name, value in variables.items()]
    return ["--export=" + ",".join([line.exported, *pairs])]


def _without_export(words: Sequence[str]) -> list[str]:
    kept = []
    skip = False
    for word in words:
        if skip or word.startswith("--export="):
            skip = False
        elif word == "--export":
            skip = True
        else:
            kept.append(word)
    return kept
